//! Views for the command line, the UI and the daemon. The field names are the stable JSON of `show`,
//! `list` and `agents`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::brief_duration;
use crate::engine::base::usage::UsageView;
use crate::model::{
    Activity, DiffStat, Holder, InstanceId, InstanceRecord, PauseReason, PullRequestRecord,
    PullRequestStanding, QueueCounts, RestingState, RunId, RunRecord, SealLayer, SealNetwork,
    Standing, State, Timestamp, Title, missing_layers,
};
use crate::vault::Left;

/// One instance, as far as it is known right now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstanceView {
    /// The host that it is on; None: here.
    #[serde(default)]
    pub host: Option<String>,
    pub id: InstanceId,
    pub title: Title,
    pub repo: PathBuf,
    pub branch: Option<String>,
    /// Where it started: a branch, or what the user has named.
    pub base: String,
    pub base_commit: Option<String>,
    pub worktree: PathBuf,
    pub worktree_present: bool,
    /// The directory below the worktree in which the agent starts; None: the worktree itself.
    #[serde(default)]
    pub subdirectory: Option<PathBuf>,
    pub agent: String,
    pub command: Vec<String>,
    pub tmux_session: Option<String>,
    pub state: State,
    pub activity: Option<Activity>,
    /// What goes on behind the prompt of an agent at rest: `1 shell`.
    pub background: Option<String>,
    /// What is open in place of the prompt, and what Enter would do there.
    pub says: Option<String>,
    /// When its usage limit resets, as its screen says.
    #[serde(default)]
    pub blocked_until: Option<Timestamp>,
    pub autoyes: bool,
    /// Why autoyes was switched off other than by the user.
    #[serde(default)]
    pub autoyes_stopped: Option<String>,
    pub idle_timeout_s: Option<u64>,
    pub session_ref: Option<String>,
    pub resumable: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_active_at: Timestamp,
    pub paused_at: Option<Timestamp>,
    pub resumed_at: Option<Timestamp>,
    pub interrupted_at: Option<Timestamp>,
    pub pause: Option<PauseView>,
    /// What stood in the input box at a pause, and could not be typed again at the resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    pub diff: Option<DiffStat>,
    /// Whether anything in the worktree is in no commit.
    pub dirty: Option<bool>,
    /// None where the base is no branch.
    pub standing: Option<Standing>,
    /// None where none was opened by `biv pr`.
    pub pull_request: Option<PullRequestInfo>,
    pub queue: Option<QueueCounts>,
    /// When a turn was cut off whose end nobody has seen.
    pub turn_cut_at: Option<Timestamp>,
    /// Why its last turn has failed, in the words of the agent.
    #[serde(default)]
    pub turn_failed: Option<String>,
    pub run_id: RunId,
    pub last_line: Option<String>,
    /// The open dialog.
    pub asks: Option<AskedView>,
    pub exit_code: Option<i32>,
    /// Which source said what the agent is doing, and by what: `hook Stop`, `title title-busy`.
    pub activity_source: Option<String>,
    /// Says that this version of its agent was not measured.
    pub unmeasured: Option<String>,
    /// Why an operation on it cannot finish.
    pub stuck: Option<String>,
    /// What it has used of its model; None where that is not known.
    pub usage: Option<UsageView>,
    /// None: the agent is not sealed.
    pub seal: Option<SealView>,
    /// What it takes on the disk; None where that was not asked for.
    #[serde(default)]
    pub size: Option<SizeView>,
    /// Where it is while it is `away`.
    #[serde(default)]
    pub away: Option<AwayView>,
    /// The number of the last hand-over; None: it has never moved.
    #[serde(default)]
    pub lease: Option<u64>,
    #[serde(skip)]
    pub kept: WorkKept,
}

/// The sizes of the files of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SizeView {
    /// None where there is no worktree at the moment.
    pub worktree_bytes: Option<u64>,
    /// The worktree of a paused or killed instance, until it is thinned.
    pub put_away_bytes: Option<u64>,
    /// What is saved in the repository, which its instances share.
    pub repository_saved_bytes: Option<u64>,
}

/// An instance that another machine has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AwayView {
    /// The host of this machine; None: the machine that has sent or fetched it.
    pub host: Option<String>,
    /// Its id there.
    pub instance: Option<InstanceId>,
    /// The number of the hand-over.
    pub lease: u64,
    /// The move has not ended: `biv move` again ends it.
    pub unfinished: bool,
}

impl AwayView {
    pub(in crate::engine) fn of(record: &InstanceRecord) -> Option<Self> {
        let lease = record
            .lease
            .as_ref()
            .filter(|_| record.state == RestingState::Away)?;
        let (host, instance) = lease.host().map(|there| (there.host, there.id)).unzip();
        Some(Self {
            host,
            instance,
            lease: lease.number,
            unfinished: match &lease.holder {
                Holder::Host { confirmed, .. } => !confirmed,
                Holder::Offered { .. } => true,
                Holder::Here | Holder::Elsewhere { .. } => false,
            },
        })
    }
}

/// Where the files of an instance are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum WorkKept {
    #[default]
    InPlace,
    /// Moved aside as they were.
    PutAway,
    /// The directory was removed by somebody; the saved work is there.
    SnapshotOnly,
    Gone,
}

/// The seal of an instance. Without a running agent, that of the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealView {
    pub network: SealNetwork,
    pub layers: Vec<SealLayer>,
    /// Those that this machine does not have.
    pub missing: Vec<SealLayer>,
    /// How often the running agent was refused a connection.
    pub denied: u64,
}

impl SealView {
    pub(in crate::engine) fn of(record: &InstanceRecord, denied: u64) -> Option<Self> {
        let network = record.seal.as_ref()?.network;
        let layers = record.place.as_ref().and_then(|place| place.seal.clone());
        let layers = layers.unwrap_or_default();
        Some(Self {
            network,
            missing: missing_layers(&layers, network),
            layers,
            denied,
        })
    }
}

/// The pull request of an instance, as its forge described it last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PullRequestInfo {
    pub number: u64,
    pub url: String,
    /// None as long as the forge has not answered.
    pub standing: Option<PullRequestStanding>,
    /// Failed checks and new comments become prompts.
    pub watched: bool,
    pub asked_at: Option<Timestamp>,
    /// Why the last question had no answer.
    pub trouble: Option<String>,
}

impl InstanceView {
    /// That it was interrupted, and for how long where that is recorded already.
    pub(crate) fn interruption(&self, now: Timestamp) -> String {
        let since = |at: Timestamp| format!(" {}", brief_duration(at.until(now)));
        let since = self.interrupted_at.map(since).unwrap_or_default();
        format!("⚡ interrupted{since}")
    }

    /// What is open in place of the prompt, without what Enter would do there.
    pub(crate) fn open_matter(&self) -> Option<&str> {
        let says = self.says.as_deref()?;
        Some(says.split_once("; ").map_or(says, |(matter, _)| matter))
    }

    /// That a turn was cut off, unless the agent is seen in another one.
    pub(crate) fn cut_turn(&self) -> Option<&'static str> {
        let is_in_turn = self
            .activity
            .is_some_and(|activity| activity == Activity::Busy || activity.needs_you());
        self.turn_cut_at
            .filter(|_| !is_in_turn)
            .map(|_| "its turn was cut off")
    }

    /// What was wrong with the end of its last turn.
    pub(crate) fn turn_trouble(&self) -> Option<String> {
        match &self.turn_failed {
            Some(reason) => Some(format!("its turn failed: {reason}")),
            None => self.cut_turn().map(str::to_owned),
        }
    }

    /// Whether its agent was started with the hook by which autoyes answers without the daemon. What the agent
    /// asks without that hook is answered on the screen, by the daemon alone.
    pub(crate) fn has_permission_hook(&self) -> bool {
        let hook = format!(" hook {} PermissionRequest ", self.agent);
        self.command.iter().any(|word| word.contains(&hook))
    }

    /// How the branch stands to its base, in short: `↑2 ↓1 *`, where the star means uncommitted work.
    pub(crate) fn standing_marks(&self) -> String {
        let star = if self.dirty == Some(true) { " *" } else { "" };
        (self.branch_marks() + star).trim_start().to_owned()
    }

    /// The same without the star.
    pub(crate) fn branch_marks(&self) -> String {
        let mut parts = Vec::new();
        if let Some(standing) = &self.standing {
            if standing.ahead > 0 {
                parts.push(format!("↑{}", standing.ahead));
            }
            if standing.behind > 0 {
                parts.push(format!("↓{}", standing.behind));
            }
            if standing.merged {
                parts.push("merged".to_owned());
            }
        }
        parts.join(" ")
    }
}

impl PullRequestInfo {
    /// `#7 ✗ changes`
    pub(crate) fn brief(&self) -> String {
        let marks = self.standing.map(PullRequestStanding::marks);
        format!("#{} {}", self.number, marks.unwrap_or_default())
            .trim_end()
            .to_owned()
    }
}

impl From<PullRequestRecord> for PullRequestInfo {
    fn from(record: PullRequestRecord) -> Self {
        Self {
            number: record.number,
            url: record.url,
            standing: record.known,
            watched: record.watched,
            asked_at: record.asked_at,
            trouble: record.trouble,
        }
    }
}

/// What an open dialog asks, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedView {
    /// Tells this dialog from any other, by its content.
    pub dialog: String,
    /// The tool, then the command, the path or the question: `shell · cargo test`.
    pub text: String,
    pub choices: Vec<String>,
    /// The number of the first choice: those before it are out of sight.
    #[serde(default = "one")]
    pub numbered_from: usize,
    /// The number of the choice that takes the user's own words.
    #[serde(default)]
    pub own_words: Option<usize>,
    /// Whether `yes` and `no` answer it. A host with an older version does not tell.
    #[serde(default = "yes")]
    pub takes_yes: bool,
    #[serde(default = "yes")]
    pub takes_no: bool,
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PauseView {
    pub at: Timestamp,
    pub reason: PauseReason,
    pub snapshot: Option<String>,
    pub scrollback_lines: u64,
    pub last_action: Option<String>,
    pub pending_tasks: Vec<String>,
    pub forced: bool,
    /// Commands that the agent had started in the background, and that the pause has stopped.
    pub stopped: Vec<String>,
    /// What was typed and not sent.
    pub draft: Option<String>,
    /// What could not be deleted when the disk was to be freed.
    pub left_on_disk: Vec<Left>,
}

/// All instances, and what could not be read.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Listing {
    pub instances: Vec<InstanceView>,
    pub unreadable: Vec<Unreadable>,
    /// Whether all are to rest; None where that cannot be read.
    pub camp: Option<CampView>,
}

impl Listing {
    pub(crate) fn empty() -> Self {
        Self {
            instances: Vec::new(),
            unreadable: Vec::new(),
            camp: None,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Unreadable {
    pub id: InstanceId,
    /// As far as it can be told.
    pub title: Option<String>,
    pub reason: String,
}

/// The runs of an instance, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RunHistory {
    pub runs: Vec<RunRecord>,
    /// Why some are missing.
    pub unreadable: Vec<String>,
}

/// One agent that Bivouac knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AgentView {
    pub name: String,
    pub display: String,
    pub about: Option<String>,
    pub installed: bool,
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    pub native_resume: bool,
    pub hooks: bool,
    pub transcript: bool,
    pub limits: Vec<String>,
    pub default: bool,
}

/// The state of the whole camp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CampState {
    Running,
    Pausing,
    Paused,
}

/// The state of the camp, as shown to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct CampView {
    pub state: CampState,
    pub paused_at: Option<Timestamp>,
}

impl CampView {
    /// No queue is fed, and nothing is started by the daemon.
    pub(crate) fn is_paused(self) -> bool {
        self.state != CampState::Running
    }
}
