//! What a repository wants done in each fresh worktree: files copied or linked, a command run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::core::now;
use super::{Engine, Error, Progress};
use crate::config::RepositoryConfig;
use crate::git::Repo;
use crate::model::{InstanceRecord, Timestamp};
use crate::process::Command;
use crate::store::{Tail, append_line, read_lines};

pub(super) const FACT: &str = "setup";
/// Installing what a project needs can take its time.
const DEADLINE: Duration = Duration::from_secs(30 * 60);
const SHOWN_LINES: usize = 20;

/// What the user says to a command that comes with a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Only what was consented to before.
    AsBefore,
    /// Now, and from now on for this very text.
    Given,
    /// Copy and link, but run nothing.
    Refused,
}

/// The set-up of one worktree, as it was read from the main checkout.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Wanted {
    source: PathBuf,
    copy: Vec<PathBuf>,
    link: Vec<PathBuf>,
    run: Option<String>,
}

/// A consent is bound to the command's exact text: whatever changes in it asks anew.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ConsentLine {
    repository: PathBuf,
    command: String,
    at: Timestamp,
}

impl Engine {
    /// Reads what the repository wants, and refuses before anything is made if it is not allowed.
    pub(super) fn wanted_setup(
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

    fn has_consent(&self, repository: &Path, command: &str) -> Result<bool, Error> {
        let (lines, _) = read_lines::<ConsentLine>(&self.consents())?;
        Ok(lines
            .iter()
            .any(|line| line.repository == repository && line.command == command))
    }

    fn remember_consent(&self, repository: &Path, command: &str) -> Result<(), Error> {
        if self.has_consent(repository, command)? {
            return Ok(());
        }
        let line = ConsentLine {
            repository: repository.to_owned(),
            command: command.to_owned(),
            at: now(),
        };
        Ok(append_line(&self.consents(), &line, Tail::Durable)?)
    }

    fn consents(&self) -> PathBuf {
        self.store.root().join("consents.jsonl")
    }
}

pub(super) fn perform(
    wanted: &Wanted,
    record: &InstanceRecord,
    progress: &mut dyn Progress,
) -> Result<(), Error> {
    let worktree = &record.worktree.path;
    for path in &wanted.copy {
        bring(&wanted.source.join(path), &worktree.join(path), copy_all)?;
    }
    for path in &wanted.link {
        bring(
            &wanted.source.join(path),
            &worktree.join(path),
            |from, to| std::os::unix::fs::symlink(from, to),
        )?;
    }
    let Some(command) = &wanted.run else {
        return Ok(());
    };
    progress.note(&format!("running the repository's set-up: {command}"));
    let output = Command::new("sh")
        .args(["-c", command])
        .directory(worktree)
        .env("BIV_INSTANCE", record.id.as_str())
        .env("BIV_MAIN_CHECKOUT", &wanted.source)
        .env_remove("TMUX")
        .env_remove("TMUX_PANE")
        .deadline(DEADLINE)
        .output()?;
    if output.success() {
        return Ok(());
    }
    let said = [output.stdout_text(), output.stderr_text()].join("\n");
    let lines: Vec<&str> = said.trim().lines().collect();
    Err(Error::SetupFailed {
        command: command.clone(),
        status: output.status.to_string(),
        output: lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n"),
    })
}

/// Brings one file or directory over, where the main checkout has it and the worktree does not:
/// what is tracked is there already, and nothing is ever overwritten.
fn bring(
    from: &Path,
    to: &Path,
    by: impl FnOnce(&Path, &Path) -> std::io::Result<()>,
) -> Result<(), Error> {
    if from.symlink_metadata().is_err() || to.symlink_metadata().is_ok() {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).map_err(Error::files("make", parent))?;
    }
    by(from, to).map_err(Error::files("bring over", to))
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    let metadata = from.symlink_metadata()?;
    if metadata.is_symlink() {
        return std::os::unix::fs::symlink(std::fs::read_link(from)?, to);
    }
    if !metadata.is_dir() {
        return std::fs::copy(from, to).map(|_| ());
    }
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    std::fs::set_permissions(to, metadata.permissions())
}
