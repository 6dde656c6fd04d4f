//! Pauses an instance: its work is saved and nothing of it runs any more.

use serde_json::json;

use crate::config::WorktreeOnPause;
use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Progress, Scope, pace};
use crate::engine::operate::options::{CANCEL, PauseOptions, StateChange};
use crate::engine::operate::recover::LockedInstance;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Prepared;
use crate::git::{self, Checkout, Repo};
use crate::lifecycle::{Facts, Operation, Plan, Step};
use crate::model::{EventKind, InstanceRecord, RestingState};
use crate::vault::{self, Why};

impl Core {
    pub(crate) fn pause(
        &self,
        given: &str,
        options: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Result<StateChange, Error> {
        self.prepare()?;
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = self.lock_instance(given, Scope::Living, "pause")?;
        match record.state {
            RestingState::Running => {}
            RestingState::Paused => {
                return Ok(StateChange::Already(Box::new(self.view_at_rest(&record))));
            }
            RestingState::Completed
            | RestingState::Failed
            | RestingState::Interrupted
            | RestingState::Away
            | RestingState::Killed => {
                return Err(Error::WrongState {
                    verb: "pause",
                    title: record.title,
                    state: record.state.into(),
                });
            }
        }
        let permit = pace::permit();
        let repository = self.require_repository(&dir, &mut record, progress)?;
        // Writing new files to the disk, after a build for example, can take longer than the rest of a pause.
        git::begin_sync(&[&record.worktree.path, &record.repository.common_dir]);
        let prepared = self.refuse_what_cannot_be_kept(repository, &record, options, progress)?;
        self.withdraw_cancellation(&dir);
        self.emit(
            EventKind::Pausing,
            &record,
            json!({ "reason": options.reason }),
        );
        let facts = Facts::none().with(fact::PAUSE, options);
        let journal = self.begin_journal(&dir, Plan::pause(), facts)?;
        drop(permit);
        let record = self.carry_out_prepared(&lock, &dir, journal, record, prepared, progress)?;
        Ok(StateChange::Done(Box::new(self.view_at_rest(&record))))
    }

    /// Takes back a pause that still waits for the agent's turn to end.
    pub(crate) fn cancel_pause(&self, given: &str) -> Result<InstanceView, Error> {
        let found = self.settled(given, Scope::Living)?;
        let waiting = found.journal.as_ref().is_some_and(|journal| {
            journal.plan.operation == Operation::Pause && !journal.is_done(Step::Quiesce)
        });
        if !waiting {
            return Err(Error::WrongState {
                verb: "take back a pause of",
                title: found.record.title.clone(),
                state: crate::engine::base::resolve::state_of(
                    &found.record,
                    found.journal.as_ref(),
                ),
            });
        }
        let request = found.dir.path.join(CANCEL);
        std::fs::write(&request, b"cancel\n").map_err(Error::files("write", &request))?;
        // The pausing process takes its pause back and releases the lock.
        let _lock = found
            .dir
            .lock_operation("cancel")
            .map_err(|error| match error {
                crate::store::StoreError::Busy { holder, .. } => Error::Busy {
                    title: found.record.title.clone(),
                    holder,
                },
                other => other.into(),
            })?;
        self.withdraw_cancellation(&found.dir);
        self.show(found.record.id.as_str())
    }

    pub(in crate::engine) fn withdraw_cancellation(&self, dir: &crate::store::InstanceDir) {
        // Usually the file does not exist.
        drop(std::fs::remove_file(dir.path.join(CANCEL)));
    }

    /// Names what cannot be saved before anything is stopped.
    pub(in crate::engine) fn refuse_what_cannot_be_kept(
        &self,
        repository: Repo,
        record: &InstanceRecord,
        options: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Result<Prepared, Error> {
        if !record.worktree.path.is_dir() {
            return Err(Error::WorktreeMissing {
                path: record.worktree.path.clone(),
            });
        }
        let checkout = Checkout::live(&repository, &record.worktree.path)?;
        let preflight = vault::preflight(&repository, &checkout)?;
        if preflight.shortage.is_some() {
            return Err(Error::Space {
                path: record.repository.common_dir.clone(),
            });
        }
        let named = |unsavable: &vault::Unsavable| {
            format!("{} ({})", unsavable.path.display(), unsavable.why.name())
        };
        // A parked directory keeps everything except mounts; a thinned one keeps on disk what cannot be
        // stored.
        let refused: Vec<String> = preflight
            .unsavable
            .iter()
            .filter(|unsavable| {
                unsavable.why == Why::Mount && options.worktree != WorktreeOnPause::Keep
            })
            .map(named)
            .collect();
        if !refused.is_empty() {
            return Err(Error::Unsavable { unsavable: refused });
        }
        for unsavable in &preflight.unsavable {
            progress.note(&format!("{} is kept on disk only", named(unsavable)));
        }
        Ok(Prepared {
            repository,
            ahead: preflight.ahead,
            arrival: None,
            changes: None,
        })
    }
}
