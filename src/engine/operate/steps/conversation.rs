//! Saves the conversation before the agent is stopped, and again afterwards.

use crate::engine::base::Error;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Work;
use crate::lifecycle::Facts;

impl Work<'_> {
    /// Saves the conversation and learns its reference. A failure is reported but does not stop the pause.
    pub(super) fn save_conversation(&mut self) -> Result<Facts, Error> {
        let found = self.core.trace(&self.dir, &self.record).found();
        if found.is_some() {
            self.record.session_ref.clone_from(&found);
        }
        self.import_conversation();
        Ok(match found {
            Some(reference) => Facts::none().with(fact::FOUND_REF, &reference),
            None => Facts::none(),
        })
    }

    /// Imports what the agent wrote while it was stopped.
    pub(super) fn import_conversation(&mut self) {
        match self.core.import_conversation(&self.dir, &self.record) {
            Ok(imported) if imported.skipped > 0 => self.progress.note(&format!(
                "{} lines of the agent's transcript cannot be understood and were left out",
                imported.skipped
            )),
            Ok(_) => {}
            Err(error) => self
                .progress
                .note(&format!("the conversation was not saved: {error}")),
        }
        self.core.count_usage(&self.dir, &self.record);
    }
}
