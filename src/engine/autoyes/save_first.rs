//! What is accepted for its seal alone can still destroy the work inside: so the work is saved before.

use std::time::Duration;

use crate::engine::base::time_scale::scaled;
use crate::engine::base::{Core, now};
use crate::git::Repo;
use crate::model::InstanceRecord;
use crate::policy::{Decision, Ruling};
use crate::vault::save_in_passing;

/// It is not saved more often.
const INTERVAL: Duration = Duration::from_secs(60);
/// How many of these are kept.
const KEPT: usize = 20;
/// Written after each, so that its time is known without asking git.
const MARK: &str = "saved-in-passing";

impl Core {
    /// The ruling that holds: one that accepts for the seal alone only if the work was saved before.
    pub(super) fn saved_first(&self, record: &InstanceRecord, ruling: Ruling) -> Ruling {
        if ruling.decision != Decision::Accept || !ruling.by_seal {
            return ruling;
        }
        match self.save_in_passing(record) {
            Ok(()) => ruling,
            Err(why) => Ruling::manual(format!("the work could not be saved before: {why}")),
        }
    }

    fn save_in_passing(&self, record: &InstanceRecord) -> Result<(), String> {
        let mark = self.store.instance(&record.id).path.join(MARK);
        let age = std::fs::metadata(&mark)
            .and_then(|found| found.modified())
            .ok()
            .and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age < scaled(INTERVAL)) {
            return Ok(());
        }
        let saved = Repo::discover(&record.repository.root).and_then(|repository| {
            save_in_passing(
                &repository,
                &record.worktree.path,
                &record.id,
                now(),
                &self.home.state,
                KEPT,
            )
        });
        saved.map_err(|error| error.to_string())?;
        // Without the mark it is saved again, which is no harm.
        if let Err(error) = std::fs::write(&mark, b"") {
            tracing::debug!(%error, "the time of a save was not written");
        }
        Ok(())
    }
}
