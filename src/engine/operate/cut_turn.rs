//! After a turn that was cut off.
//!
//! What waits in the queue was meant for after that turn, and nobody has seen how far it came. So the queue stops until
//! the user has looked, who is told of the turn: an agent that is resumed stands at its prompt like one that is done.

use serde_json::json;

use crate::agents::Provider;
use crate::engine::base::{Core, Error, now};
use crate::engine::watch::self_report::self_report;
use crate::model::{Activity, EventKind, InstanceRecord, Queue, TurnEnd};
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
            queue.tell_of_cut(now());
            failed
        })?;
        if let Some(number) = failed {
            let data = json!({ "number": number, "reason": BY_A_PAUSE });
            self.emit(EventKind::QueueFailed, record, data);
        }
        Ok(())
    }

    /// The agent has ended with its server, or by itself. One that was at its prompt had no turn; `was_busy` tells what
    /// its last saved screen showed.
    pub(in crate::engine) fn hold_queue_after_end(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        was_busy: Option<bool>,
    ) -> Result<(), Error> {
        let leader = record.place.as_ref().map(|place| &place.agent);
        let provider = self.provider_of(record)?;
        let report = self_report(provider, dir, &self.host, leader);
        let activity = report.map(|report| report.activity);
        let told = activity
            .or_else(|| before_its_farewell(provider, dir))
            .map(|activity| activity != Activity::Idle);
        // The screen may be ten seconds old: good enough to tell the user, and not to send the next prompt.
        if told.unwrap_or(true) {
            dir.change_queue(|queue| {
                queue.hold(BY_ITS_END);
                if told.or(was_busy) == Some(true) {
                    queue.tell_of_cut(now());
                }
            })?;
        }
        Ok(())
    }

    /// The user has the agent before their eyes, or it begins anew.
    pub(super) fn cut_turn_was_seen(&self, dir: &InstanceDir) {
        if let Err(error) = dir.change_queue(Queue::looked_at) {
            tracing::warn!(%error, "note that the turn that was cut off was seen");
        }
    }
}

/// What an agent was doing when it said by a hook that it ends.
fn before_its_farewell(provider: &Provider, dir: &InstanceDir) -> Option<Activity> {
    let before = dir.hook_report()?.before?;
    provider.activity_of_event(&before.event, before.detail.as_deref())
}
