//! The worktree of a paused instance, brought back to its place.

use super::{Vault, Work, fact};
use crate::engine::Error;
use crate::git::{self, Checkout, Verification};
use crate::lifecycle::Facts;

impl Work<'_> {
    pub(super) fn bring_worktree(&mut self, _facts: &Facts) -> Result<Facts, Error> {
        let Some(place) = &Vault::of(&self.record)?.parking else {
            return self.require_worktree();
        };
        let repository = self.repository()?;
        let _lock = self.lock_repository()?;
        git::refill(&repository, place)?;
        git::unpark(place)?;
        Ok(Facts::none())
    }

    pub(super) fn undo_bring_worktree(&mut self) -> Result<(), Error> {
        let Some(place) = &Vault::of(&self.record)?.parking else {
            return Ok(());
        };
        let _lock = self.lock_repository()?;
        Ok(git::park(place)?)
    }

    pub(super) fn verify_restore(&mut self) -> Result<Facts, Error> {
        let Vault {
            snapshot: Some(snapshot),
            parking: Some(_),
        } = Vault::of(&self.record)?
        else {
            return Ok(Facts::none());
        };
        let repository = self.repository()?;
        let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
        if let Verification::Differs { paths } =
            git::verify_snapshot(&repository, &checkout, &snapshot)?
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
        if facts.read::<String>(fact::NOT_RESUMED).is_some() {
            return Ok(Facts::none());
        }
        if let Some(snapshot) = facts.read::<git::SnapshotFact>(fact::RELEASE) {
            git::release_snapshot(&self.repository()?, &snapshot.reference)?;
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
