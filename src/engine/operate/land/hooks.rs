//! The repository's commit hooks on a commit that a landing makes: only with the user's consent.
//!
//! They run in a checkout of our own, with the result staged, as they would before the user's own `git commit`
//! or `git merge`. Which hooks there are is said by the user's repository and its main checkout, never by the
//! work that lands: an agent must not choose what runs here.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::engine::base::{Core, Error, LandError, Progress};
use crate::git::Repo;
use crate::git::landing::{HookOutcome, Hooks, MadeCommit};
use crate::model::{InstanceId, InstanceRecord, last_lines, printable};

const SHOWN_LINES: usize = 20;
/// Where the checkouts of hooks are, below the state directory.
const SCRATCH: &str = "scratch";

impl Core {
    fn remove_scratch(
        &self,
        record: &InstanceRecord,
        repository: &Repo,
        path: &Path,
    ) -> Result<(), Error> {
        let _lock = self.lock_repository(record, "land")?;
        Ok(repository.remove_scratch(path)?)
    }

    fn scratch_dir(&self) -> PathBuf {
        self.home.state.join(SCRATCH)
    }

    /// Deletes the checkouts of hooks whose process is gone.
    pub(in crate::engine) fn sweep_scratch(&self) {
        let entries = std::fs::read_dir(self.scratch_dir());
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(id) = name.to_str().and_then(InstanceId::parse) else {
                continue;
            };
            let dir = self.store.instance(&id);
            let (Ok(_lock), Ok(record)) = (dir.try_lock_operation("sweep"), dir.record()) else {
                continue;
            };
            let swept = Repo::discover(&record.repository.root)
                .map_err(Error::from)
                .and_then(|repository| self.remove_scratch(&record, &repository, &entry.path()));
            if let Err(error) = swept {
                tracing::debug!(error = %error.told(), instance = %id, "sweep a checkout of hooks");
            }
        }
    }
}

/// Where and whether hooks run on the commits of one landing.
pub(super) struct LandHooks<'a> {
    core: &'a Core,
    record: &'a InstanceRecord,
    repository: &'a Repo,
    /// What the user has said: run them, or only say that they do not run.
    consent: bool,
    /// Those that did not run.
    skipped: RefCell<Vec<&'static str>>,
}

impl<'a> LandHooks<'a> {
    pub(super) fn new(
        core: &'a Core,
        record: &'a InstanceRecord,
        repository: &'a Repo,
        consent: bool,
    ) -> Self {
        Self {
            core,
            record,
            repository,
            consent,
            skipped: RefCell::default(),
        }
    }

    /// Tree and message of a commit on top of `parent`, as the hooks leave them.
    pub(super) fn settle(
        &self,
        made: MadeCommit,
        parent: &str,
        tree: String,
        message: String,
    ) -> Result<(String, String), Error> {
        let hooks = self.repository.commit_hooks(made)?;
        if hooks.names.is_empty() {
            return Ok((tree, message));
        }
        if !self.consent {
            let mut skipped = self.skipped.borrow_mut();
            for name in hooks.names {
                if !skipped.contains(&name) {
                    skipped.push(name);
                }
            }
            return Ok((tree, message));
        }
        let path = self.core.scratch_dir().join(self.record.id.as_str());
        {
            let _lock = self.core.lock_repository(self.record, "land")?;
            self.repository.remove_scratch(&path)?;
            self.repository.add_scratch(&path, parent)?;
        }
        let ran = self.run(&hooks, &path, &tree, &message);
        self.core
            .remove_scratch(self.record, self.repository, &path)?;
        ran
    }

    fn run(
        &self,
        hooks: &Hooks,
        path: &Path,
        tree: &str,
        message: &str,
    ) -> Result<(String, String), Error> {
        let limit = self.core.settings().land.check_timeout;
        match self
            .repository
            .run_hooks(hooks, path, tree, message, limit)?
        {
            HookOutcome::Passed { tree, message } => Ok((tree, message)),
            HookOutcome::Refused { hook, said } => Err(LandError::HookFailed {
                title: self.record.title.clone(),
                hook: hook.to_owned(),
                output: printable(last_lines(said.trim_end(), SHOWN_LINES)),
            }
            .into()),
        }
    }

    /// Says which hooks did not run.
    pub(super) fn tell(&self, progress: &mut dyn Progress) {
        let skipped = self.skipped.borrow();
        if !skipped.is_empty() {
            progress.note(&format!(
                "the repository's hooks do not run on a landing: {} (`land.hooks = true` runs them)",
                skipped.join(", ")
            ));
        }
    }
}
