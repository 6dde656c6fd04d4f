//! Error reports: what failed, why, and a hint. The command line and the terminal UI share them.

mod hints;
mod host;
mod land;
mod outside;
mod remote;
mod word;

use std::error::Error as _;
use std::fmt;

use serde_json::json;

use crate::engine::{Bulk, Camp, Error, Failure, GitError, Landed, StateChange, StoreError};
use crate::model::Title;

pub(crate) use word::word;

/// An error as shown to users and scripts.
#[derive(Debug)]
pub(crate) struct Report {
    pub code: &'static str,
    pub exit: u8,
    pub message: String,
    pub causes: Vec<String>,
    pub hints: Vec<String>,
    /// More for scripts: candidates, last output.
    pub details: Option<serde_json::Value>,
    /// More for users, printed below.
    pub appendix: Option<String>,
}

impl Report {
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code: "usage",
            exit: 2,
            message: message.into(),
            causes: Vec::new(),
            hints: vec![hint.into()],
            details: None,
            appendix: None,
        }
    }

    pub(crate) fn failed(
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code,
            exit: 1,
            ..Self::usage(message, hint)
        }
    }

    /// The report if some instances of the camp failed: which, and why.
    pub(crate) fn not_all(camp: &Camp, done: &str) -> Option<Self> {
        let failures: Vec<(&Title, String)> = camp
            .failures
            .iter()
            .map(|failure| (&failure.title, failure.reason.clone()))
            .collect();
        Self::some_failed(done, camp.instances.len(), &failures)
    }

    /// The same for named instances.
    pub(crate) fn of_bulk<T>(bulk: &Bulk<T>, done: &str) -> Option<Self> {
        let failures: Vec<(&Title, String)> = bulk
            .failures
            .iter()
            .map(|failure| (&failure.title, failure.error.told()))
            .collect();
        Self::some_failed(done, bulk.done.len(), &failures)
    }

    /// The same for a prompt that is sent or queued by `again`: those that have it must not get it twice.
    pub(crate) fn of_prompts<T>(bulk: &Bulk<T>, done: &str, again: &str) -> Option<Self> {
        let report = Self::of_bulk(bulk, done)?;
        let (unclear, refused): (Vec<_>, Vec<_>) = bulk
            .failures
            .iter()
            .partition(|failure| may_have_arrived(failure.error.innermost()));
        let mut hints: Vec<String> = unclear
            .iter()
            .flat_map(|failure| hints::hints(&failure.error))
            .collect();
        if !refused.is_empty() {
            let names: Vec<String> = refused.iter().map(|failure| word(&failure.title)).collect();
            let others = match bulk.done.is_empty() {
                true => "",
                false => "the others have it; ",
            };
            hints.push(format!(
                "{others}when that is corrected: `{again} {} …`",
                names.join(" ")
            ));
        }
        Some(Self { hints, ..report })
    }

    /// The same for a change of the state: those that had it already are told apart.
    pub(crate) fn of_changes(bulk: &Bulk<StateChange>, done: &str, state: &str) -> Option<Self> {
        let report = Self::of_bulk(bulk, done)?;
        let already = bulk.already();
        if already == 0 {
            return Some(report);
        }
        let (well, all) = (bulk.done.len(), bulk.done.len() + bulk.failures.len());
        Some(Self {
            message: format!(
                "{done} {} of {all}; {}",
                well - already,
                were_already(already, state)
            ),
            ..report
        })
    }

    /// The same for instances that were to land: if all failures are of one kind, that is the exit status.
    pub(crate) fn of_landings(bulk: &Bulk<Landed>) -> Option<Self> {
        let (first, more) = bulk.failures.split_first()?;
        let (code, exit) = kind(first.error.innermost());
        let alike = more
            .iter()
            .all(|other| kind(other.error.innermost()).1 == exit);
        let report = Self::of_bulk(bulk, "landed")?;
        Some(Self {
            code: if alike { code } else { report.code },
            exit: if alike { exit } else { report.exit },
            details: Some(json!({
                "landed": bulk.done,
                "failures": report.details.as_ref().map(|details| details["failures"].clone()),
            })),
            hints: land::hints_of_several(bulk),
            ..report
        })
    }

    /// The report if a request to several instances failed for some: how many, which, and why.
    pub(crate) fn some_failed(
        done: &str,
        well: usize,
        failures: &[(&Title, String)],
    ) -> Option<Self> {
        let (first, _) = failures.first()?;
        let causes = failures
            .iter()
            .map(|(title, reason)| format!("`{title}`: {reason}"));
        let failed: Vec<serde_json::Value> = failures
            .iter()
            .map(|(title, reason)| json!({ "title": title, "reason": reason }))
            .collect();
        Some(Self {
            causes: causes.collect(),
            details: Some(json!({ "done": well, "failures": failed })),
            ..Self::failed(
                "not_all",
                format!("{done} {well} of {}", well + failures.len()),
                format!("correct `{first}` and run the command again"),
            )
        })
    }
}

/// Of those that a request has left as they were: `2 were running already`.
pub(crate) fn were_already(count: usize, state: &str) -> String {
    let were = if count == 1 { "was" } else { "were" };
    format!("{count} {were} {state} already")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (red, bold, reset) = ("\x1b[1;31m", "\x1b[1m", "\x1b[0m");
        write!(f, "{red}error{reset}{bold}:{reset} {}", self.message)?;
        for cause in &self.causes {
            write!(f, "\n  cause: {cause}")?;
        }
        if let Some(appendix) = &self.appendix {
            for line in appendix.lines() {
                write!(f, "\n  | {line}")?;
            }
        }
        for hint in &self.hints {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl From<Error> for Report {
    fn from(error: Error) -> Self {
        let mut causes = Vec::new();
        let mut source = error.source();
        while let Some(cause) = source {
            causes.push(cause.to_string());
            source = cause.source();
        }
        let root = error.innermost();
        if let Error::Host(error) = root {
            causes.extend_from_slice(error.causes());
        }
        let (code, exit) = kind(root);
        Self {
            code,
            exit,
            message: error.to_string(),
            causes,
            hints: hints::hints(&error),
            details: details(root),
            appendix: appendix(root),
        }
    }
}

/// Whether the agent may have got the prompt, or has it in its input box.
fn may_have_arrived(error: &Error) -> bool {
    matches!(
        error,
        Error::NoTurn { .. } | Error::NotKnown { .. } | Error::NotSubmitted
    )
}

/// As a shell says it of a program that Ctrl+C has ended.
const INTERRUPTED: u8 = 130;

/// The error code for scripts, and the exit status.
fn kind(error: &Error) -> (&'static str, u8) {
    match error {
        Error::NoSuchInstance { .. } | Error::NoSuchKilled { .. } => ("no_such_instance", 3),
        Error::Ended { .. } => ("killed", 3),
        Error::Ambiguous { .. } => ("ambiguous", 3),
        Error::WrongState { .. } | Error::NotKilled { .. } | Error::NotExportable { .. } => {
            ("wrong_state", 4)
        }
        Error::AtUsageLimit { .. } => ("usage_limit", 4),
        Error::Away { .. } => ("away", 4),
        Error::OtherLease { .. } => ("lease", 4),
        Error::ChangedMeanwhile { .. } => ("changed", 1),
        Error::NeedsPerson { .. } => ("needs_person", 4),
        Error::Busy { .. } | Error::Store(StoreError::Busy { .. }) => ("busy", 7),
        Error::TitleTaken { .. } => ("title_taken", 1),
        Error::BranchHeld { .. } => ("branch_held", 1),
        Error::Title(_)
        | Error::NothingToSend
        | Error::ReviewPlace { .. }
        | Error::ReviewEmpty { .. }
        | Error::NothingToRun
        | Error::NoSuchChoice { .. }
        | Error::ReasonWithoutNo => ("usage", 2),
        Error::Unanswerable { .. } => ("unanswerable", 4),
        // As a shell says it of a program that is not there, and of one that cannot be run.
        Error::NotRunnable {
            source: Failure::NotFound { .. },
            ..
        } => ("program_missing", 127),
        Error::NotRunnable { .. } => ("not_runnable", 126),
        Error::WorktreeAway { .. } => ("worktree_away", 4),
        Error::UnknownAgent(_) => ("unknown_agent", 2),
        Error::NoSuchBase { .. } => ("no_such_base", 1),
        Error::NoCommits { .. } => ("no_commits", 1),
        Error::AgentMissing { .. } | Error::NoAgent { .. } => ("agent_missing", 1),
        Error::SealBranch { .. } => ("seal_branch", 1),
        Error::SealPath { .. } | Error::SealHost { .. } => ("seal_setting", 1),
        Error::InsideSeal => ("inside_seal", 1),
        Error::AgentDied { .. } => ("agent_died", 1),
        Error::NotReady { .. } => ("not_ready", 1),
        Error::DraftInTheWay { .. } => ("draft_in_the_way", 4),
        Error::PasteInTheWay { .. } => ("paste_in_the_way", 4),
        Error::LongDraftInTheWay { .. } => ("long_draft_in_the_way", 4),
        Error::NotSubmitted => ("not_submitted", 1),
        Error::CannotArrive { .. } => ("cannot_arrive", 2),
        Error::UnknownCommand { .. } => ("unknown_command", 4),
        Error::NotKnown { .. } => ("not_known", 1),
        Error::NoTurn { .. } => ("no_turn", 1),
        Error::MainCheckout { .. } => ("main_checkout", 1),
        Error::AlreadyManaged { .. } => ("already_managed", 1),
        Error::ConsentNeeded { .. } => ("consent_needed", 1),
        Error::SetupFailed { .. } => ("setup_failed", 1),
        Error::NoTerminal | Error::NotAttached { .. } => ("no_terminal", 1),
        Error::ForeignState { .. } => ("foreign_state", 1),
        Error::NoBranch { .. } => ("no_branch", 1),
        Error::NoRemote { .. } => ("no_remote", 1),
        Error::NothingKept { .. } => ("nothing_kept", 1),
        Error::NoSuchSnapshot { .. } => ("no_such_snapshot", 3),
        Error::Unsavable { .. } => ("unsavable", 1),
        Error::Space { .. } => ("disk_full", 1),
        Error::SnapshotDiffers { .. } => ("snapshot_differs", 1),
        Error::Cancelled => ("cancelled", 1),
        Error::Interrupted => ("interrupted", INTERRUPTED),
        Error::Unsent => ("unsent", 1),
        Error::Vault { .. } | Error::Fact(_) => ("state", 1),
        Error::WorktreeMissing { .. } => ("worktree_missing", 1),
        Error::CannotResume { .. } => ("cannot_resume", 5),
        Error::RepositoryMoved { .. } => ("repository_moved", 1),
        Error::NoSuchRepository { .. } => ("no_such_repository", 1),
        Error::RepositoryStillThere { .. } => ("repository_still_there", 1),
        Error::Conflict { .. }
        | Error::Git(GitError::Conflict { .. } | GitError::OperationInProgress { .. }) => {
            ("conflict", 6)
        }
        Error::Land(error) => land::kind(error),
        Error::Host(error) => host::kind(error),
        Error::Remote(error) => remote::kind(error),
        Error::Inside { .. } => ("inside_instance", 1),
        Error::DaemonNotStarted { .. } => ("daemon", 1),
        Error::Survivors(_) => ("survivors", 1),
        Error::Config(_) | Error::Repository(_) | Error::Catalog(_) | Error::Key(_) => {
            ("configuration", 1)
        }
        Error::NoKey | Error::NoAge | Error::NotEncrypted { .. } | Error::NotDecrypted { .. } => {
            ("encryption", 1)
        }
        Error::NoPullRequest { .. } => ("no_pull_request", 1),
        Error::Git(GitError::Forge { .. }) => ("forge", 1),
        Error::Git(_) => ("git", 1),
        Error::Tmux(_) => ("tmux", 1),
        Error::Store(_) => ("state", 1),
        Error::Files { .. }
        | Error::Home(_)
        | Error::Launch(_)
        | Error::AgentLaunch(_)
        | Error::Process(_)
        | Error::TakenBack { .. }
        | Error::PromptNotSent { .. }
        | Error::Stuck { .. } => ("failed", 1),
    }
}

fn details(error: &Error) -> Option<serde_json::Value> {
    match error {
        Error::Ambiguous { candidates, .. } => Some(json!({
            "candidates": candidates
                .iter()
                .map(|one| json!({
                    "id": one.id,
                    "title": one.title,
                    "repository": one.repository,
                }))
                .collect::<Vec<_>>(),
        })),
        Error::AgentDied { code, last_words } => Some(json!({
            "exit_code": code,
            "last_words": last_words,
        })),
        Error::SetupFailed { output, .. } => Some(json!({ "output": output })),
        Error::Away { id, holder, .. } => Some(json!({ "instance": id, "holder": holder })),
        Error::CannotResume {
            title,
            run,
            provider,
            reference,
            reason,
        } => Some(json!({
            "instance": title,
            "run_id": run,
            "provider": provider,
            "provider_session_ref": reference,
            "reason": reason,
        })),
        Error::Conflict { files } => Some(json!({ "files": files })),
        Error::Land(error) => land::details(error),
        Error::Host(error) => host::details(error),
        _ => None,
    }
}

fn appendix(error: &Error) -> Option<String> {
    match error {
        Error::AgentDied { last_words, .. } if !last_words.is_empty() => Some(last_words.clone()),
        Error::SetupFailed { output, .. } if !output.is_empty() => Some(output.clone()),
        Error::Land(error) => land::appendix(error),
        Error::Host(error) => host::appendix(error),
        _ => None,
    }
}
