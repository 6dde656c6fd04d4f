//! All use of tmux, on Bivouac's own server.
//!
//! Sessions are named by id and addressed by exact targets (`=name:`, `%pane`): a plain `-t foo` would match
//! `foobar`. No user text is part of a name, a directory or a format, where tmux would expand `#(command)`.
//! Titles are values of user options. Every call has a deadline.

mod answer;
mod configuration;
mod control;
mod control_sequences;
mod early;
mod error;
mod hub;
mod leaving;
mod pane;
mod pane_pipe;
mod reach;
mod screen;
mod server;
mod sessions_lock;
mod shell;
mod size;
mod typing;
mod version;

pub(crate) use answer::{DetailedScreenshot, Expected};
pub(crate) use configuration::{Configuration, KeyNameError, key_hint, validate_key_name};
pub(crate) use control::{ControlClient, ControlEvent, Notification};
pub(crate) use control_sequences::without_control_sequences;
pub(crate) use early::EarlyClient;
pub(crate) use error::TmuxError;
pub(crate) use pane::{Death, Pane};
pub(crate) use pane_pipe::{PipeReceiver, send_pipe};
pub(crate) use screen::Screenshot;
pub(crate) use server::{HUB, Server, SessionOptions, raise_file_limit, release_this_pane};
pub(crate) use version::TmuxVersion;
