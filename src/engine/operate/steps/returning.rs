//! What an instance that comes back replaces: where its branch was, and the work that was kept meanwhile.

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Error, now};
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Work;
use crate::lifecycle::Facts;
use crate::vault::{self, Left, OnDisk, ParkState};

impl Work<'_> {
    /// The branch goes where the other machine has it, if it is still where it was.
    pub(super) fn move_branch(&mut self, facts: &Facts) -> Result<Facts, Error> {
        if let Some((name, from, to)) = facts.read(fact::BRANCH_MOVE)? {
            let _lock = self.lock_repository()?;
            self.repository()?
                .move_branch(&name, &from, &to, "biv: it came back")?;
        }
        Ok(Facts::none())
    }

    pub(super) fn undo_move_branch(&mut self, facts: &Facts) -> Result<(), Error> {
        if let Some((name, from, to)) = facts.read(fact::BRANCH_MOVE)? {
            let _lock = self.lock_repository()?;
            let repository = self.repository()?;
            // Moved by somebody else since then, it stays.
            if repository.branch_commit(&name)?.as_ref() == Some(&to) {
                repository.move_branch(&name, &to, &from, "biv: it did not come back")?;
            }
        }
        Ok(())
    }

    /// What was kept before goes into the trash of the vault, and stays there for its time. The parked files
    /// are stored first; what cannot be stored stays on the disk, and is named.
    pub(super) fn retire_work(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(retired) = facts.read(fact::RETIRED)? else {
            return Ok(Facts::none());
        };
        if facts.read(fact::LEFT_SOMETHING)? == Some(true) {
            self.tell_of_kept(&retired);
            return Ok(Facts::none());
        }
        match self.retire(&retired) {
            Ok(left) if left.is_empty() => {}
            Ok(left) => {
                let place = retired.parking.map(|place| place.parked_worktree);
                self.progress.note(&format!(
                    "what was kept here before it came back stays at {}: {}",
                    place.unwrap_or_default().display(),
                    left[0].why
                ));
            }
            // It is a copy from before: it must not keep the newer work from its user.
            Err(error) => self.progress.note(&format!(
                "what was kept here before it came back was not released: {}",
                error.told()
            )),
        }
        Ok(Facts::none())
    }

    /// Some of it did not come along, so it is nowhere else.
    fn tell_of_kept(&mut self, kept: &SavedWork) {
        if let Some(place) = &kept.parking {
            self.progress.note(&format!(
                "what stayed here when it left is kept in {} and {}",
                place.parked_worktree.display(),
                place.parked_admin.display()
            ));
        }
    }

    fn retire(&self, retired: &SavedWork) -> Result<Vec<Left>, Error> {
        let repository = self.repository()?;
        let Some(snapshot) = &retired.snapshot else {
            return Ok(Vec::new());
        };
        if let Some(place) = &retired.parking {
            let parked = vault::park_state(place)? == ParkState::Parked;
            if parked && vault::on_disk(place)? != OnDisk::Least {
                let policy = self.core.thin_policy();
                let thinned = vault::thin(&repository, place, snapshot, &policy, now())?;
                if !thinned.left.is_empty() {
                    return Ok(thinned.left);
                }
            }
            let left = vault::discard_parked(place)?;
            if !left.is_empty() {
                return Ok(left);
            }
        }
        vault::release_known(&repository, snapshot, now())?;
        Ok(Vec::new())
    }
}
