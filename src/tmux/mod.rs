//! Everything that Bivouac does with tmux, on a server of its own.
//!
//! Sessions are named from ids and found by exact targets (`=name:`, `%pane`): a plain `-t foo` would
//! reach `foobar`. No user text ever stands in a name, a directory or a format, where tmux would
//! expand `#(command)`; titles are values of user options. Every call has a deadline.

mod answer;
mod configuration;
mod control;
mod doorbell;
mod error;
mod harmless;
mod pane;
mod screen;
mod server;
mod sessions_lock;
mod typing;
mod version;

pub(crate) use answer::{CloseLook, Expected};
pub(crate) use configuration::{Configuration, KeyNameError, validate_key_name};
pub(crate) use control::{Client, Notice, Said};
pub(crate) use doorbell::{Doorbells, hand_over};
pub(crate) use error::TmuxError;
pub(crate) use harmless::harmless;
pub(crate) use pane::{Death, Pane};
pub(crate) use screen::Shot;
pub(crate) use server::{HUB, Server, SessionOptions, let_this_pane_go, raise_file_limit};
pub(crate) use version::Version;
