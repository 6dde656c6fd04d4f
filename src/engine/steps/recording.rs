//! The last word of an operation: the record says what is now.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Work, fact};
use crate::engine::Error;
use crate::engine::core::now;
use crate::git::{ParkingPlace, SnapshotFact};
use crate::lifecycle::{Facts, Operation};
use crate::model::{EventKind, InstanceRecord, Resting, RunState};

/// Where the work of an instance that does not run is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::engine) struct Vault {
    pub snapshot: Option<SnapshotFact>,
    pub parking: Option<ParkingPlace>,
}

impl Vault {
    pub(in crate::engine) fn of(record: &InstanceRecord) -> Option<Self> {
        serde_json::from_value(record.vault.clone()?).ok()
    }
}

impl Work<'_> {
    pub(super) fn record_result(&mut self, facts: &Facts) -> Result<Facts, Error> {
        match self.operation {
            Operation::Create => self.record_running(facts),
            Operation::Kill => self.record_killed(facts),
            Operation::Pause | Operation::Resume | Operation::Restart | Operation::UndoKill => {
                Ok(Facts::none())
            }
        }
    }

    fn record_running(&mut self, facts: &Facts) -> Result<Facts, Error> {
        self.record.seat = facts.read(fact::SEAT).unwrap_or(None);
        self.record.command = facts.read(fact::COMMAND).unwrap_or_default();
        self.record.session_ref = facts.read(fact::SESSION_REF);
        self.record.state = Resting::Running;
        self.record.updated_at = now();
        self.record.last_active_at = now();
        self.dir.save(&mut self.record)?;
        let mut run = self.dir.run(&self.record.run)?;
        run.provider_session_ref
            .clone_from(&self.record.session_ref);
        run.resumable = run.provider_session_ref.is_some();
        run.updated_at = now();
        self.dir.save_run(&run)?;
        self.engine.emit(
            EventKind::Created,
            &self.record,
            json!({ "agent": self.record.agent }),
        );
        self.engine
            .emit(EventKind::Running, &self.record, json!({}));
        Ok(Facts::none())
    }

    fn record_killed(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let at = now();
        let exit_code: Option<i32> = facts.read(fact::EXIT_CODE).unwrap_or(None);
        // A paused instance keeps what it had; a running one has just been put away.
        if self.record.state != Resting::Paused {
            let vault = Vault {
                snapshot: facts.read(fact::SNAPSHOT),
                parking: facts.read(fact::PARKING),
            };
            self.record.vault = serde_json::to_value(vault).ok();
        }
        if let Some(number) = facts.read::<u64>(fact::SNAPSHOT_NUMBER) {
            self.record.snapshots = number;
        }
        self.record.state = Resting::Killed;
        self.record.killed_at = Some(at);
        self.record.updated_at = at;
        self.dir.save(&mut self.record)?;
        let mut run = self.dir.run(&self.record.run)?;
        run.state = RunState::Killed;
        run.updated_at = at;
        run.exit_code = run.exit_code.or(exit_code);
        self.dir.save_run(&run)?;
        self.engine.emit(EventKind::Killed, &self.record, json!({}));
        Ok(Facts::none())
    }
}
