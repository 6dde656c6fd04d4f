//! The set-up of a fresh worktree, as its repository asks for: files copied or linked, a command run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::RepositoryConfig;
use crate::engine::base::{Core, Error, Progress, now};
use crate::engine::operate::bring::Bringing;
use crate::engine::operate::environment::not_for_agents;
use crate::git::Repo;
use crate::model::{InstanceRecord, Timestamp};
use crate::process::{Command, Supervised};
use crate::store::{Durability, append_line, read_lines};

/// Long enough to install a project's dependencies.
const DEADLINE: Duration = Duration::from_secs(30 * 60);
const SHOWN_LINES: usize = 20;

/// The user's consent to a command that comes with a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Only what was consented to before.
    AsBefore,
    /// Now, and from now on for exactly this text.
    Given,
    /// Copy and link, but run nothing.
    Refused,
}

/// The set-up of one worktree, as it was read from the main checkout.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::engine) struct Wanted {
    source: PathBuf,
    copy: Vec<PathBuf>,
    link: Vec<PathBuf>,
    run: Option<String>,
}

/// A consent holds for the exact text of the command: any change asks again.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ConsentLine {
    repository: PathBuf,
    command: String,
    at: Timestamp,
}

impl Core {
    /// Reads what the repository wants, and refuses before anything is made if it is not allowed.
    pub(in crate::engine) fn wanted_setup(
        &self,
        repository: &Repo,
        consent: Consent,
    ) -> Result<Option<Wanted>, Error> {
        if repository.is_bare() {
            return Ok(None);
        }
        let setup = RepositoryConfig::load(repository.root())?.setup;
        if setup == Default::default() {
            return Ok(None);
        }
        let run = match (setup.run, consent) {
            (Some(command), Consent::Given) => {
                self.remember_consent(repository.root(), &command)?;
                Some(command)
            }
            (Some(command), Consent::AsBefore) => {
                if !self.has_consent(repository.root(), &command)? {
                    return Err(Error::ConsentNeeded { command });
                }
                Some(command)
            }
            (_, Consent::Refused) | (None, _) => None,
        };
        Ok(Some(Wanted {
            source: repository.root().to_owned(),
            copy: setup.copy,
            link: setup.link,
            run,
        }))
    }

    pub(in crate::engine) fn has_consent(
        &self,
        repository: &Path,
        command: &str,
    ) -> Result<bool, Error> {
        let (lines, _) = read_lines::<ConsentLine>(&self.consents())?;
        Ok(lines
            .iter()
            .any(|line| line.repository == repository && line.command == command))
    }

    pub(in crate::engine) fn remember_consent(
        &self,
        repository: &Path,
        command: &str,
    ) -> Result<(), Error> {
        if self.has_consent(repository, command)? {
            return Ok(());
        }
        let line = ConsentLine {
            repository: repository.to_owned(),
            command: command.to_owned(),
            at: now(),
        };
        Ok(append_line(&self.consents(), &line, Durability::Durable)?)
    }

    fn consents(&self) -> PathBuf {
        self.store.root().join("consents.jsonl")
    }
}

/// Brings over what is wanted, then runs the command.
pub(in crate::engine) fn perform(
    wanted: &Wanted,
    record: &InstanceRecord,
    grace: Duration,
    progress: &mut dyn Progress,
) -> Result<(), Error> {
    let worktree = &record.worktree.path;
    bring(wanted, record, progress)?;
    let Some(command) = &wanted.run else {
        return Ok(());
    };
    progress.note(&format!("running the repository's set-up: {command}"));
    let mut call = Command::new("sh")
        .args(["-c", command])
        .directory(worktree)
        .env("BIV_INSTANCE", record.id.as_str())
        .env("BIV_MAIN_CHECKOUT", &wanted.source)
        .deadline(DEADLINE);
    for name in not_for_agents() {
        call = call.env_remove(name);
    }
    let failed = |status: String, output: &str| {
        let lines: Vec<&str> = output.trim().lines().collect();
        Error::SetupFailed {
            command: command.clone(),
            status,
            output: lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n"),
        }
    };
    match call.supervise(&record.marker(), grace, &|| progress.is_interrupted())? {
        Supervised::Ended { status, .. } if status.success() => Ok(()),
        Supervised::Ended { status, said } => Err(failed(status.to_string(), &said)),
        Supervised::Interrupted(stopped) => {
            stopped?;
            Err(Error::Interrupted)
        }
        Supervised::TooLate(stopped) => {
            stopped?;
            let limit = humantime::format_duration(DEADLINE);
            Err(failed(format!("its time limit of {limit}"), ""))
        }
    }
}

/// Brings over the files that are wanted.
pub(in crate::engine) fn bring(
    wanted: &Wanted,
    record: &InstanceRecord,
    progress: &mut dyn Progress,
) -> Result<(), Error> {
    if wanted.copy.is_empty() && wanted.link.is_empty() {
        return Ok(());
    }
    let mut bringing = Bringing::new(&wanted.source, &record.worktree.path)?;
    bringing.bring(&wanted.copy, &wanted.link)?;
    for left_out in bringing.left_out {
        progress.note(&left_out);
    }
    Ok(())
}

/// Removes what an earlier set-up has brought over, so that the next one brings what there is now.
pub(in crate::engine) fn clear(wanted: &Wanted, record: &InstanceRecord) -> Result<(), Error> {
    Bringing::new(&wanted.source, &record.worktree.path)?.clear(&wanted.copy, &wanted.link)
}

/// Takes back the files that are as they were brought over.
pub(in crate::engine) fn take_back(wanted: &Wanted, record: &InstanceRecord) {
    if let Ok(bringing) = Bringing::new(&wanted.source, &record.worktree.path) {
        bringing.take_back(&wanted.copy, &wanted.link);
    }
}
