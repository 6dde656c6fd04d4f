//! The errors of the engine. `report` turns them into messages, hints and exit statuses.

use std::path::PathBuf;
use std::time::Duration;

use crate::agents::{CatalogError, UnknownAgent};
use crate::config::{ConfigError, HomeError, RepositoryConfigError};
use crate::engine::base::land_error::LandError;
use crate::engine::base::remote_error::RemoteError;
use crate::engine::base::rights::Verb;
use crate::engine::base::unanswerable::Unanswerable;
use crate::git::GitError;
use crate::hosts::HostError;
use crate::lifecycle::{Operation, Step, UnreadableFact};
use crate::model::{Activity, Holder, InstanceId, RunId, State, Timestamp, Title, TitleError};
use crate::process::{Failure, Survivors};
use crate::store::StoreError;
use crate::tmux::{KeyNameError, TmuxError};

/// One of several instances that a name can mean.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub id: InstanceId,
    pub title: Title,
    /// The name of its repository.
    pub repository: String,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("there is no instance `{given}`")]
    NoSuchInstance { given: String },
    #[error("{}", ended(title, landed_on.as_deref()))]
    Ended {
        title: Title,
        id: InstanceId,
        /// The branch that has its work.
        landed_on: Option<String>,
    },
    #[error("no killed instance is called `{given}`")]
    NoSuchKilled { given: String },
    #[error("`{title}` was not killed: it is {}", state.name())]
    NotKilled { title: Title, state: State },
    #[error("`{given}` could be several instances")]
    Ambiguous {
        given: String,
        candidates: Vec<Candidate>,
    },
    #[error("cannot {verb} `{title}`: it is {}", state.name())]
    WrongState {
        verb: &'static str,
        title: Title,
        state: State,
    },
    #[error("{}", whereabouts(title, holder))]
    Away {
        title: Title,
        id: InstanceId,
        holder: Holder,
    },
    #[error("`{title}` was handed over by number {found}, and not by {given}")]
    OtherLease {
        title: Title,
        given: u64,
        found: u64,
    },
    #[error("`{title}` has changed while it was sent")]
    ChangedMeanwhile { title: Title },
    #[error("`{title}` cannot be exported: it is {}", state.name())]
    NotExportable { title: Title, state: State },
    #[error("there is no key to encrypt an export with, or to decrypt it")]
    NoKey,
    #[error("the program age, which encrypts exports, is not installed")]
    NoAge,
    #[error("the export was not encrypted: {message}")]
    NotEncrypted { message: String },
    #[error("the export cannot be decrypted: {message}")]
    NotDecrypted { message: String },
    #[error("`{title}` is busy: {holder}")]
    Busy { title: Title, holder: String },
    #[error("the title `{title}` is taken by another instance")]
    TitleTaken { title: Title },
    #[error("the branch {branch} belongs to the instance `{title}`")]
    BranchHeld {
        branch: String,
        title: Title,
        id: InstanceId,
    },
    #[error(transparent)]
    Title(#[from] TitleError),
    #[error("`{base}` names no commit in {}", repository.display())]
    NoSuchBase { base: String, repository: PathBuf },
    #[error("the repository {} has no commit yet", repository.display())]
    NoCommits { repository: PathBuf },
    #[error("the agent {agent} is not installed: `{program}` was not found on PATH")]
    AgentMissing { agent: String, program: String },
    #[error("no agent is installed: none of {} was found on PATH", looked_for.join(", "))]
    NoAgent { looked_for: Vec<String> },
    #[error("the branch `{branch}` cannot be sealed: {why}")]
    SealBranch { branch: String, why: String },
    #[error("the path `{path}` of a seal is neither absolute nor below the home (`~/`)")]
    SealPath { path: String },
    #[error("`{host}` in the list of hosts of a seal is no host")]
    SealHost { host: String },
    #[error("biv does not reach its state: it runs inside a seal")]
    InsideSeal,
    #[error("the agent ended at once, with exit status {code}")]
    AgentDied { code: i32, last_words: String },
    #[error("`{title}` was not ready for a prompt within {seconds} seconds: {}", still(*activity))]
    NotReady {
        title: Title,
        seconds: u64,
        /// What it does now.
        activity: Activity,
    },
    #[error("`{title}` is at its usage limit, which resets at {}", resets_at.local_minute())]
    AtUsageLimit { title: Title, resets_at: Timestamp },
    #[error("`{title}` waits for you: {}", what_is_open(*activity, says.as_deref()))]
    NeedsPerson {
        title: Title,
        activity: Activity,
        /// What is open, and what Enter would do there.
        says: Option<String>,
    },
    #[error("`{title}` is running, but its prompt was not sent{}", if *queued { " yet" } else { "" })]
    PromptNotSent {
        id: InstanceId,
        title: Title,
        /// It waits in the queue.
        queued: bool,
        #[source]
        source: Box<Self>,
    },
    #[error(
        "there is a text in the input box of `{title}`, which is neither sent along nor deleted"
    )]
    DraftInTheWay { title: Title },
    #[error(
        "the input box of `{title}` holds a paste that was not sent, and a pause would lose its text"
    )]
    PasteInTheWay { title: Title },
    #[error(
        "the input box of `{title}` holds a text that is longer than it shows, and a pause would lose a part of it"
    )]
    LongDraftInTheWay { title: Title },
    #[error("the prompt was typed but not submitted")]
    NotSubmitted,
    #[error("this prompt cannot be sent as text: {why}")]
    CannotArrive { why: String },
    #[error("{agent} does not know the command `{command}`: nothing was sent")]
    UnknownCommand { agent: String, command: String },
    #[error(
        "the prompt has left the input box of `{title}`, but nothing shows that its turn has begun"
    )]
    NoTurn { title: Title },
    #[error("it is not known whether `{title}` has got the prompt: it was ended meanwhile")]
    NotKnown { title: Title },
    #[error("there is nothing to send")]
    NothingToSend,
    #[error("line {number} of the review names no lines of a file: {place}")]
    ReviewPlace { number: usize, place: String },
    #[error("the comment on {place} has no text")]
    ReviewEmpty { place: String },
    #[error("{}", why.sentence(title))]
    Unanswerable { title: Title, why: Unanswerable },
    #[error("`{title}` does not offer this choice")]
    NoSuchChoice { title: Title, choices: Vec<String> },
    #[error("a reason goes with `no` only")]
    ReasonWithoutNo,
    #[error("{} is the main checkout of its repository", path.display())]
    MainCheckout { path: PathBuf },
    #[error("{} is managed already, as `{title}`", path.display())]
    AlreadyManaged { path: PathBuf, title: Title },
    #[error("the repository's set-up command needs your consent: {command}")]
    ConsentNeeded { command: String },
    #[error("the repository's set-up command failed with {status}: {command}")]
    SetupFailed {
        command: String,
        status: String,
        output: String,
    },
    #[error("cannot {action} {}", path.display())]
    Files {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the state of the other tool at {} cannot be understood: {message}", path.display())]
    ForeignState { path: PathBuf, message: String },
    #[error("`{title}` stands on no branch")]
    NoBranch { title: Title },
    #[error("the repository {} has no remote", repository.display())]
    NoRemote { repository: PathBuf },
    #[error("no pull request of `{title}` is known")]
    NoPullRequest { title: Title },
    #[error("this needs a terminal")]
    NoTerminal,
    #[error("this terminal could not be attached to `{title}`: tmux ended with {status}")]
    NotAttached {
        title: Title,
        status: std::process::ExitStatus,
    },
    #[error("the saved work of `{title}` is not kept any more")]
    NothingKept { title: Title },
    #[error("`{title}` has no single snapshot `{given}`")]
    NoSuchSnapshot { title: Title, given: String },
    #[error("{} cannot be saved", unsavable.join(", "))]
    Unsavable { unsavable: Vec<String> },
    #[error("there is not enough free space at {}", path.display())]
    Space { path: PathBuf },
    #[error("the saved work differs from the worktree: {}", paths.join(", "))]
    SnapshotDiffers { paths: Vec<String> },
    #[error("the worktree of `{title}` is not at {}: it is {}", path.display(), state.name())]
    WorktreeAway {
        title: Title,
        state: State,
        path: PathBuf,
    },
    #[error("cannot run `{program}` in the worktree of `{title}`")]
    NotRunnable {
        program: String,
        title: Title,
        #[source]
        source: Failure,
    },
    #[error("there is no command to run")]
    NothingToRun,
    #[error("the worktree {} is gone", path.display())]
    WorktreeMissing { path: PathBuf },
    #[error("the record of what is kept for `{title}` cannot be understood: {message}")]
    Vault { title: Title, message: String },
    #[error("it was interrupted")]
    Interrupted,
    #[error("the pause was taken back")]
    Cancelled,
    #[error("the prompt was taken back before it was sent")]
    Unsent,
    #[error(
        "`{title}` (run {run}, {provider} session {}) cannot be resumed: {reason}",
        reference.as_deref().unwrap_or("unknown")
    )]
    CannotResume {
        title: Title,
        run: RunId,
        provider: String,
        reference: Option<String>,
        reason: String,
    },
    #[error("no instance belongs to a repository at {}", path.display())]
    NoSuchRepository { path: PathBuf },
    #[error("the repository is still at {}; {} is a copy of it", old.display(), new.display())]
    RepositoryStillThere { old: PathBuf, new: PathBuf },
    #[error("{}", misplaced(recorded, found.as_deref()))]
    RepositoryMoved {
        recorded: PathBuf,
        found: Option<PathBuf>,
    },
    #[error("the saved changes conflict with the branch in {}", files.join(", "))]
    Conflict { files: Vec<String> },
    #[error("{} to be continued at the step {}", operation.name(), step.name())]
    Stuck {
        operation: Operation,
        step: Step,
        title: Title,
        #[source]
        source: Box<Self>,
    },
    #[error("cannot {} `{title}`", operation.name())]
    TakenBack {
        operation: Operation,
        title: Title,
        #[source]
        source: Box<Self>,
    },
    #[error(
        "cannot {} from inside {}",
        verb.refusal(),
        instance.as_ref().map_or_else(|| "an instance".to_owned(), |title| format!("the instance `{title}`"))
    )]
    Inside {
        verb: Verb,
        /// Which one, where that is proved.
        instance: Option<Title>,
        /// The key that leaves an attached session.
        leave: String,
    },
    #[error("the daemon did not start")]
    DaemonNotStarted { log: PathBuf },
    #[error(transparent)]
    Land(#[from] LandError),
    #[error(transparent)]
    Remote(#[from] RemoteError),
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(transparent)]
    Survivors(#[from] Survivors),
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Repository(#[from] RepositoryConfigError),
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    UnknownAgent(#[from] UnknownAgent),
    #[error(transparent)]
    AgentLaunch(#[from] crate::agents::LaunchError),
    #[error(transparent)]
    Key(#[from] KeyNameError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Fact(#[from] UnreadableFact),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Tmux(#[from] TmuxError),
    #[error(transparent)]
    Process(#[from] Failure),
}

/// Why an instance is not in the list any more.
fn ended(title: &Title, landed_on: Option<&str>) -> String {
    match landed_on {
        Some(target) => format!("`{title}` has ended: its work was landed on `{target}`"),
        None => format!("`{title}` was killed"),
    }
}

/// Where an instance is that is not here.
fn whereabouts(title: &Title, holder: &Holder) -> String {
    match holder {
        Holder::Host {
            host,
            confirmed: true,
            ..
        } => format!("`{title}` is on the host `{host}`"),
        Holder::Host { host, .. } => format!("`{title}` is on its way to the host `{host}`"),
        Holder::Offered {
            from: Some(from), ..
        } => format!("`{title}` is on its way back from the host `{}`", from.host),
        Holder::Offered { from: None, .. } => {
            format!("`{title}` was sent here, and is not handed over yet")
        }
        Holder::Elsewhere { .. } => format!("`{title}` was fetched by another machine"),
        Holder::Here => format!("`{title}` is here"),
    }
}

/// Names both where another repository has taken the place.
fn misplaced(recorded: &std::path::Path, found: Option<&std::path::Path>) -> String {
    match found {
        Some(found) if found == recorded => format!(
            "the repository of this instance is not at {} any more: another one is there",
            recorded.display()
        ),
        Some(found) => format!(
            "the repository of this instance was at {}, and {} is another one",
            recorded.display(),
            found.display()
        ),
        None => format!(
            "the repository of this instance is not at {}",
            recorded.display()
        ),
    }
}

/// Why an agent is not ready.
fn still(activity: Activity) -> &'static str {
    match activity {
        Activity::Busy => "it is still busy",
        _ => "its screen shows no prompt yet",
    }
}

/// What waits for the user: `an approval dialog is open`, or what the agent's file says of it.
pub(in crate::engine) fn what_is_open(activity: Activity, says: Option<&str>) -> String {
    let kind = match activity {
        Activity::Approval => "an approval dialog",
        Activity::Question => "a question",
        Activity::Blocked => "something that only you can settle",
        Activity::Menu => "a menu of the agent",
        Activity::Busy | Activity::Idle | Activity::Exited | Activity::Unknown => "a dialog",
    };
    says.map_or_else(|| format!("{kind} is open"), str::to_owned)
}

impl Error {
    /// In one line, with its causes.
    pub(crate) fn told(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        if let Self::Host(error) = self.innermost() {
            for cause in error.causes() {
                text = format!("{text}: {cause}");
            }
        }
        text
    }

    /// The cause of an operation that was rolled back or is stuck.
    pub(crate) fn innermost(&self) -> &Self {
        match self {
            Self::TakenBack { source, .. }
            | Self::Stuck { source, .. }
            | Self::PromptNotSent { source, .. } => source.innermost(),
            other => other,
        }
    }

    pub(in crate::engine) fn files(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Files {
            action,
            path,
            source,
        }
    }
}

/// How long the launcher has to report. It does little before that, but a machine that starts many at
/// once is slow.
pub(in crate::engine) const LAUNCH_PATIENCE: Duration = Duration::from_secs(30);

/// What can go wrong between the start of a launcher and its report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error("the socket {} cannot be used", path.display())]
    Socket {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the launcher did not report within {} seconds", LAUNCH_PATIENCE.as_secs())]
    Silent,
    #[error("the launcher was ended before the agent could start")]
    Gone,
    #[error("the agent cannot be sealed: {0}")]
    NoSeal(String),
    #[error("{0}")]
    Refused(String),
}
