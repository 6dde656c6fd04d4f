//! Makes a worktree, sets it up, parks it, thins it.

use std::path::Path;

use crate::config::WorktreeOnPause;
use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Error, now};
use crate::engine::operate::setup;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::{Work, leaves_worktree};
use crate::git::{self, AddWorktree, GitError};
use crate::lifecycle::{Facts, Operation};
use crate::vault::{self, BranchPosition, Left, ParkingPlace, SnapshotFact};

impl Work<'_> {
    pub(super) fn intend_add_worktree(&self, facts: &Facts) -> Result<Facts, Error> {
        let Some(plan) = facts.read(fact::WORKTREE_PLAN)? else {
            return Ok(Facts::none());
        };
        let plan = AddWorktree {
            resume_partial: self.recovering,
            ..plan
        };
        Ok(Facts::none().with(fact::WORKTREE_PLAN, &plan))
    }

    pub(super) fn add_worktree(&mut self, facts: &Facts) -> Result<Facts, Error> {
        // An adopted worktree is there already.
        let Some(plan) = facts.read(fact::WORKTREE_PLAN)? else {
            return Ok(Facts::none());
        };
        if let Some(known) = facts.read(fact::REPOSITORY)? {
            self.repository.get_or_init(|| known);
        }
        let repository = self.repository()?;
        if let Some(parent) = plan.path.parent() {
            std::fs::create_dir_all(parent).map_err(Error::files("make", parent))?;
        }
        let _lock = self.lock_repository()?;
        let made = repository.add_worktree(&plan)?;
        Ok(Facts::none().with(fact::WORKTREE, &made))
    }

    pub(super) fn undo_add_worktree(&mut self, facts: &Facts) -> Result<(), Error> {
        let Some(plan) = facts.read(fact::WORKTREE_PLAN)? else {
            return Ok(());
        };
        let made = facts.read(fact::WORKTREE)?;
        let _lock = self.lock_repository()?;
        match self.repository()?.undo_add_worktree(&plan, made.as_ref())? {
            git::Undone::Removed => {}
            git::Undone::MovedAside { to } => self.progress.note(&format!(
                "the unfinished worktree held files and was moved to {}",
                to.display()
            )),
            git::Undone::LeftAlone => self.progress.note(&format!(
                "{} was not made by biv and was left alone",
                plan.path.display()
            )),
        }
        Ok(())
    }

    pub(super) fn setup_worktree(&mut self, facts: &Facts) -> Result<Facts, Error> {
        if let Some(wanted) = facts.read(fact::SETUP)? {
            let grace = self.core.settings().pause.stop;
            setup::perform(&wanted, &self.record, grace, self.progress)?;
        }
        Ok(Facts::none())
    }

    /// Ends what the set-up has left running, before its directory goes, and takes back what was brought
    /// over, so that nothing but work is left.
    pub(super) fn undo_setup_worktree(&mut self, facts: &Facts) -> Result<(), Error> {
        if let Some(wanted) = facts.read(fact::SETUP)? {
            self.stop_survivors()?;
            setup::take_back(&wanted, &self.record);
        }
        Ok(())
    }

    pub(super) fn intend_free_worktree(&self, facts: &Facts) -> Result<Facts, Error> {
        let stays = self.worktree_wish(facts)? == WorktreeOnPause::Keep;
        // The worktree of a paused instance is parked already.
        if stays || self.is_put_away()? || facts.has(fact::PARKING) {
            return Ok(Facts::none());
        }
        let number = facts.read(fact::SNAPSHOT_NUMBER)?.unwrap_or(0);
        let place = vault::choose_parking(
            &self.repository()?,
            &self.record.worktree.path,
            &self.record.id,
            number,
        )?;
        Ok(Facts::none().with(fact::PARKING, &place))
    }

    pub(super) fn free_worktree(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(place) = facts.read(fact::PARKING)? else {
            self.deregister_lost(facts)?;
            return self.give_back(facts);
        };
        {
            let _lock = self.lock_repository()?;
            vault::park(&place)?;
        }
        self.save_late_changes(&place, facts)
    }

    /// Git still counts the branch of a deleted worktree as checked out; killing the instance ends that.
    fn deregister_lost(&self, facts: &Facts) -> Result<(), Error> {
        let killed = facts.has(fact::KILL) && !leaves_worktree(facts)?;
        let path = &self.record.worktree.path;
        if killed && !path.exists() && SavedWork::of(&self.record)?.parking.is_none() {
            let _lock = self.lock_repository()?;
            self.repository()?.deregister_missing(path)?;
        }
        Ok(())
    }

    /// An adopted worktree that a pause has parked goes back to its place when its instance is killed.
    /// If something is in the way there, it stays parked.
    fn give_back(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let killed = facts.has(fact::KILL) && !leaves_worktree(facts)?;
        if !killed || !self.record.worktree.adopted {
            return Ok(Facts::none());
        }
        let SavedWork {
            snapshot: Some(snapshot),
            parking: Some(place),
            ..
        } = SavedWork::of(&self.record)?
        else {
            return Ok(Facts::none());
        };
        match self.put_in_place(&place, &snapshot) {
            Ok(()) => Ok(Facts::none().with(fact::GIVEN_BACK, &true)),
            Err(error) => {
                self.progress.note(&format!(
                    "{} stays put away: {error}",
                    place.worktree.display()
                ));
                Ok(Facts::none())
            }
        }
    }

    fn put_in_place(&self, place: &ParkingPlace, snapshot: &SnapshotFact) -> Result<(), Error> {
        let repository = self.repository()?;
        let _lock = self.lock_repository()?;
        match vault::branch_position(&repository, snapshot)? {
            BranchPosition::Elsewhere { branch, path } if path != place.worktree => {
                return Err(GitError::BranchInUse { name: branch, path }.into());
            }
            BranchPosition::Deleted { branch, was } => repository.create_branch(&branch, &was)?,
            // Moved: its files show as changes against where the branch is now; nothing is written.
            BranchPosition::Elsewhere { .. }
            | BranchPosition::Same
            | BranchPosition::Moved { .. } => {}
        }
        vault::check_unpark(place)?;
        vault::refill(&repository, place)?;
        vault::unpark(place)?;
        vault::bring_objects_back(&repository, snapshot)?;
        Ok(vault::settle_refill(&repository, &place.live_checkout())?)
    }

    /// Frees the disk: what git cannot reproduce is stored first, what is deleted without a copy is
    /// named. This is a separate step: once files are deleted, the rest must not be saved as the work.
    pub(super) fn thin_worktree(&mut self, facts: &Facts) -> Result<Facts, Error> {
        if facts.has(fact::UNSETTLED) {
            self.progress.note(
                "the disk is not freed while another process writes; `biv gc` can do it later",
            );
            return Ok(Facts::none());
        }
        let place = facts.read(fact::PARKING)?;
        let snapshot = facts.read(fact::SNAPSHOT)?;
        let (Some(place), Some(snapshot), WorktreeOnPause::Remove) =
            (place, snapshot, self.worktree_wish(facts)?)
        else {
            return Ok(Facts::none());
        };
        let policy = self.core.thin_policy();
        let report = self.repository().and_then(|repository| {
            Ok(vault::thin(&repository, &place, &snapshot, &policy, now())?)
        });
        let left = match report {
            Ok(report) => {
                for (path, bytes) in &report.dropped {
                    self.progress.note(&format!(
                        "{} ({bytes} bytes) was let go to free the disk",
                        path.display()
                    ));
                }
                report.left
            }
            // The work is parked completely already, so a failure to thin does not stop the operation.
            Err(error) => vec![Left::new(Path::new("."), error.to_string())],
        };
        if left.is_empty() {
            return Ok(Facts::none());
        }
        self.progress.note(&left_on_disk(&left));
        Ok(Facts::none().with(fact::LEFT, &left))
    }

    /// What to do with the worktree. An adopted one is not ours: killing the instance leaves it.
    fn worktree_wish(&self, facts: &Facts) -> Result<WorktreeOnPause, Error> {
        Ok(match facts.read(fact::PAUSE)? {
            Some(options) => options.worktree,
            // It rests here until it is handed over, and may be replaced before that.
            None if self.operation == Operation::Return => WorktreeOnPause::Park,
            None if self.record.worktree.adopted || leaves_worktree(facts)? => {
                WorktreeOnPause::Keep
            }
            None => WorktreeOnPause::Park,
        })
    }

    /// Deletes the branch: only one that biv made, only on request, and only if it is still at the
    /// commit of the snapshot, because later commits exist nowhere else.
    pub(super) fn delete_branch(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let wanted = facts
            .read(fact::KILL)?
            .is_some_and(|order| order.delete_branch && !order.leave_worktree);
        let branch = self
            .record
            .branch
            .clone()
            .filter(|branch| branch.made_by_us);
        let (true, Some(branch)) = (wanted, branch) else {
            return Ok(Facts::none());
        };
        let saved = match facts.read(fact::SNAPSHOT)? {
            Some(snapshot) => Some(snapshot),
            None => SavedWork::of(&self.record)?.snapshot,
        };
        let repository = self.repository()?;
        match (
            repository.branch_commit(&branch.name)?,
            saved.and_then(|saved| saved.head),
        ) {
            (None, _) => {}
            (Some(commit), Some(head)) if commit == head => {
                repository.delete_branch(&branch.name, &commit)?;
            }
            (Some(_), _) => self.progress.note(&format!(
                "the branch {} was moved meanwhile and is kept",
                branch.name
            )),
        }
        Ok(Facts::none())
    }
}

/// What could not be deleted, in one sentence.
fn left_on_disk(left: &[Left]) -> String {
    const NAMED: usize = 5;
    let mut named: Vec<String> = left
        .iter()
        .take(NAMED)
        .map(|left| format!("{} ({})", left.path, left.why))
        .collect();
    if left.len() > NAMED {
        named.push(format!("{} more", left.len() - NAMED));
    }
    format!(
        "not all of the disk is freed: {}; `biv gc` tries again",
        named.join(", ")
    )
}
