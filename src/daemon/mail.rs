//! What reaches the daemon.

use std::sync::mpsc::Sender;
use std::time::Duration;

use super::keeper::Done;
use super::wire::{Answer, Request};
use crate::engine::Sight;
use crate::model::InstanceId;

/// Everything that reaches the daemon, in one order.
#[derive(Debug)]
pub(super) enum Mail {
    Sight(Sight),
    /// Something has happened to this instance, or somewhere.
    Bell(Option<InstanceId>),
    Request(Request, Sender<Answer>),
    /// A job has ended, and what went wrong with it.
    Done(InstanceId, Done, Option<String>),
    /// Everyone who had to be brought to rest has been, as far as that goes now.
    Rounded(Vec<String>),
    /// So much memory do all agents hold together.
    Measured(u64),
    Compacted(Vec<String>),
    /// The screen of this instance was saved, which took so long; or why it was not.
    Saved(InstanceId, Duration, Option<String>),
    Stop,
}
