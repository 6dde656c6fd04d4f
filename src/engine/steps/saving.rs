//! The work, saved under a ref of its own and proved.

use super::{Work, fact};
use crate::engine::Error;
use crate::engine::core::now;
use crate::git::{self, Checkout, SnapshotFact, Verification};
use crate::lifecycle::Facts;

impl Work<'_> {
    pub(super) fn intend_snapshot(&self, facts: &Facts) -> Facts {
        match facts.read::<u64>(fact::SNAPSHOT_NUMBER) {
            Some(_) => Facts::none(),
            None => Facts::none().with(fact::SNAPSHOT_NUMBER, &(self.record.snapshots + 1)),
        }
    }

    pub(super) fn take_snapshot(&mut self, facts: &Facts) -> Result<Facts, Error> {
        if self.keeps_worktree() || !self.record.worktree.path.is_dir() {
            return Ok(Facts::none());
        }
        let number = facts.read::<u64>(fact::SNAPSHOT_NUMBER).unwrap_or(0);
        let repository = self.repository()?;
        let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
        let snapshot = git::take_snapshot(&repository, &checkout, &self.record.id, number, now())?;
        Ok(Facts::none().with(fact::SNAPSHOT, &snapshot))
    }

    pub(super) fn verify_snapshot(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(snapshot) = facts.read::<SnapshotFact>(fact::SNAPSHOT) else {
            return Ok(Facts::none());
        };
        let repository = self.repository()?;
        let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
        match git::verify_snapshot(&repository, &checkout, &snapshot)? {
            Verification::Equal => Ok(Facts::none()),
            Verification::Differs { paths } => Err(Error::SnapshotDiffers {
                paths: paths
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect(),
            }),
        }
    }
}
