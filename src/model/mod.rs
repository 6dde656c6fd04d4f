//! What the things of Bivouac *are*: data without effects.
//!
//! Ids, names and states live here so that no other room can mix them up. Nothing in this room
//! reads a clock, a file or the environment.

mod activity;
mod autoyes;
mod event;
mod ids;
mod instance;
mod printable;
mod queue;
mod run;
mod state;
mod text;
mod time;

pub(crate) use activity::Activity;
pub(crate) use autoyes::AutoyesSwitch;
pub(crate) use event::{Event, EventKind};
pub(crate) use ids::{InstanceId, OperationId, RunId, SessionName};
pub(crate) use instance::{
    Base, Branch, DiffStat, InstanceRecord, Pause, PauseReason, Repository, Seat, Worktree,
};
pub(crate) use printable::{printable, printable_line};
pub(crate) use queue::{Begun, Queue, QueueCounts, QueueEntry, QueueState, TurnEnd};
pub(crate) use run::{RunRecord, RunState};
pub(crate) use state::{Resting, State};
pub(crate) use text::{Title, TitleError, last_lines, slug, squeezed};
pub(crate) use time::Timestamp;
