//! Unpacks an export into a fresh worktree, and takes that back.

use crate::agents::SessionTravel;
use crate::engine::base::Error;
use crate::engine::operate::carry::parts::{
    ArrivedSession, arrived_session, forget_arrived, has_session_stayed, note_stayed, own_arrived,
};
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Work;
use crate::git::Checkout;
use crate::lifecycle::{Facts, Operation};
use crate::model::printable_line;
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
        // A crash in between has left the note of one that could not be placed.
        let mut lost = !self.comes_back() && has_session_stayed(&self.dir);
        if let Some(arrived) = arrived_session(&self.dir)? {
            if let Err(why) = self.place_session(&arrived)? {
                self.progress.note(&format!(
                    "the session of the agent could not be placed, so it begins a new one: {}",
                    printable_line(&why)
                ));
                lost |=
                    !arrived.own && self.provider()?.session_travel() == SessionTravel::Commands;
            }
            if lost {
                note_stayed(&self.dir)?;
            }
            forget_arrived(&self.dir)?;
        }
        Ok(match lost {
            true => Facts::none().with(fact::SESSION_LOST, &true),
            false => Facts::none(),
        })
    }

    fn comes_back(&self) -> bool {
        self.operation == Operation::Return
    }

    fn place_session(&mut self, arrived: &ArrivedSession) -> Result<Result<(), String>, Error> {
        let directory = self.record.agent_directory();
        let host = &self.core.host;
        let provider = self.provider()?;
        if provider.session_travel() == SessionTravel::Commands {
            return self.read_session(arrived);
        }
        let worktree = &self.record.worktree.path;
        let comes_back = self.comes_back();
        let paths = (arrived.from.as_path(), worktree.as_path());
        let placed = provider.place_session(&arrived.files, paths, &directory, comes_back, host);
        Ok(placed.map(drop).map_err(|error| error.to_string()))
    }

    /// Lets the agent read its session. Another one that it has by the same id is left alone.
    fn read_session(&self, arrived: &ArrivedSession) -> Result<Result<(), String>, Error> {
        let directory = self.record.agent_directory();
        let host = &self.core.host;
        let provider = self.provider()?;
        let Some(reference) = &self.record.session_ref else {
            return Ok(Err("it has no id".to_owned()));
        };
        if !arrived.own {
            if provider.may_have_session(reference, &directory, host) {
                return Ok(Err("there is another one with the same id".to_owned()));
            }
            // After a crash it is there, and ours.
            own_arrived(&self.dir)?;
        }
        Ok(provider.read_session(&arrived.files, reference, &directory, host))
    }
}
