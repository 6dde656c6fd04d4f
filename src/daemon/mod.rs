//! The daemon: it owns time and watching, never state.
//!
//! Everything that it does is an engine verb that a person could have asked for. One `Keeper` for
//! each instance decides, without effects, from what the watcher has seen and what time it is; the
//! loop in [`mod@run`] carries out what they decide, each instance's in order, none waiting for another.
//! Threads and `poll`, no async runtime: ARCHITECTURE.md says why.

mod client;
mod desk;
mod entrance;
mod jobs;
mod keeper;
mod lived;
mod mail;
mod notices;
mod run;
mod server;
mod start;
mod subscribers;
mod thread;
mod unit;
mod wire;

pub(crate) use client::{Client, Heard};
pub(crate) use run::{Attachment, run};
pub(crate) use start::{Stopped, ensure, start, status, stop};
pub(crate) use unit::{UnitKind, unit};
pub(crate) use wire::Status;
