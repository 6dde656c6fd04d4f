//! Recovery: every command first settles what a crash, an exit or a dead server has left behind.

use std::time::Duration;

use serde_json::json;

use crate::engine::base::resolve::{Found, Unread, require_here};
use crate::engine::base::{Core, Error, Scope, Silent, now, pace};
use crate::engine::operate::steps::fact;
use crate::model::{EventKind, InstanceId, InstanceRecord, RestingState, RunState, Timestamp};
use crate::store::{InstanceDir, LoadedInstance, Lock, StoreError};
use crate::tmux::Pane;

/// An instance under its lock.
#[derive(Debug)]
pub(in crate::engine) struct LockedInstance {
    pub dir: InstanceDir,
    pub record: InstanceRecord,
    pub lock: Lock,
}

/// An abandoned operation that could not be recovered now.
#[derive(Debug)]
pub(crate) struct Unfinished {
    pub title: String,
    pub error: Error,
}

impl Core {
    /// The named instance, settled: an abandoned operation was recovered, and an agent that has ended is
    /// recorded as ended.
    pub(in crate::engine) fn settled(&self, given: &str, scope: Scope) -> Result<Found, Error> {
        let look = |found: &Found| match found.record.state {
            RestingState::Running => {
                let pane = self.server_of(&found.record).pane_of(&found.record.id)?;
                Ok((pane, ()))
            }
            RestingState::Paused
            | RestingState::Completed
            | RestingState::Failed
            | RestingState::Interrupted
            | RestingState::Away
            | RestingState::Killed => Ok((None, ())),
        };
        self.settled_by(given, scope, look).map(|(found, ..)| found)
    }

    /// The same, by a look that finds the pane of a running agent, and whatever else the caller needs of it:
    /// each question to tmux is a process.
    pub(in crate::engine) fn settled_by<T>(
        &self,
        given: &str,
        scope: Scope,
        look: impl FnOnce(&Found) -> Result<(Option<Pane>, T), Error>,
    ) -> Result<(Found, Option<Pane>, T), Error> {
        self.undo_unfinished_creations();
        let found = self.find(given, scope)?;
        let found = self.recover_if_abandoned(found)?;
        let (pane, seen) = look(&found)?;
        let mut found = self.settle(found, pane.as_ref())?;
        self.follow(&mut found);
        Ok((found, pane, seen))
    }

    /// The named instance, settled and locked: no other process changes it until the lock is released. One that
    /// another machine has is refused.
    pub(in crate::engine) fn lock_instance(
        &self,
        given: &str,
        scope: Scope,
        purpose: &str,
    ) -> Result<LockedInstance, Error> {
        let held = self.lock_wherever(given, scope, purpose)?;
        require_here(&held.record)?;
        Ok(held)
    }

    /// The same, whoever has it.
    pub(in crate::engine) fn lock_wherever(
        &self,
        given: &str,
        scope: Scope,
        purpose: &str,
    ) -> Result<LockedInstance, Error> {
        let permit = pace::permit();
        self.undo_unfinished_creations();
        let Found { dir, record, .. } = self.find(given, scope)?;
        drop(permit);
        // Waits for another process, and recovers what a crash has left.
        let lock = self.lock(&dir, &record, purpose)?;
        let _permit = pace::permit();
        let mut record = dir.record()?;
        if record.state == RestingState::Running {
            let pane = self.server_of(&record).pane_of(&record.id)?;
            if pane.as_ref().is_none_or(|pane| pane.death.is_some()) {
                self.write_end(&dir, &mut record, pane.as_ref())?;
            }
        }
        Ok(LockedInstance { dir, record, lock })
    }

    /// Recovers every abandoned operation of this home, as far as possible now.
    pub(crate) fn recover_all(&self) -> Result<Vec<Unfinished>, Error> {
        self.undo_unfinished_creations();
        self.store.sweep_forgotten();
        let mut unfinished = Vec::new();
        for found in self.all(Scope::WithKilled)?.0 {
            let title = found.record.title.to_string();
            if let Err(error) = self.recover_if_abandoned(found) {
                unfinished.push(Unfinished { title, error });
            }
        }
        Ok(unfinished)
    }

    /// Settles all instances: abandoned operations are recovered, agents that have ended are recorded.
    /// tmux is asked once. Returns one line of text for each instance that could not be settled.
    pub(crate) fn settle_all(&self) -> Result<Vec<String>, Error> {
        let unfinished = self.recover_all()?;
        let running: Vec<Found> = self
            .all(Scope::Living)?
            .0
            .into_iter()
            .filter(|found| found.record.state == RestingState::Running)
            .collect();
        if !running.is_empty() {
            let panes = self.server().panes()?;
            for found in running {
                let pane = panes
                    .iter()
                    .find(|pane| pane.instance.as_ref() == Some(&found.record.id));
                self.settle(found, pane)?;
            }
        }
        Ok(unfinished
            .into_iter()
            .map(|unfinished| format!("{}: {}", unfinished.title, unfinished.error))
            .collect())
    }

    /// All instances that are not killed, settled as far as possible now; each is read once.
    pub(in crate::engine) fn list_settled(&self) -> Result<(Vec<Found>, Vec<Unread>), Error> {
        let stored = self.stored(Scope::WithKilled)?;
        for id in &stored.without_record {
            self.undo_unfinished_creation(id);
        }
        let (found, unreadable) = (stored.found, stored.unreadable);
        let mut living = Vec::new();
        for found in found {
            let found = match &found.journal {
                None => found,
                Some(_) => {
                    let id = found.record.id.clone();
                    match self.recover_if_abandoned(found) {
                        Ok(found) => found,
                        // Stuck, or gone: shown as it is on disk now.
                        Err(_) => match self.find(id.as_str(), Scope::WithKilled) {
                            Ok(found) => found,
                            Err(_) => continue,
                        },
                    }
                }
            };
            if found.record.state != RestingState::Killed {
                living.push(found);
            }
        }
        Ok((living, unreadable))
    }

    /// Takes back creations that were cut off before there was a record.
    fn undo_unfinished_creations(&self) {
        for id in self.store.ids().unwrap_or_default() {
            if !self.store.instance(&id).has_record() {
                self.undo_unfinished_creation(&id);
            }
        }
    }

    fn undo_unfinished_creation(&self, id: &InstanceId) {
        let dir = self.store.instance(id);
        // A process that is making it now holds the lock.
        let Ok(lock) = dir.try_lock_operation("recovery") else {
            return;
        };
        match dir.load() {
            LoadedInstance::Unborn { journal } => {
                if let Ok(Some(record)) = journal.facts.read(fact::RECORD) {
                    // What cannot be taken back now is tried again by the next command.
                    let undone = self.recover_operation(&lock, &dir, record, *journal, &mut Silent);
                    if let Err(error) = undone {
                        tracing::debug!(%error, instance = %id, "take back a creation");
                    }
                }
            }
            // Claimed and still empty: the process that claimed it has died, or is between the claim
            // and the journal. In that case it holds the names lock.
            LoadedInstance::Unreadable(error) if is_empty(&error) => {
                if let Ok(_names) = self.store.lock("names", Duration::ZERO, "recovery")
                    && let LoadedInstance::Unreadable(error) = dir.load()
                    && is_empty(&error)
                {
                    // An empty directory that stays is removed by the next command.
                    drop(dir.forget());
                }
            }
            LoadedInstance::Known { .. } | LoadedInstance::Unreadable(_) => {}
        }
    }

    fn recover_if_abandoned(&self, found: Found) -> Result<Found, Error> {
        let Some(journal) = found.journal else {
            return Ok(Found {
                journal: None,
                ..found
            });
        };
        let lock = match found.dir.try_lock_operation("recovery") {
            Ok(lock) => lock,
            // Not abandoned: it is under way.
            Err(StoreError::Busy { .. }) => {
                return Ok(Found {
                    journal: Some(journal),
                    ..found
                });
            }
            Err(_) if !found.dir.path.exists() => return Err(gone(&found.record)),
            Err(error) => return Err(error.into()),
        };
        // It may have ended between the look and the lock.
        let Some(journal) = found.dir.journal().read_open()? else {
            return Ok(Found {
                record: found.dir.record()?,
                dir: found.dir,
                journal: None,
            });
        };
        let operation = journal.plan.operation;
        let record = found.dir.record()?;
        let record = self.recover_operation(&lock, &found.dir, record, journal, &mut Silent)?;
        if operation.makes_instance() && !found.dir.has_record() {
            return Err(gone(&record));
        }
        Ok(Found {
            dir: found.dir,
            record,
            journal: None,
        })
    }

    /// Records that an agent has ended, with its exit status and its last screen, because the tmux server
    /// that has both may be gone later.
    pub(in crate::engine) fn settle(
        &self,
        found: Found,
        pane: Option<&Pane>,
    ) -> Result<Found, Error> {
        let Found {
            dir,
            mut record,
            journal,
        } = found;
        let alive = pane.is_some_and(|pane| pane.death.is_none());
        if journal.is_some() || record.state != RestingState::Running || alive {
            return Ok(Found {
                dir,
                record,
                journal,
            });
        }
        // If it cannot be written (busy, read-only), the view is right and the next command writes it.
        let lock = dir.try_lock_operation("settle");
        if let Ok(_lock) = &lock
            && let Ok(on_disk) = dir.record()
            && on_disk.state == RestingState::Running
        {
            record = on_disk;
            if let Err(error) = self.write_end(&dir, &mut record, pane) {
                tracing::debug!(%error, instance = %record.id, "record the end of an agent");
            }
        }
        record.state = end_of(pane).0;
        Ok(Found {
            dir,
            record,
            journal,
        })
    }

    fn write_end(
        &self,
        dir: &InstanceDir,
        record: &mut InstanceRecord,
        pane: Option<&Pane>,
    ) -> Result<(), Error> {
        let (state, exit_code) = end_of(pane);
        record.state = state;
        if let Some(at) = pane.and_then(|pane| Timestamp::from_epoch(pane.active_at)) {
            record.last_active_at = record.last_active_at.max(at);
        }
        let mut farewell = None;
        let mut last_words = None;
        let was_busy = crate::engine::watch::live::was_busy(dir);
        if pane.is_none() {
            let history = usize::try_from(self.settings().terminal.history).unwrap_or(usize::MAX);
            if let Some(saved) = crate::engine::watch::live::last_saved(dir) {
                record.draft = record.unsent_with(self.draft_saved(dir, record, &saved));
            }
            let saved = crate::engine::watch::live::keep_live(dir, history)?;
            let active = saved.and_then(|saved| Timestamp::from_epoch(saved.active_at));
            // tmux knew when it was active last; without a daemon only its own files tell.
            let told = [active, self.last_written(dir, record)];
            let latest = told.into_iter().flatten().max();
            record.last_active_at =
                latest.map_or(record.last_active_at, |at| at.max(record.last_active_at));
        }
        if let Some(pane) = pane {
            let server = self.server_of(record);
            crate::engine::watch::archive::archive(
                &server,
                pane,
                dir,
                self.scrollback_lines(pane),
            )?;
            last_words = Some(crate::engine::watch::look::last_words(&server, &pane.id));
            farewell = self
                .provider_of(record)?
                .farewell(last_words.as_deref().unwrap_or_default());
        }
        // The agent's last conversation: `/clear` or `/new` may have changed it since the last look.
        if let Some(reference) = farewell.or_else(|| self.trace(dir, record).found()) {
            record.session_ref = Some(reference);
        }
        // The end of the agent is recorded also where its queue cannot be read.
        if record.state != RestingState::Completed
            && let Err(error) = self.hold_queue_after_end(dir, record, was_busy)
        {
            tracing::warn!(%error, instance = %record.id, "hold its queue");
        }
        record.updated_at = now();
        if record.state == RestingState::Interrupted {
            record.interrupted_at = Some(record.updated_at);
        }
        dir.save(record)?;
        let (run_state, kind) = match record.state {
            RestingState::Completed => (RunState::Completed, EventKind::Completed),
            RestingState::Interrupted => (RunState::Interrupted, EventKind::Interrupted),
            _ => (RunState::Failed, EventKind::Failed),
        };
        let mut run = dir.run(&record.run)?;
        run.state = run_state;
        run.exit_code = exit_code;
        run.provider_session_ref.clone_from(&record.session_ref);
        run.resumable = self.is_resumable(record);
        run.updated_at = record.updated_at;
        dir.save_run(&run)?;
        let data = match record.state {
            RestingState::Interrupted => json!({}),
            _ => json!({ "exit_code": exit_code, "last_words": last_words }),
        };
        self.emit(kind, record, data);
        Ok(())
    }

    /// The lock under which an instance is changed. The error names the process that holds it.
    pub(in crate::engine) fn lock(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        purpose: &str,
    ) -> Result<Lock, Error> {
        let lock = dir.lock_operation(purpose).map_err(|error| match error {
            StoreError::Busy { holder, .. } => Error::Busy {
                title: record.title.clone(),
                holder,
            },
            StoreError::Io { .. } if !dir.path.exists() => gone(record),
            other => other.into(),
        })?;
        // Under the lock an open journal can only be an abandoned one.
        if let Some(journal) = dir.journal().read_open()? {
            self.recover_operation(&lock, dir, dir.record()?, journal, &mut Silent)?;
        }
        // Every operation ends by writing the run, so an unreadable one is an error before anything is done.
        dir.run(&dir.record()?.run)?;
        Ok(lock)
    }
}

/// The error for an instance that was removed since it was found.
fn gone(record: &InstanceRecord) -> Error {
    Error::NoSuchInstance {
        given: record.title.to_string(),
    }
}

/// Whether a directory has neither record nor journal.
fn is_empty(error: &StoreError) -> bool {
    error.is_missing_file()
}

/// How an agent ended, by its pane. Panes outlive their programs: a pane that is gone was removed with
/// its session, its server or its machine, so the agent itself did not fail.
fn end_of(pane: Option<&Pane>) -> (RestingState, Option<i32>) {
    let exit_code = pane.and_then(|pane| Some(pane.death?.exit_code()));
    let state = match exit_code {
        Some(0) => RestingState::Completed,
        Some(_) => RestingState::Failed,
        None => RestingState::Interrupted,
    };
    (state, exit_code)
}
