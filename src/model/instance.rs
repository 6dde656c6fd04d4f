//! The stored record of an instance.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    InstanceId, Landing, Lease, RestingState, RunId, Seal, SealLayer, SessionName, Timestamp, Title,
};
use crate::process::Identity;

/// The record of one instance, as of the end of its last operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstanceRecord {
    pub format: u32,
    /// Grows by one with each write. A write that is based on an older revision is refused.
    pub rev: u64,
    pub id: InstanceId,
    pub title: Title,
    pub repository: Repository,
    /// None for an adopted worktree with a detached HEAD.
    pub branch: Option<Branch>,
    pub base: Base,
    pub worktree: Worktree,
    /// The directory below the worktree in which the agent is to be started; None: the worktree itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdirectory: Option<PathBuf>,
    pub agent: String,
    /// The command line that started the agent last.
    pub command: Vec<String>,
    /// The arguments that the user gave after `--`.
    pub agent_args: Vec<String>,
    /// The directories that the user has added to the agent's session, as of its last pause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    /// The first prompt, which `restart` gives again.
    pub prompt: Option<String>,
    pub state: RestingState,
    /// As set when the instance was created, or by a version that kept the switch here. The current
    /// value is in `autoyes.json`.
    pub autoyes: bool,
    /// When it turns off by itself.
    #[serde(default)]
    pub autoyes_until: Option<Timestamp>,
    pub idle_timeout_s: Option<u64>,
    /// Every launch of the agent is sealed where this is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
    /// The agent's own session id.
    pub session_ref: Option<String>,
    pub run: RunId,
    /// The place of the agent while it runs, and the last one afterwards. `seat` in the file.
    #[serde(rename = "seat")]
    pub place: Option<AgentPlace>,
    pub pause: Option<Pause>,
    /// What stood in the input box at a pause and has not been typed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    /// A dialog was open when that was to be typed: it is typed when the agent is at its prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draft_waits: bool,
    /// Where the work of a paused or killed instance is kept. Opaque here: the `git` room defines it.
    pub vault: Option<serde_json::Value>,
    /// The number of the last snapshot of this instance.
    pub snapshots: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_active_at: Timestamp,
    pub paused_at: Option<Timestamp>,
    pub resumed_at: Option<Timestamp>,
    pub killed_at: Option<Timestamp>,
    /// When it was found that its tmux server or its machine had gone down.
    #[serde(default)]
    pub interrupted_at: Option<Timestamp>,
    /// Where its work was landed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landed: Option<Landing>,
    /// Who has it. None: it never moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
}

impl InstanceRecord {
    /// All that the user has typed and not sent, the oldest first: what is known, and this.
    pub(crate) fn unsent_with(&self, newest: Option<String>) -> Option<String> {
        let paused = self.pause.as_ref().and_then(|pause| pause.draft.clone());
        [self.draft.clone(), paused, newest]
            .into_iter()
            .flatten()
            .reduce(|older, newer| {
                if newer.contains(&older) {
                    newer
                } else if older.contains(&newer) {
                    older
                } else {
                    format!("{older}\n{newer}")
                }
            })
    }

    /// Only a trace of it is here: another machine has fetched it, or offers it.
    pub(crate) fn is_trace(&self) -> bool {
        self.state == RestingState::Away && self.lease.as_ref().is_some_and(Lease::is_trace)
    }

    /// Versions that read only format 1 take a record with an unknown field for damaged, but leave a
    /// record of a newer format alone. From format 2 on, unknown fields are kept.
    pub(crate) const FORMAT: u32 = 2;

    pub(crate) fn session_name(&self) -> SessionName {
        SessionName::of(&self.id)
    }

    /// The directory below the worktree in which its agent was started last, or will be.
    pub(crate) fn below(&self) -> Option<&Path> {
        let started = self.place.as_ref().map(|place| &place.subdirectory);
        started.unwrap_or(&self.subdirectory).as_deref()
    }

    /// The same in full.
    pub(crate) fn agent_directory(&self) -> PathBuf {
        self.worktree.join_below(self.below())
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
    /// Identifies the repository wherever it is moved. None in records that are older than these ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Branch {
    pub name: String,
    /// Only a branch that Bivouac made may ever be deleted by it, and only on request.
    pub made_by_us: bool,
}

/// The commit against which the changes of an instance are counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Base {
    /// As the user named it.
    pub name: String,
    /// The commit when the instance was created. None in a repository without commits.
    pub commit: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Worktree {
    pub path: PathBuf,
    /// Created outside Bivouac and adopted as it was: never removed.
    pub adopted: bool,
}

impl Worktree {
    /// A directory below this worktree. What leads out of it by its name is no such directory.
    pub(crate) fn join_below(&self, below: Option<&Path>) -> PathBuf {
        match below.filter(|below| is_below(below)) {
            Some(below) => self.path.join(below),
            None => self.path.clone(),
        }
    }
}

/// Whether a relative path stays below its base, by its name.
fn is_below(path: &Path) -> bool {
    let mut parts = path.components();
    !path.as_os_str().is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// The place of a running agent: server, session, pane and process. Each is identified so that it cannot
/// be confused with a later one of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentPlace {
    /// The socket's file name below the runtime directory.
    pub socket: String,
    /// tmux reuses session and pane ids after a restart of the server.
    pub server: Identity,
    pub session: String,
    pub pane: String,
    pub agent: Identity,
    /// The program that was started, where the agent was found on the search path of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// The directory below the worktree in which it was started; None: the worktree itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdirectory: Option<PathBuf>,
    /// Whether the agent was started with its guard, where it has one: see `agents::guard`.
    #[serde(default)]
    pub guarded: bool,
    /// The layers of the seal around it. None: it is not sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Vec<SealLayer>>,
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
    /// What went on behind the prompt and was stopped: commands that the agent had started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<String>,
    /// What the user had typed and not sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
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
