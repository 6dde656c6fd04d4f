//! The verbs: the one controller behind the command line, the terminal UI and the daemon.
//!
//! Here the rooms that talk to git, to tmux, to the disk and to the agents meet; none of them knows
//! another. Every verb that changes something is an operation with a journal ([`operation`]); its
//! steps are in [`steps`].

mod attach;
mod autoyes;
mod bell;
mod bring;
mod bulk;
mod bundle;
mod caller;
mod camp;
mod changes;
mod compact;
mod conversation;
mod core;
mod crash;
mod create;
mod damage;
mod delivery;
mod doctor;
mod environment;
mod error;
mod events;
mod first_sign;
mod follow;
mod gc;
mod glimpse;
mod hands;
mod haste;
mod hook;
mod identity;
mod import;
mod kill;
mod launch;
mod log;
mod manual;
mod names;
mod notify;
mod observe;
mod operation;
mod pace;
mod pause;
mod peek;
mod playground;
mod progress;
mod push;
mod queue;
mod recover;
mod resolve;
mod restart;
mod resume;
mod rights;
mod roster;
mod seat;
mod send;
mod setup;
mod socket;
mod sources;
mod steps;
mod suspend;
mod versions;
mod view;
mod wait;
mod watch;
mod watcher;
mod word;

// What a conversation consists of, for those who show it.
pub(crate) use crate::conversation::{ConversationEntry, Speaker};
pub(crate) use crate::git::DiffOutput;
pub(crate) use crate::process::run_bound_to_parent;
// Parts of the engine's own error, for those who put it into words: the faces know no room below.
pub(crate) use crate::git::GitError;
pub(crate) use crate::store::{AuditLine, StoreError};
pub(crate) use crate::tmux::TmuxError;
pub(crate) use autoyes::{
    AutoyesOutcome, AutoyesState, PolicyAnswer, PolicyCheck, PolicyQuestion, PolicyTest,
};
pub(crate) use bulk::Bulk;
pub(crate) use caller::Caller;
pub(crate) use camp::{Camp, CampView};
pub(crate) use compact::Compaction;
pub(crate) use core::Engine;
pub(crate) use create::{Adoption, NewInstance};
pub(crate) use doctor::{Finding, Health};
pub(crate) use error::Error;
pub(crate) use events::Events;
pub(crate) use gc::{CollectAction, Collected, Collection};
pub(crate) use glimpse::Glimpse;
pub(crate) use haste::hurried;
pub(crate) use hook::hear;
pub(crate) use import::Takeover;
pub(crate) use kill::{KillOptions, Killed, Restored};
pub(crate) use launch::run_launcher;
pub(crate) use log::{Log, LogFrom};
pub(crate) use manual::open_manual;
pub(crate) use notify::Notification;
pub(crate) use pause::{Asked, PauseOptions};
pub(crate) use progress::{Progress, Silent};
pub(crate) use queue::{Fed, QueueView};
pub(crate) use resolve::Scope;
pub(crate) use resume::{OnConflict, ResumeOptions, Told};
pub(crate) use rights::{Reach, Verb};
pub(crate) use roster::{Roster, Standing};
pub(crate) use seat::Peer;
pub(crate) use send::Sent;
pub(crate) use setup::Consent;
pub(crate) use sources::Sources;
pub(crate) use suspend::{IdleTimeout, Suspended};
pub(crate) use view::{AgentView, InstanceView, Listing, PauseView, RunHistory};
pub(crate) use watcher::{Doorbell, Present, Seen, Sight, Watcher, run_pipe};
