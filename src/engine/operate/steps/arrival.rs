//! Unpacks an export into a fresh worktree, and takes that back.

use crate::engine::base::Error;
use crate::engine::operate::carry::parts::{arrived_session, forget_arrived};
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Work;
use crate::git::Checkout;
use crate::lifecycle::{Facts, Operation};
use crate::vault;

impl Work<'_> {
    /// Everything is compared with the manifest before this step is done.
    pub(super) fn unpack(&mut self) -> Result<Facts, Error> {
        // Recovery takes an arrival back: the stream that it came from is gone.
        let Some(arrival) = self.arrival.take() else {
            return Err(Error::Interrupted);
        };
        let repository = self.repository()?;
        arrival
            .luggage
            .unpack(&self.dir, &self.record.id, &self.record.repository.root)?;
        let checkout = Checkout::live(&repository, &self.record.worktree.path)?;
        vault::arrive(&repository, &arrival.incoming, &checkout)?;
        Ok(Facts::none())
    }

    pub(super) fn undo_unpack(&mut self, facts: &Facts) -> Result<(), Error> {
        let Some(made) = facts.read(fact::WORKTREE)? else {
            return Ok(());
        };
        let _lock = self.lock_repository()?;
        Ok(vault::undo_arrival(&self.repository()?, &made)?)
    }

    /// From here on the files are work.
    pub(super) fn deliver(&mut self) -> Result<Facts, Error> {
        let repository = self.repository()?;
        if let Ok(checkout) = Checkout::live(&repository, &self.record.worktree.path) {
            repository.finish_worktree(&checkout)?;
        }
        if let Some((from, files)) = arrived_session(&self.dir)? {
            let worktree = &self.record.worktree.path;
            let directory = self.record.agent_directory();
            let comes_back = self.operation == Operation::Return;
            let placed = self.provider()?.place_session(
                &files,
                (&from, worktree),
                &directory,
                comes_back,
                &self.core.host,
            );
            if let Err(error) = placed {
                self.progress.note(&format!(
                    "the session of the agent could not be placed, so it begins a new one: {error}"
                ));
            }
            forget_arrived(&self.dir)?;
        }
        Ok(Facts::none())
    }
}
