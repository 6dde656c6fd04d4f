//! Kills an instance, and undoes it.

use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::options::{KillOptions, KillOrder};
use crate::engine::operate::recover::LockedInstance;
use crate::engine::operate::steps::fact;
use crate::lifecycle::{Facts, Plan};
use crate::model::{Activity, InstanceRecord, RestingState, Title};

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
        let formerly = self.revive(&dir, &mut record)?;
        drop(lock);
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
}
