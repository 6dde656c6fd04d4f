//! The data types of Bivouac, without effects.
//!
//! Ids, names and states are distinct types here, so that no other room can confuse them. Nothing in
//! this room reads a clock, a file or the environment.

mod activity;
mod autoyes;
mod columns;
mod event;
mod export_name;
mod ids;
mod instance;
mod landing;
mod lease;
mod limit;
mod printable;
mod pull_request;
mod queue;
mod review;
mod run;
mod seal;
mod state;
mod text;
mod time;
mod usage;

pub(crate) use activity::Activity;
pub(crate) use autoyes::AutoyesSwitch;
pub(crate) use columns::{clusters, columns, cut, cut_around};
pub(crate) use event::{Event, EventKind};
pub(crate) use export_name::{ExportName, Unfound};
pub(crate) use ids::{InstanceId, OperationId, RunId, SessionName};
pub(crate) use instance::{
    AgentPlace, Base, Branch, DiffStat, InstanceRecord, Pause, PauseReason, Repository, Worktree,
    marker,
};
pub(crate) use landing::{Landing, Standing};
pub(crate) use lease::{Holder, HostInstance, Lease};
pub(crate) use limit::{UsageLimit, reset_time};
pub(crate) use printable::{printable, printable_line};
pub(crate) use pull_request::{
    ChecksState, PullRequestRecord, PullRequestStanding, PullRequestState, ReviewState,
};
pub(crate) use queue::{Queue, QueueCounts, QueueEntry, QueueStart, QueueState, TurnEnd};
pub(crate) use review::{NewComment, Review, ReviewComment, ReviewSide, place, review_prompt};
pub(crate) use run::{RunRecord, RunState};
pub(crate) use seal::{Seal, SealLayer, SealNetwork, missing_layers};
pub(crate) use state::{RestingState, State};
pub(crate) use text::{Title, TitleError, directory_name, last_lines, slug, without_whitespace};
pub(crate) use time::Timestamp;
pub(crate) use usage::{
    Tokens, TurnUsage, Usage, UsageEvent, UsageLedger, shown_cost, shown_count, shown_usage,
    told_usage,
};
