//! The first step of a creation: the instance gets its record.

use crate::engine::base::{Error, now};
use crate::engine::operate::steps::work::Work;
use crate::lifecycle::Facts;
use crate::model::{RunRecord, RunState};

impl Work<'_> {
    /// The directory was claimed before the journal was begun; now the instance can be seen.
    pub(super) fn claim_names(&mut self) -> Result<Facts, Error> {
        if self.record.rev == 0 {
            let record = &self.record;
            self.dir.save_run(&RunRecord {
                format: RunRecord::FORMAT,
                run_id: record.run.clone(),
                instance_id: record.id.clone(),
                state: RunState::Running,
                provider: record.agent.clone(),
                provider_session_ref: None,
                resumable: false,
                repo_root: record.repository.root.clone(),
                created_at: record.created_at,
                updated_at: now(),
                paused_at: None,
                pause_reason: None,
                resumed_from_run_id: None,
                restart_of_run_id: None,
                superseded_by_run_id: None,
                exit_code: None,
            })?;
            self.dir.save(&mut self.record)?;
        }
        Ok(Facts::none())
    }
}
