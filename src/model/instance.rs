//! What is remembered of an instance.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{InstanceId, Resting, RunId, SessionName, Timestamp, Title};
use crate::process::Identity;

/// The stored truth about one instance, as it was when its last operation came to rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstanceRecord {
    pub format: u32,
    /// Grows by one with each write; a write based on an older one is refused.
    pub rev: u64,
    pub id: InstanceId,
    pub title: Title,
    pub repository: Repository,
    /// None for an adopted worktree that stands on a detached HEAD.
    pub branch: Option<Branch>,
    pub base: Base,
    pub worktree: Worktree,
    pub agent: String,
    /// The command line that started the agent last.
    pub command: Vec<String>,
    /// What the user put after `--`.
    pub agent_args: Vec<String>,
    /// The first prompt, which `restart` gives again.
    pub prompt: Option<String>,
    pub state: Resting,
    /// As the instance was made, or as a version that kept the switch here left it: `autoyes.json` says
    /// how it stands.
    pub autoyes: bool,
    /// When that ends by itself.
    #[serde(default)]
    pub autoyes_until: Option<Timestamp>,
    pub idle_timeout_s: Option<u64>,
    /// The agent's own name for the conversation.
    pub session_ref: Option<String>,
    pub run: RunId,
    /// Where the agent sits while it runs; the last place where it sat otherwise.
    pub seat: Option<Seat>,
    pub pause: Option<Pause>,
    /// Where the work of a paused or killed instance is kept, in the words of the room that keeps it.
    pub vault: Option<serde_json::Value>,
    /// Numbers the snapshots of this instance; grows with each.
    pub snapshots: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_active_at: Timestamp,
    pub paused_at: Option<Timestamp>,
    pub resumed_at: Option<Timestamp>,
    pub killed_at: Option<Timestamp>,
    /// When it was noticed that its server or its machine had gone.
    #[serde(default)]
    pub interrupted_at: Option<Timestamp>,
}

impl InstanceRecord {
    /// Format 1 was read with no field unknown: its readers take a record with one for damaged, and leave
    /// one of a newer format alone. From format 2 on, fields that are not known are kept.
    pub(crate) const FORMAT: u32 = 2;

    pub(crate) fn session_name(&self) -> SessionName {
        SessionName::of(&self.id)
    }

    /// The environment entry by which every process of this instance is recognised.
    pub(crate) fn marker(&self) -> String {
        marker(&self.id)
    }
}

/// The environment entry by which every process of an instance is recognised.
pub(crate) fn marker(id: &InstanceId) -> String {
    format!("BIV_INSTANCE={id}")
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Repository {
    /// The main checkout, or the repository itself where it is bare.
    pub root: PathBuf,
    /// The directory that all worktrees share (`.git`).
    pub common_dir: PathBuf,
    /// What it is known by at any place; None in a record from before there were ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Branch {
    pub name: String,
    /// Only a branch that Bivouac made may ever be deleted by it, and only on request.
    pub made_by_us: bool,
}

/// What the changes of an instance are counted against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Base {
    /// As the user named it.
    pub name: String,
    /// What it was then; None in a repository without commits.
    pub commit: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Worktree {
    pub path: PathBuf,
    /// Made by someone else and taken over as it stood: never removed, only left.
    pub adopted: bool,
}

/// The place of a running agent: server, session, pane and process, each in a form that cannot be
/// mistaken for a later one of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seat {
    /// The socket's file name below the runtime directory.
    pub socket: String,
    /// tmux reissues ids after a restart: they mean something only together with this.
    pub server: Identity,
    pub session: String,
    pub pane: String,
    pub agent: Identity,
    /// Whether the agent was handed its guard, where it has one: see `agents::guard`.
    #[serde(default)]
    pub guarded: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    pub at: Timestamp,
    pub reason: PauseReason,
    /// The ref that holds the saved work.
    pub snapshot: Option<String>,
    pub scrollback_lines: u64,
    pub last_action: Option<String>,
    pub pending_tasks: Vec<String>,
    pub summary: Option<String>,
    pub forced: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PauseReason {
    User,
    UserInterrupt,
    Idle,
    Resource,
    Error,
}

impl PauseReason {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        [
            Self::User,
            Self::UserInterrupt,
            Self::Idle,
            Self::Resource,
            Self::Error,
        ]
        .into_iter()
        .find(|reason| reason.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::UserInterrupt => "user_interrupt",
            Self::Idle => "idle",
            Self::Resource => "resource",
            Self::Error => "error",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct DiffStat {
    pub files: u64,
    pub added: u64,
    pub removed: u64,
}
