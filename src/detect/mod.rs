//! From the text of a screen to what the agent on it is doing, and what it asks.
//!
//! Pure: nothing here reads a clock, a file or a terminal. Everything that is particular to one
//! agent is data ([`Rule`], [`DialogSpec`]) that comes from its provider file. Rules look at the
//! last lines only, where the agent draws its own controls; what it quotes stands higher up and
//! is never taken for a control.

mod dialog;
mod draft;
mod judge;
mod key;
mod pattern;
mod row;
mod rule;
mod screen;
mod settle;
mod sgr;
mod version;
mod weigh;

pub(crate) use dialog::{Choice, ChoiceKind, Dialog, DialogSpec};
pub(crate) use draft::{Draft, DraftSpec};
pub(crate) use judge::{Rules, Source, Verdict, explain};
pub(crate) use key::Key;
pub(crate) use pattern::{Fault, Pattern};
pub(crate) use rule::Rule;
pub(crate) use screen::Screen;
pub(crate) use settle::{Quiet, Rest, Settle};
pub(crate) use version::{Version, VersionRange};
pub(crate) use weigh::{Word, by_output, weigh};
