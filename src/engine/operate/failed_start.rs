//! An agent that ends in its first moments: the instance is taken back, unless there is work in it.

use crate::engine::base::progress::Silent;
use crate::engine::base::{Core, Error};
use crate::engine::operate::first_sign::{Sign, first_sign};
use crate::engine::operate::setup;
use crate::git::{self, AddWorktree, BranchPlan, Repo};
use crate::model::InstanceRecord;
use crate::process::stop_tree;
use crate::tmux::TmuxError;

impl Core {
    /// An agent that ends at once with an error has not begun to work. Unless it has left something in
    /// the worktree, the instance is removed, and the user gets the agent's last output.
    pub(super) fn watch_first_moments(
        &self,
        record: &InstanceRecord,
        setup: Option<&setup::Wanted>,
    ) -> Result<Sign, Error> {
        let Some(place) = &record.place else {
            return Ok(Sign::Death);
        };
        if first_sign(&place.agent) == Sign::Life {
            return Ok(Sign::Life);
        }
        let server = self.server_of(record);
        let code = match server.death_of(&place.pane)? {
            Some(death) => death.exit_code(),
            // A child of its own still has the terminal: it goes on.
            None if server.identity().is_some() => return Ok(Sign::Life),
            // It ended with its tmux server, which is not the agent's fault.
            None => return Err(TmuxError::NoServer.into()),
        };
        if code == 0 {
            return Ok(Sign::Death);
        }
        let last_words = crate::engine::watch::look::last_words(&server, &place.pane);
        self.undo_failed_start(record, setup)?;
        Err(Error::AgentDied { code, last_words })
    }

    pub(super) fn undo_failed_start(
        &self,
        record: &InstanceRecord,
        setup: Option<&setup::Wanted>,
    ) -> Result<(), Error> {
        // Files that the set-up has brought over do not count as work.
        if let Some(wanted) = setup {
            setup::take_back(wanted, record);
        }
        if self.is_untouched(record) {
            return self.remove_unused(record);
        }
        match setup {
            Some(wanted) => setup::bring(wanted, record, &mut Silent),
            None => Ok(()),
        }
    }

    fn is_untouched(&self, record: &InstanceRecord) -> bool {
        !record.worktree.adopted
            && Repo::discover(&record.repository.root)
                .and_then(|repository| {
                    let start = repository.resolve_in(&record.worktree.path, "HEAD")?;
                    git::diff_stat(&repository, &record.worktree.path, start.as_deref())
                })
                .is_ok_and(|stat| stat.files == 0)
    }

    /// Removes an instance that never did anything: no history, no snapshot.
    fn remove_unused(&self, record: &InstanceRecord) -> Result<(), Error> {
        let dir = self.store.instance(&record.id);
        let _lock = self.lock(&dir, record, "new")?;
        stop_tree(None, &record.marker(), self.settings().pause.stop)?;
        self.server_of(record).close_session(&record.id)?;
        let repository = Repo::discover(&record.repository.root)?;
        let _others_wait = self.lock_repository(record, "new")?;
        if let Some(plan) = plan_of(record) {
            repository.undo_add_worktree(&plan, None)?;
        }
        Ok(dir.forget()?)
    }
}

/// The plan by which the worktree of an instance was made.
fn plan_of(record: &InstanceRecord) -> Option<AddWorktree> {
    let branch = record.branch.as_ref()?;
    let name = branch.name.clone();
    Some(AddWorktree {
        path: record.worktree.path.clone(),
        branch: match &record.base.commit {
            Some(commit) if branch.made_by_us => BranchPlan::New {
                name,
                start_commit: commit.clone(),
            },
            _ => BranchPlan::Existing { name },
        },
        resume_partial: false,
        without_files: false,
    })
}
