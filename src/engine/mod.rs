//! The one controller behind the command line, the terminal UI and the daemon.
//!
//! [`Engine`] is the façade: what the faces may call, and nothing else. Behind it are rooms. Each may
//! use only those above it in this list:
//!
//! - `base`: what every room works with: the home and its store, errors, lookup, events, permissions;
//! - `watch`: what agents do now;
//! - `conversation`: what was said, read from the agents' transcripts;
//! - `typing`: typing into an agent;
//! - `autoyes`: dialogs that are answered by a policy;
//! - `operate`: the verbs that change an instance: journalled operations, their steps, recovery;
//! - `talk`: prompts, sent or queued, and answers;
//! - `health`: what is wrong, and what a report needs;
//! - `hosts`: other machines.

mod autoyes;
mod base;
mod conversation;
mod facade;
mod health;
mod hook;
mod hosts;
mod manual;
mod operate;
mod talk;
mod typing;
mod watch;

// What is recorded of a program that is to become an agent.
pub(crate) use crate::agents::{
    BOX_SAMPLE, Frame, RECORDED_PLACE, RECORDED_TITLE, RecordedFile, RecordedSession, Recording,
};
// The parts of a conversation, for showing it.
pub(crate) use crate::conversation::{ConversationEntry, Speaker};
pub(crate) use crate::git::DiffOutput;
// The changes of an instance, for showing them.
pub(crate) use crate::git::patch::{FileChange, LineKind, Patch, PatchFile};
pub(crate) use crate::hosts::{
    HostError, HostName, HostSettings, Passing, Question as HostQuestion, Reply as HostReply,
    Screen, Trouble, serve as serve_host,
};
pub(crate) use crate::process::{CLEAR_BELOW, Failure, ROOM_BELOW, run_bound_to_parent};
// Parts of the engine's error, for `report`, which may import no room below the engine.
pub(crate) use crate::git::GitError;
pub(crate) use crate::seal::{VARIABLE as SEAL_VARIABLE, run_inside as run_inside_seal};
pub(crate) use crate::store::{AuditLine, StoreError};
pub(crate) use crate::tmux::TmuxError;
pub(crate) use autoyes::{
    AutoyesOutcome, AutoyesState, PolicyAnswer, PolicyCheck, PolicyQuestion, PolicySite, PolicyTest,
};
pub(crate) use base::daemon_lock::Peer;
pub(crate) use base::error::Error;
pub(crate) use base::events::Events;
pub(crate) use base::land_error::LandError;
pub(crate) use base::progress::{Progress, Silent};
pub(crate) use base::remote_error::RemoteError;
pub(crate) use base::rights::{Reach, Verb};
pub(crate) use base::sources::Sources;
pub(crate) use base::time_scale::scaled;
pub(crate) use base::unanswerable::Unanswerable;
pub(crate) use base::usage::UsageReport;
#[cfg(test)]
pub(crate) use base::usage::UsageView;
pub(crate) use base::via::{set_via, via};
pub(crate) use base::view::{
    AgentView, CampView, InstanceView, Listing, PullRequestInfo, RunHistory, SealView, SizeView,
    WorkKept,
};
#[cfg(test)]
pub(crate) use base::view::{AskedView, PauseView};
pub(crate) use conversation::compact::Compaction;
pub(crate) use conversation::log::{Log, LogFrom};
pub(crate) use conversation::search::{SearchMatch, SearchResult};
pub(crate) use facade::Engine;
pub(crate) use health::finding::{Finding, Health};
pub(crate) use hook::handle_hook;
pub(crate) use hosts::carry::{Carried, Receive, RepositoryKey, RepositoryThere};
pub(crate) use hosts::drain::DrainTo;
pub(crate) use hosts::events::HostEvents;
pub(crate) use hosts::exports::{ExportsThere, Remote};
pub(crate) use hosts::fleet::{Freshness, HostListing, WhichHosts};
pub(crate) use hosts::moving::{MoveOptions, Moved};
pub(crate) use hosts::reach::{HostCheck, HostFinding, HostView};
pub(crate) use manual::{open_manual, open_pager};
pub(crate) use operate::attach::{Attached, AttachedTo};
pub(crate) use operate::bulk::Bulk;
#[cfg(test)]
pub(crate) use operate::bulk::Failure as BulkFailure;
pub(crate) use operate::camp::Camp;
pub(crate) use operate::carry::encryption::Secrecy;
pub(crate) use operate::carry::export::{ExportOptions, Exported, PreparedExport};
pub(crate) use operate::carry::import::{Arrived, ImportOptions};
pub(crate) use operate::carry::lease::{LeaseView, Release};
pub(crate) use operate::carry::offered::Offer;
pub(crate) use operate::create::{Adoption, NewInstance};
pub(crate) use operate::gc::{CollectAction, Collected, Collection, PutAway};
pub(crate) use operate::hook_relay::pass_hook_on;
pub(crate) use operate::import::ImportReport;
pub(crate) use operate::kill::{Killed, Restored};
pub(crate) use operate::land::FreedCheckout;
pub(crate) use operate::land::options::{LandHow, LandOptions, Landed, short_commit};
pub(crate) use operate::land::{DryRun, Unlanded};
pub(crate) use operate::launch::run_launcher;
pub(crate) use operate::options::{
    KillOptions, OnConflict, PauseOptions, PromptOnResume, ResumeOptions, StateChange,
};
pub(crate) use operate::pull_request::{PullRequestOptions, PullRequestView};
pub(crate) use operate::seal_try::{SealTrial, SealTried};
pub(crate) use operate::setup::Consent;
pub(crate) use operate::snapshots::{SnapshotList, SnapshotWritten};
pub(crate) use operate::suspend::{IdleTimeout, Suspended};
pub(crate) use talk::answer::{Answered, DialogAnswer, DialogView};
pub(crate) use talk::draft::DraftReturn;
pub(crate) use talk::queue::{FeedResult, QueueView};
pub(crate) use talk::review::{ReviewSent, ReviewView};
pub(crate) use talk::review_file::Reviewed;
pub(crate) use talk::send::Sent;
pub(crate) use watch::notify::Notification;
pub(crate) use watch::roster::{InstanceStatus, Roster};
pub(crate) use watch::screen_view::ScreenView;
pub(crate) use watch::watcher::{PanePipes, Present, Seen, WatchEvent, Watcher, run_pipe};
