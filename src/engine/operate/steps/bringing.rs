//! Brings the worktree of a paused instance back to its place.

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Error, now};
use crate::engine::operate::options::OnConflict;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Work;
use crate::git::{Checkout, GitError, Repo};
use crate::lifecycle::Facts;
use crate::vault::{
    self, Aside, BranchPosition, Carried, Kept, MergePlan, ParkState, ParkingPlace, SnapshotFact,
    Verification,
};

impl Work<'_> {
    /// Compares the branch with the snapshot, and decides how the work goes back onto it.
    pub(super) fn intend_bring_worktree(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let SavedWork {
            snapshot: Some(snapshot),
            parking: Some(place),
            ..
        } = SavedWork::of(&self.record)?
        else {
            return Ok(Facts::none());
        };
        let repository = self.repository()?;
        vault::check_unpark(&place)?;
        match vault::branch_position(&repository, &snapshot)? {
            BranchPosition::Same => Ok(Facts::none()),
            // Our own worktree, from an attempt that was cut off.
            BranchPosition::Elsewhere { path, .. } if path == self.record.worktree.path => {
                Ok(Facts::none())
            }
            BranchPosition::Elsewhere { branch, path } => {
                Err(GitError::BranchInUse { name: branch, path }.into())
            }
            BranchPosition::Deleted { branch, was } => {
                self.progress.note(&format!(
                    "the branch {branch} does not exist any more; it is made again at {was}"
                ));
                Ok(Facts::none().with(fact::BRANCH_AGAIN, &(branch, was)))
            }
            BranchPosition::Moved { branch, to, .. } => {
                let how = facts.read(fact::ON_CONFLICT)?.unwrap_or(OnConflict::Stop);
                let facts = self.follow_branch(&place, &snapshot, &branch, &to, how)?;
                Ok(facts.with(fact::BROUGHT_FROM, &place))
            }
        }
    }

    /// How the work goes onto a branch that was moved: merged where nothing conflicts, else as asked.
    fn follow_branch(
        &mut self,
        place: &ParkingPlace,
        snapshot: &SnapshotFact,
        branch: &str,
        to: &str,
        how: OnConflict,
    ) -> Result<Facts, Error> {
        let repository = self.repository()?;
        let checkout = place.checkout();
        let planned = vault::plan_merge(&repository, snapshot, to).and_then(|plan| {
            let (merge, mut files, replaced) = match plan {
                MergePlan::Clean(merge) => (merge, Vec::new(), Vec::new()),
                MergePlan::Conflict {
                    files,
                    with_markers,
                    replaced,
                } => (with_markers, files, replaced),
            };
            files.extend(vault::find_obstacles(
                &repository,
                &checkout,
                snapshot,
                &merge,
            )?);
            Ok((merge, files, replaced))
        });
        let (merge, mut files, replaced) = match planned {
            // What cannot be merged can still be kept on a branch of its own.
            Err(GitError::OperationInProgress { .. } | GitError::GitTooOld { .. })
                if how == OnConflict::Keep =>
            {
                return self.keep_apart(&repository, snapshot, branch);
            }
            planned => planned?,
        };
        files.sort();
        files.dedup();
        if files.is_empty() {
            self.progress.note(&format!(
                "the branch {branch} was moved; your changes are carried over to {to}"
            ));
            return Ok(Facts::none().with(fact::MERGE, &merge));
        }
        match how {
            OnConflict::Stop => Err(Error::Conflict {
                files: files
                    .iter()
                    .map(|file| file.display().to_string())
                    .collect(),
            }),
            OnConflict::Keep => self.keep_apart(&repository, snapshot, branch),
            OnConflict::Markers => {
                let merge =
                    vault::clear_obstacles(&repository, &checkout, snapshot, merge, &replaced)?;
                self.progress.note(&format!(
                    "the branch {branch} was moved; your changes are carried over to {to}, \
                     with conflict markers"
                ));
                for aside in &merge.aside {
                    self.progress.note(&format!(
                        "{} was in the way and is now {}",
                        aside.path().display(),
                        aside.to().display()
                    ));
                }
                Ok(Facts::none().with(fact::MERGE, &merge))
            }
        }
    }

    /// The work stays on its commit, on a branch of its own.
    fn keep_apart(
        &mut self,
        repository: &Repo,
        snapshot: &SnapshotFact,
        branch: &str,
    ) -> Result<Facts, Error> {
        let kept = Kept::choose(repository, snapshot, branch)?;
        self.progress.note(&format!(
            "the branch {branch} was moved; your work is as it was saved, on the new branch {}",
            kept.branch
        ));
        Ok(Facts::none().with(fact::KEPT, &kept))
    }

    pub(super) fn bring_worktree(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let SavedWork {
            snapshot,
            parking: Some(place),
            ..
        } = SavedWork::of(&self.record)?
        else {
            return self.require_worktree();
        };
        let repository = self.repository()?;
        let _lock = self.lock_repository()?;
        if let Some((branch, commit)) = facts.read(fact::BRANCH_AGAIN)? {
            repository.create_branch(&branch, &commit)?;
        }
        let refilled = vault::refill(&repository, &place)?;
        for (path, bytes) in refilled.missing {
            self.progress.note(&format!(
                "{} ({bytes} bytes) was let go when the disk was freed, and is not back",
                path.display()
            ));
        }
        for path in refilled.changed {
            self.progress.note(&format!(
                "{} was changed while it was put away, and stays as it was found",
                path.display()
            ));
        }
        if let Some(kept) = facts.read(fact::KEPT)? {
            vault::keep_on_branch(&repository, &place.checkout(), &kept)?;
        }
        if let (Some(merge), Some(snapshot)) = (facts.read(fact::MERGE)?, &snapshot) {
            vault::carry_over(&repository, &place, snapshot, &merge)?;
        }
        vault::unpark(&place)?;
        // Now git sees what the worktree needs, and `gc` keeps it.
        if let Some(snapshot) = &snapshot {
            vault::bring_objects_back(&repository, snapshot)?;
        }
        if let Some(merge) = facts.read(fact::MERGE)? {
            vault::bring_merged_back(&repository, &merge)?;
        }
        Ok(Facts::none())
    }

    pub(super) fn undo_bring_worktree(&mut self, facts: &Facts) -> Result<(), Error> {
        let Some(place) = &SavedWork::of(&self.record)?.parking else {
            return Ok(());
        };
        let _lock = self.lock_repository()?;
        if vault::park_state(place)? == ParkState::Lost {
            // A worktree that is missing was not brought, and cannot be parked again.
            return Ok(());
        }
        vault::park(place)?;
        let repository = self.repository()?;
        if facts.has(fact::MERGE) {
            self.say_changed(&vault::take_back_carry(&repository, place)?);
        }
        if let Some(kept) = facts.read(fact::KEPT)? {
            vault::take_back_kept(&repository, &place.checkout(), &kept)?;
        }
        if let Some((branch, commit)) = facts.read(fact::BRANCH_AGAIN)?
            && repository.branch_commit(&branch)?.as_ref() == Some(&commit)
        {
            repository.delete_branch(&branch, &commit)?;
        }
        Ok(())
    }

    /// Files that were written to while a merge was made or taken back.
    fn say_changed(&mut self, changed: &[Aside]) {
        for aside in changed {
            self.progress.note(&format!(
                "{} was changed meanwhile; that version is now {}",
                aside.path().display(),
                aside.to().display()
            ));
        }
    }

    pub(super) fn verify_restore(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let SavedWork {
            snapshot: Some(snapshot),
            parking: Some(_),
            ..
        } = SavedWork::of(&self.record)?
        else {
            return Ok(Facts::none());
        };
        let repository = self.repository()?;
        let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
        let changed = if let Some(merge) = facts.read(fact::MERGE)? {
            let Carried { wrong, changed } =
                vault::verify_carried(&repository, &checkout, &snapshot, &merge)?;
            if !wrong.is_empty() {
                return Err(GitError::MergeDiffers { paths: wrong }.into());
            }
            changed
        } else {
            let kept = facts.read(fact::KEPT)?;
            let expected = SnapshotFact {
                branch: kept.map_or(snapshot.branch.clone(), |kept| Some(kept.branch)),
                ..snapshot
            };
            match vault::verify_snapshot(&repository, &checkout, &expected, None)? {
                Verification::Equal => Vec::new(),
                Verification::Differs { paths } => paths,
            }
        };
        if !changed.is_empty() {
            let paths: Vec<String> = changed
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            self.progress.note(&format!(
                "changed while it was put away: {}",
                paths.join(", ")
            ));
        }
        Ok(Facts::none())
    }

    /// Once the agent is back the snapshot is not needed any more; it is kept for a while all the same.
    pub(super) fn release_snapshot(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let repository = self.repository()?;
        let released = facts.read(fact::RELEASE)?;
        if released.is_some() {
            let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
            vault::settle_refill(&repository, &checkout)?;
        }
        if let Some(place) = facts.read(fact::BROUGHT_FROM)? {
            let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
            self.say_changed(&vault::settle_carry(&place, &checkout)?);
        }
        if facts.has(fact::NOT_RESUMED) {
            return Ok(Facts::none());
        }
        // The safety snapshot of a restart is not needed any more either.
        if let Some(snapshot) = facts.read(fact::SNAPSHOT)? {
            vault::release_known(&repository, &snapshot, now())?;
        }
        match released.map(|snapshot| vault::release_known(&repository, &snapshot, now())) {
            // The worktree was compared with it before: nothing of the work is missing.
            Some(Err(error @ GitError::SnapshotMissing { .. })) => self.progress.note(&format!(
                "{error}: the work is in the worktree, and no copy of it is kept"
            )),
            Some(released) => released?,
            None => {}
        }
        Ok(Facts::none())
    }

    fn require_worktree(&self) -> Result<Facts, Error> {
        let path = &self.record.worktree.path;
        if path.is_dir() {
            Ok(Facts::none())
        } else {
            Err(Error::WorktreeMissing { path: path.clone() })
        }
    }
}
