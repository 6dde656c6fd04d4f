//! The worktree of a paused instance, brought back to its place.

use super::{Vault, Work, fact};
use crate::engine::Error;
use crate::engine::core::now;
use crate::engine::resume::OnConflict;
use crate::git::{self, BranchStanding, Checkout, GitError, MergeFact, MergePlan, Verification};
use crate::lifecycle::Facts;

impl Work<'_> {
    /// Looks at what became of the branch, and decides how the work goes back onto it.
    pub(super) fn intend_bring_worktree(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Vault {
            snapshot: Some(snapshot),
            parking: Some(place),
            ..
        } = Vault::of(&self.record)?
        else {
            return Ok(Facts::none());
        };
        let repository = self.repository()?;
        git::check_unpark(&place)?;
        match git::branch_standing(&repository, &snapshot)? {
            BranchStanding::Same => Ok(Facts::none()),
            // Our own worktree, from an attempt that was cut off.
            BranchStanding::Elsewhere { path, .. } if path == self.record.worktree.path => {
                Ok(Facts::none())
            }
            BranchStanding::Elsewhere { branch, path } => {
                Err(GitError::BranchInUse { name: branch, path }.into())
            }
            BranchStanding::Deleted { branch, was } => {
                self.progress.note(&format!(
                    "the branch {branch} was deleted meanwhile; it is made again at {was}"
                ));
                Ok(Facts::none().with(fact::BRANCH_AGAIN, &(branch, was)))
            }
            BranchStanding::Moved { branch, to, .. } => {
                let how = facts.read(fact::ON_CONFLICT).unwrap_or(OnConflict::Stop);
                if how == OnConflict::Keep {
                    self.progress.note(&format!(
                        "the branch {branch} was moved; your files stay as they were saved"
                    ));
                    return Ok(Facts::none());
                }
                self.progress.note(&format!(
                    "the branch {branch} was moved; your changes are carried over to {to}"
                ));
                let merge = match git::plan_merge(&repository, &snapshot, &to)? {
                    MergePlan::Clean(merge) => merge,
                    MergePlan::Conflict { with_markers, .. } if how == OnConflict::Markers => {
                        with_markers
                    }
                    MergePlan::Conflict { files, .. } => {
                        return Err(Error::Conflict {
                            files: files
                                .iter()
                                .map(|file| file.display().to_string())
                                .collect(),
                        });
                    }
                };
                Ok(Facts::none().with(fact::MERGE, &merge))
            }
        }
    }

    pub(super) fn bring_worktree(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(place) = &Vault::of(&self.record)?.parking else {
            return self.require_worktree();
        };
        let repository = self.repository()?;
        let _lock = self.lock_repository()?;
        if let Some((branch, commit)) = facts.read::<(String, String)>(fact::BRANCH_AGAIN) {
            repository.create_branch(&branch, &commit)?;
        }
        let refilled = git::refill(&repository, place)?;
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
        git::unpark(place)?;
        // Now git sees what the worktree needs, and drops none of it any more.
        if let Some(snapshot) = Vault::of(&self.record)?.snapshot {
            git::bring_objects_back(&repository, &snapshot)?;
        }
        if let Some(merge) = facts.read::<MergeFact>(fact::MERGE) {
            git::apply_merge(&repository, &place.live_checkout(), &merge)?;
        }
        Ok(Facts::none())
    }

    pub(super) fn undo_bring_worktree(&mut self, facts: &Facts) -> Result<(), Error> {
        let Some(place) = &Vault::of(&self.record)?.parking else {
            return Ok(());
        };
        let _lock = self.lock_repository()?;
        let state = git::park_state(place)?;
        if state == git::ParkState::Lost {
            // What is nowhere to be found was not brought, and cannot be put away.
            return Ok(());
        }
        let in_place = state == git::ParkState::InPlace;
        if let Some(merge) = facts.read::<MergeFact>(fact::MERGE).filter(|_| in_place) {
            git::apply_merge(
                &self.repository()?,
                &place.live_checkout(),
                &merge.reversed(),
            )?;
        }
        Ok(git::park(place)?)
    }

    pub(super) fn verify_restore(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Vault {
            snapshot: Some(snapshot),
            parking: Some(_),
            ..
        } = Vault::of(&self.record)?
        else {
            return Ok(Facts::none());
        };
        // Work that was carried over to another commit is not what was saved; applying it proved each
        // file before and after.
        if facts.read::<MergeFact>(fact::MERGE).is_some() {
            return Ok(Facts::none());
        }
        let repository = self.repository()?;
        let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
        if let Verification::Differs { paths } =
            git::verify_snapshot(&repository, &checkout, &snapshot, None)?
        {
            let paths: Vec<String> = paths
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
        let released = facts.read::<git::SnapshotFact>(fact::RELEASE);
        if released.is_some() {
            let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
            git::settle_refill(&repository, &checkout)?;
        }
        if facts.read::<String>(fact::NOT_RESUMED).is_some() {
            return Ok(Facts::none());
        }
        // What a restart saved for safety, it needs no longer either.
        if let Some(snapshot) = facts.read::<git::SnapshotFact>(fact::SNAPSHOT) {
            git::release_snapshot(&repository, &snapshot.reference, now())?;
        }
        if let Some(snapshot) = released {
            git::release_snapshot(&repository, &snapshot.reference, now())?;
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
