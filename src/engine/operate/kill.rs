//! Kills an instance, and undoes it.

use serde_json::json;

use crate::engine::base::saved::SavedWork;
use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Progress, Scope, now};
use crate::engine::operate::names::NAMES_WAIT;
use crate::engine::operate::options::{KillOptions, KillOrder};
use crate::engine::operate::recover::LockedInstance;
use crate::engine::operate::steps::fact;
use crate::lifecycle::{Facts, Plan};
use crate::model::{
    Activity, EventKind, InstanceRecord, Pause, PauseReason, RestingState, RunState, Title,
};
use crate::vault::{self, ParkState};

/// A killed instance.
#[derive(Debug)]
pub(crate) struct Killed {
    pub view: InstanceView,
    /// Whether `undo-kill` can bring it back.
    pub kept: bool,
}

/// A killed instance that is back.
#[derive(Debug)]
pub(crate) struct Restored {
    pub view: InstanceView,
    /// Its title before, which another instance has now.
    pub formerly: Option<Title>,
}

impl Core {
    /// Ends session, processes and worktree. The work is saved first and can be brought back.
    pub(crate) fn kill(
        &self,
        given: &str,
        options: KillOptions,
        progress: &mut dyn Progress,
    ) -> Result<Killed, Error> {
        self.prepare()?;
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = self.lock_instance(given, Scope::Living, "kill")?;
        let leave_worktree = self
            .require_repository(&dir, &mut record, progress)
            .is_err();
        if leave_worktree {
            progress.note(&format!(
                "the repository {} is away; the files stay at {}",
                record.repository.root.display(),
                record.worktree.path.display()
            ));
        }
        let order = KillOrder {
            delete_branch: options.delete_branch,
            leave_worktree,
            busy: self.is_busy(&record),
        };
        let facts = Facts::none().with(fact::KILL, &order);
        let record = self.operate(&lock, &dir, record, Plan::kill(), facts, progress)?;
        Ok(Killed {
            kept: self.require_kept(&record).is_ok(),
            view: self.view_at_rest(&record),
        })
    }

    /// Restores a killed instance as paused, as long as its work is kept. If its title is taken by now, it
    /// gets a free one; if its branch is taken, it stays killed.
    pub(crate) fn undo_kill(&self, given: &str) -> Result<Restored, Error> {
        self.prepare()?;
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = self.lock_instance(given, Scope::Killed, "undo-kill")?;
        if record.state != RestingState::Killed {
            return Err(Error::WrongState {
                verb: "bring back",
                title: record.title,
                state: record.state.into(),
            });
        }
        self.require_kept(&record)?;
        let names = self.store.lock("names", NAMES_WAIT, "undo-kill")?;
        if let Some(branch) = &record.branch {
            self.require_branch_free(&record.repository.common_dir, &branch.name)?;
        }
        let title = self.free_title(&record.title)?;
        let before = std::mem::replace(&mut record.title, title);
        let formerly = Some(before).filter(|before| *before != record.title);
        let at = now();
        let vault = SavedWork::of(&record)?;
        record.state = RestingState::Paused;
        record.updated_at = at;
        record.paused_at = record.paused_at.or(record.killed_at);
        let killed_at = record.killed_at.take().unwrap_or(at);
        record.paused_at = record
            .pause
            .as_ref()
            .map(|pause| pause.at)
            .or(record.paused_at);
        let work_state = self.work_state(&dir, &record);
        // Nothing was saved of one that had ended, or that an older biv has killed.
        record.pause = record.pause.or_else(|| {
            Some(Pause {
                at: killed_at,
                reason: PauseReason::User,
                snapshot: vault.snapshot.map(|snapshot| snapshot.reference),
                scrollback_lines: 0,
                last_action: work_state.last_action,
                pending_tasks: work_state.pending_tasks,
                summary: work_state.summary,
                forced: false,
            })
        });
        dir.save(&mut record)?;
        // The names are on disk now, so other processes can see them.
        drop(names);
        let mut run = dir.run(&record.run)?;
        run.state = RunState::Paused;
        run.paused_at = record.paused_at;
        run.pause_reason = Some(PauseReason::User);
        run.updated_at = at;
        dir.save_run(&run)?;
        drop(lock);
        self.emit(
            EventKind::Paused,
            &record,
            json!({ "reason": "user", "undo_kill": true }),
        );
        Ok(Restored {
            view: self.with_changes(self.view_at_rest(&record)),
            formerly,
        })
    }

    /// Whether its agent is in the middle of a turn.
    fn is_busy(&self, record: &InstanceRecord) -> bool {
        let Some(place) = record
            .place
            .as_ref()
            .filter(|_| record.state == RestingState::Running)
        else {
            return false;
        };
        // An agent that cannot be looked at is ended all the same.
        let shot = crate::engine::watch::look::look(&self.server_of(record), &place.pane);
        shot.is_ok_and(|shot| self.verdict(record, shot.as_ref(), None).activity == Activity::Busy)
    }

    fn require_kept(&self, record: &InstanceRecord) -> Result<(), Error> {
        let kept = match &SavedWork::of(record)?.parking {
            Some(place) => vault::park_state(place).is_ok_and(|state| state != ParkState::Lost),
            // An adopted worktree was left in place.
            None => record.worktree.path.is_dir(),
        };
        if kept {
            Ok(())
        } else {
            Err(Error::NothingKept {
                title: record.title.clone(),
            })
        }
    }
}
