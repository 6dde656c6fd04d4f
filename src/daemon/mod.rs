//! The daemon: it has timers and the watcher, but no state of its own.
//!
//! Everything that it does is an engine verb that a user could have called. One `InstanceScheduler` for each
//! instance decides, without effects, from observations and the time. The event loop starts the jobs that
//! they decide on: in order for each instance, and without one instance waiting for another. It uses threads
//! and `poll`, no async runtime: ARCHITECTURE.md says why.

mod awake_clock;
mod client;
mod connections;
mod event_loop;
mod jobs;
mod message;
mod notices;
mod run;
mod scheduler;
mod server;
mod start;
mod subscribers;
mod thread;
mod unit;
mod wire;

pub(crate) use client::{DaemonClient, SubscriptionEvent};
pub(crate) use run::{Attachment, run};
pub(crate) use start::{Stopped, ensure, start, status, stop};
pub(crate) use unit::{UnitKind, unit};
pub(crate) use wire::Status;
