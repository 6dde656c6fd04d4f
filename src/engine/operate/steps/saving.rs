//! Takes the snapshot and verifies it.

use crate::engine::base::{Error, now};
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::{Work, leaves_worktree};
use crate::git::{Checkout, Repo};
use crate::lifecycle::Facts;
use crate::vault::{self, Label, ParkingPlace, SnapshotFact, Taken, Verification};

impl Work<'_> {
    pub(super) fn intend_snapshot(&self, facts: &Facts) -> Facts {
        if facts.has(fact::SNAPSHOT_NUMBER) {
            Facts::none()
        } else {
            Facts::none().with(fact::SNAPSHOT_NUMBER, &(self.record.snapshots + 1))
        }
    }

    pub(super) fn take_snapshot(&mut self, facts: &Facts) -> Result<Facts, Error> {
        // A worktree that was parked before has its snapshot.
        if self.is_put_away()? || leaves_worktree(facts)? {
            return Ok(Facts::none());
        }
        let number = facts.read(fact::SNAPSHOT_NUMBER)?.unwrap_or(0);
        let repository = self.repository()?;
        let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
        let ahead = self.ahead.take();
        let taken = vault::take_snapshot(&repository, &checkout, self.label(number), ahead)?;
        Ok(Facts::none().with(fact::SNAPSHOT, &self.remember(taken)))
    }

    fn label(&self, number: u64) -> Label<'_> {
        Label {
            instance: &self.record.id,
            number,
            at: now(),
            home: &self.core.home.state,
        }
    }

    /// Keeps the state of the worktree for later steps.
    fn remember(&mut self, taken: Taken) -> SnapshotFact {
        self.seen = Some(taken.seen);
        taken.fact
    }

    pub(super) fn verify_snapshot(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(snapshot) = facts.read(fact::SNAPSHOT)? else {
            return Ok(Facts::none());
        };
        let repository = self.repository()?;
        let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
        let seen = self.seen.as_ref();
        match vault::verify_snapshot(&repository, &checkout, &snapshot, seen)? {
            Verification::Equal => Ok(Facts::none()),
            // Something wrote in between: what it wrote is saved too, and proved again.
            Verification::Differs { .. } => {
                let (again, paths) = self.save_again(&repository, &checkout, &snapshot)?;
                // If it still changes, it is not at rest, and nothing is moved.
                if paths.is_empty() {
                    Ok(Facts::none().with(fact::SNAPSHOT, &again))
                } else {
                    Err(Error::SnapshotDiffers { paths })
                }
            }
        }
    }

    /// Takes the snapshot once more; returns it with what still differs from it.
    fn save_again(
        &mut self,
        repository: &Repo,
        checkout: &Checkout,
        first: &SnapshotFact,
    ) -> Result<(SnapshotFact, Vec<String>), Error> {
        let number = first.number().unwrap_or(self.record.snapshots + 1);
        let taken = vault::take_snapshot(repository, checkout, self.label(number), None)?;
        let again = self.remember(taken);
        let paths = match vault::verify_snapshot(repository, checkout, &again, self.seen.as_ref())?
        {
            Verification::Equal => Vec::new(),
            Verification::Differs { paths } => paths
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
        };
        Ok((again, paths))
    }

    /// Compares the parked worktree, which no process finds by its path any more, with the snapshot. If
    /// they differ, the snapshot is taken again under the same name. A process whose working directory
    /// is inside may still write; then the parked files are the work, and the snapshot is a little older.
    pub(super) fn save_late_changes(
        &mut self,
        place: &ParkingPlace,
        facts: &Facts,
    ) -> Result<Facts, Error> {
        let Some(snapshot) = facts.read(fact::SNAPSHOT)? else {
            return Ok(Facts::none());
        };
        let checkout = place.checkout();
        if let Some(seen) = &self.seen
            && seen.is_now(&checkout).unwrap_or(false)
        {
            return Ok(Facts::none());
        }
        let repository = self.repository()?;
        match vault::verify_snapshot(&repository, &checkout, &snapshot, None) {
            Ok(Verification::Equal) => return Ok(Facts::none()),
            // Something wrote in between; or an attempt that was cut off has put a newer snapshot in
            // its place, and the journal does not know it.
            Ok(Verification::Differs { .. }) | Err(_) => {}
        }
        let (again, paths) = self.save_again(&repository, &checkout, &snapshot)?;
        let facts = Facts::none().with(fact::SNAPSHOT, &again);
        if paths.is_empty() {
            return Ok(facts);
        }
        self.progress.note(&format!(
            "another process is still writing: {}; all of it is kept where it was put away",
            paths.join(", ")
        ));
        Ok(facts.with(fact::UNSETTLED, &true))
    }
}
