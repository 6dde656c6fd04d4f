//! The messages of the daemon's event loop.

use std::sync::mpsc::Sender;
use std::time::Duration;

use super::scheduler::Done;
use super::wire::{Answer, Request};
use crate::engine::WatchEvent;
use crate::model::InstanceId;

/// A message to the event loop. All sources use one channel.
#[derive(Debug)]
pub(super) enum DaemonMessage {
    WatchEvent(WatchEvent),
    /// This instance has changed, or the home as a whole.
    Bell(Option<InstanceId>),
    Request(Request, Sender<Answer>),
    /// A job has ended, with its error.
    Done(InstanceId, Done, Option<String>),
    /// A round has ended, with its errors.
    RoundDone(Vec<String>),
    /// The memory of all agents, in bytes.
    Measured(u64),
    Compacted(Vec<String>),
    /// The forges were asked, with what went wrong.
    Followed(Vec<String>),
    /// The screen of this instance was saved, in this time; or the error.
    Saved(InstanceId, Duration, Option<String>),
    Stop,
}
