//! What reaches the UI, and what it asks for: data on both sides, so that `update` is a function.

use std::path::PathBuf;

use super::input::Event;
use crate::engine::{AgentView, ConversationEntry, Glimpse, Listing, NewInstance, RunHistory};
use crate::model::{Activity, InstanceId, PauseReason, Timestamp, Title};
use crate::report::Report;

/// Something has happened.
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
    /// An agent was seen doing this.
    Noticed {
        id: InstanceId,
        activity: Activity,
        last_line: Option<String>,
    },
    /// A signal asks us to end.
    Signalled,
    /// A screen, with as many lines above it as were asked for.
    Seen {
        id: InstanceId,
        above: usize,
        glimpse: Result<Glimpse, Report>,
    },
    Read(InstanceId, Box<Result<Page, Report>>),
    /// Which agents there are, and where the UI was started.
    Surveyed(Box<Surroundings>),
    /// A background job has begun a step, or says something.
    Progress {
        job: u64,
        words: String,
        note: bool,
    },
    Done {
        job: u64,
        outcome: Box<Result<Outcome, Trouble>>,
    },
    /// The terminal was given away and has come back.
    Attached(Box<Result<Visit, Report>>),
}

/// How a visit to an agent ended.
#[derive(Debug)]
pub(super) struct Visit {
    pub title: Title,
    pub detached: bool,
}

/// What a tab shows, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Page {
    Diff(String),
    Conversation(Vec<ConversationEntry>),
    Runs(RunHistory),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Surroundings {
    pub directory: PathBuf,
    /// The repository that the UI was started in; what is wrong where there is none.
    pub repository: Result<PathBuf, String>,
    pub agents: Vec<AgentView>,
    /// Programs that are needed and missing, each with its sentence.
    pub missing: Vec<String>,
}

/// How a job ended well.
#[derive(Debug)]
pub(super) enum Outcome {
    Said(String),
    Created(InstanceId, String),
    Killed(InstanceId, String),
    /// Of several, those that were killed, and what is to be said of the others.
    KilledEach(Vec<InstanceId>, Result<String, Report>),
    /// Whether a prompt could still be taken back.
    Unsent(bool),
    Quiet,
}

/// How a job did not.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The repository asks to run a command.
    Consent {
        command: String,
        asked: Box<NewInstance>,
    },
    /// The pause was taken back, as somebody wanted.
    TakenBack,
    Reported(Report),
}

/// Something is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Call {
    Start {
        job: u64,
        task: Task,
    },
    /// Whose screen is wanted, with how many lines above it.
    Watch {
        id: Option<InstanceId>,
        above: usize,
    },
    /// What a tab needs.
    Read {
        id: InstanceId,
        what: Wanted,
    },
    /// Something has changed: look at all instances again.
    List,
    Survey,
    Attach(InstanceId),
    Quit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Diff,
    Conversation,
    Runs,
}

/// An operation, as the command line has it too.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Task {
    Create(Box<NewInstance>),
    Pause {
        id: InstanceId,
        /// How long for the turn to end.
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
    /// Takes back a prompt that is on its way.
    Unsend(InstanceId),
    Push(InstanceId),
    Autoyes {
        id: InstanceId,
        on: bool,
    },
    PauseAll,
    ResumeAll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    AsConfigured,
    /// As long as the turn takes.
    Forever,
}
