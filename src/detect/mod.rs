//! From the text of a screen to the agent's activity and the dialog that it shows.
//!
//! Pure: nothing here reads a clock, a file or a terminal. Everything that is specific to one agent is
//! data ([`Rule`], [`DialogSpec`]) from its provider file. Rules look at the last lines only, where the
//! agent draws its own controls. Quoted text is higher up and is never taken for a control.

mod broken_rows;
mod combine;
mod dialog;
mod draft;
mod failure;
mod judge;
mod key;
mod last_line;
mod pattern;
mod queued;
mod row;
mod rule;
mod screen;
mod settle;
mod sgr;
mod suggestions;
mod version;

pub(crate) use combine::{SILENT, SelfReport, combine, verdict_by_output};
pub(crate) use dialog::{Choice, ChoiceKind, Dialog, DialogSpec};
pub(crate) use draft::{Draft, DraftSpec, Size, Typed};
pub(crate) use failure::FailureSpec;
pub(crate) use judge::{Rules, Verdict, VerdictSource, explain};
pub(crate) use key::Key;
pub(crate) use last_line::last_line;
pub(crate) use pattern::{Fault, Pattern};
pub(crate) use queued::{Divided, QueuedSpec, ShownPrompt, divide};
pub(crate) use rule::Rule;
pub(crate) use screen::Screen;
pub(crate) use settle::{Quiet, RestKind, Settle};
pub(crate) use suggestions::{Offer, SuggestionSpec, is_typed};
pub(crate) use version::{AgentVersion, VersionRange};
