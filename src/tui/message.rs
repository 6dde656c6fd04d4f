//! The messages to the UI and the requests that it makes. Both are data, so that `update` is a function.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::diff::DiffPage;
use super::input::Event;
use crate::engine::{
    AgentView, AuditLine, ConversationEntry, DialogAnswer, HostListing, HostName, Listing,
    NewInstance, QueueView, ReviewView, RunHistory, ScreenView, SearchResult,
};
use crate::model::{Activity, InstanceId, NewComment, PauseReason, Timestamp, Title, Usage};
use crate::report::Report;

/// A message to the UI.
#[derive(Debug)]
pub(super) enum Message {
    Typed(Event),
    Resized {
        columns: u16,
        rows: u16,
    },
    /// Time has passed.
    Tick(Timestamp),
    Listed(Box<Result<Listing, Report>>),
    /// The killed instances.
    KilledListed(Box<Result<Listing, Report>>),
    /// The hosts that there are, with what was last known of them.
    Hosts(Vec<HostListing>),
    /// What a host has answered, or why it has not.
    HostListed(Box<HostListing>),
    /// The last words of each agent.
    Words(BTreeMap<InstanceId, String>),
    /// What a popup has asked for.
    Looked(Box<Result<LookupResult, Report>>),
    /// The observed activity of an agent.
    Noticed {
        id: InstanceId,
        activity: Activity,
        last_line: Option<String>,
    },
    /// What has happened that the user is told of.
    News(String),
    /// Whether a daemon runs.
    Daemon(bool),
    /// A signal requests the end of the UI.
    Signalled,
    /// A screen with the requested lines of history.
    Seen {
        id: InstanceId,
        pane: Pane,
        above: usize,
        screen_view: Result<ScreenView, Report>,
    },
    /// A page, and how long it took to read.
    Read(InstanceId, Duration, Box<Result<Page, Report>>),
    /// The installed agents, and where the UI was started.
    Surveyed(Box<StartContext>),
    /// What killed instances have used today.
    UsedByKilled(Usage),
    /// A background job has begun a step, or has a note.
    Progress {
        job: u64,
        words: String,
        note: bool,
    },
    Done {
        job: u64,
        outcome: Box<Result<TaskOutcome, TaskFailure>>,
    },
    /// An attached session has ended, and the UI has the terminal again.
    Attached(Box<Result<AttachResult, Report>>),
}

/// How an attached session ended.
#[derive(Debug)]
pub(super) struct AttachResult {
    /// The last one that was visited, where it is an instance of this machine.
    pub id: Option<InstanceId>,
    pub title: String,
    pub detached: bool,
    pub paused: bool,
}

/// The content of a tab.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Page {
    Diff(Box<DiffPage>),
    /// The same patch as before; the number of its comments may be another.
    SameDiff(ReviewView),
    Conversation(Vec<ConversationEntry>),
    Runs(RunHistory),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct StartContext {
    pub directory: PathBuf,
    /// The repository that the UI was started in, or the error.
    pub repository: Result<PathBuf, String>,
    pub agents: Vec<AgentView>,
    /// Required programs that are missing, each as a sentence.
    pub missing: Vec<String>,
}

/// The result of a successful task.
#[derive(Debug)]
pub(super) enum TaskOutcome {
    Said(String),
    Created(InstanceId, String),
    Killed(InstanceId, String),
    /// Of several, those that were killed, and a report on the others.
    KilledEach(Vec<InstanceId>, Result<String, Report>),
    /// The comments that a review has now, and what was done.
    Reviewed(ReviewView, Option<String>),
    /// Whether a prompt could still be unsent.
    Unsent(bool),
    Quiet,
}

/// Why a task failed.
#[derive(Debug)]
pub(super) enum TaskFailure {
    /// The repository asks to run a command.
    Consent {
        command: String,
        asked: Box<NewInstance>,
    },
    /// The instance was started, and has not got its prompt.
    WithoutPrompt(Box<StartedWithoutPrompt>),
    /// The pause was cancelled on request.
    TakenBack,
    Reported(Report),
}

#[derive(Debug)]
pub(super) struct StartedWithoutPrompt {
    pub id: InstanceId,
    pub title: Title,
    /// The prompt is sent as soon as the agent is ready.
    pub queued: bool,
    pub report: Report,
}

/// Which terminal of an instance is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pane {
    Agent,
    /// The user's own shell in the worktree.
    Shell,
}

/// A request of the UI to the main loop.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum UiRequest {
    Start {
        job: u64,
        task: Task,
    },
    /// The instance to watch, the host that it is on, and how many lines of history.
    Watch {
        id: Option<InstanceId>,
        host: Option<HostName>,
        pane: Pane,
        above: usize,
    },
    /// Reads the content of a tab.
    Read {
        id: InstanceId,
        host: Option<HostName>,
        what: PageKind,
    },
    /// Asks a host for its list again.
    AskHost(HostName),
    /// Reads the list again.
    List,
    /// Counts what killed instances have used today.
    CountKilled,
    /// Looks something up for a popup.
    Look(Lookup),
    /// Whether the list is that of the killed instances.
    ShowKilled(bool),
    Suspend,
    /// Counts the changes of an instance again, and reads the list.
    Recount(InstanceId),
    Survey,
    Attach(InstanceId, Option<HostName>),
    /// Attaches to the shell in its worktree.
    Shell(InstanceId, Option<HostName>),
    Quit,
}

/// What a popup shows or changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lookup {
    Search(String),
    Queue(InstanceId),
    /// Lets a stopped queue go on.
    ContinueQueue(InstanceId),
    DropQueued {
        id: InstanceId,
        number: u64,
    },
    MoveQueued {
        id: InstanceId,
        number: u64,
        forward: bool,
    },
    Audit(InstanceId),
    /// The checks of the repositories of those that are to land.
    Checks(Vec<InstanceId>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum LookupResult {
    /// The words, and where they were found.
    Search(String, SearchResult),
    Queue(QueueView),
    Audit(InstanceId, Vec<AuditLine>),
    Checks(Vec<InstanceId>, Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Diff,
    Conversation,
    Runs,
}

/// An operation, the same as a command of the command line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Task {
    Create(Box<NewInstance>),
    Pause {
        id: InstanceId,
        /// How long to wait for the end of the turn.
        wait: Wait,
        reason: PauseReason,
    },
    PauseEach {
        ids: Vec<InstanceId>,
        wait: Wait,
    },
    CancelPause(InstanceId),
    Resume(InstanceId),
    ResumeEach(Vec<InstanceId>),
    Restart(InstanceId),
    Kill {
        id: InstanceId,
        delete_branch: bool,
    },
    KillEach {
        ids: Vec<InstanceId>,
        delete_branch: bool,
    },
    UndoKill(InstanceId),
    Send {
        id: InstanceId,
        prompt: String,
    },
    /// Puts a prompt at the end of the queue.
    Enqueue {
        id: InstanceId,
        prompt: String,
    },
    /// Presses a choice of the dialog with this id.
    Answer {
        id: InstanceId,
        answer: DialogAnswer,
        dialog: String,
        /// The user's own words, for the choice that takes them.
        words: Option<String>,
    },
    /// Keeps a comment on a line of the changes.
    Comment {
        id: InstanceId,
        comment: NewComment,
    },
    /// Gives a comment another text, or drops it.
    ChangeComment {
        id: InstanceId,
        number: u64,
        text: Option<String>,
    },
    SendReview(InstanceId),
    /// Cancels a prompt that is being sent.
    Unsend(InstanceId),
    Push(InstanceId),
    /// Lands these one after another.
    Land {
        ids: Vec<InstanceId>,
        /// Uncommitted work too.
        commit: bool,
    },
    Rename {
        id: InstanceId,
        title: String,
    },
    Autoyes {
        id: InstanceId,
        on: bool,
    },
    PauseAll,
    ResumeAll,
    /// A task for an instance of a host, carried out there.
    OnHost(HostName, Box<Self>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    AsConfigured,
    /// As long as the turn takes.
    Forever,
}
