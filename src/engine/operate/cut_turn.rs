//! The queue after a turn that was cut off.
//!
//! What waits was meant for after that turn, and nobody has seen how far it came. So the queue stops until the user
//! has looked.

use serde_json::json;

use crate::engine::base::{Core, Error, now};
use crate::engine::watch::self_report::self_report;
use crate::model::{Activity, EventKind, InstanceRecord, TurnEnd};
use crate::store::InstanceDir;

const BY_A_PAUSE: &str = "a pause has cut the turn before off: look how far it came";
const BY_ITS_END: &str = "the agent has ended in the turn before: look how far it came";

impl Core {
    /// A pause has interrupted the agent, or stopped it in its turn.
    pub(in crate::engine) fn hold_queue_after_pause(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> Result<(), Error> {
        let failed = dir.change_queue(|queue| {
            let failed = queue.finish(TurnEnd::Failed(BY_A_PAUSE.to_owned()), now());
            queue.hold(BY_A_PAUSE);
            failed
        })?;
        if let Some(number) = failed {
            let data = json!({ "number": number, "reason": BY_A_PAUSE });
            self.emit(EventKind::QueueFailed, record, data);
        }
        Ok(())
    }

    /// The agent has ended with its server, or by itself. One that was at its prompt had no turn.
    pub(in crate::engine) fn hold_queue_after_end(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> Result<(), Error> {
        let leader = record.place.as_ref().map(|place| &place.agent);
        let provider = self.provider_of(record)?;
        let report = self_report(provider, dir, &self.host, leader);
        if report.is_none_or(|report| report.activity != Activity::Idle) {
            dir.change_queue(|queue| queue.hold(BY_ITS_END))?;
        }
        Ok(())
    }
}
