//! Prompts that wait for their turn, and their delivery.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use crate::engine::base::view::CampView;
use crate::engine::base::{Core, Error, Scope, Silent, now};
use crate::engine::operate::options::ResumeOptions;
use crate::engine::typing::delivery::find_the_box_free;
use crate::engine::typing::lock::{Hands, Laid};
use crate::engine::typing::ready::{Patience, await_ready};
use crate::model::{
    EventKind, InstanceId, InstanceRecord, PauseReason, QueueCounts, QueueEntry, RestingState,
    Title, TurnEnd,
};
use crate::store::InstanceDir;

/// An agent that was just seen at its prompt is there still, or is busy with something else.
const READY: Duration = Duration::from_secs(5);
/// Somebody else who is just typing is waited for no longer than this.
const TYPING: Duration = Duration::from_secs(5);

/// The queue of one instance, as it is shown.
#[derive(Debug, Serialize)]
pub(crate) struct QueueView {
    pub instance: InstanceId,
    pub title: Title,
    pub counts: QueueCounts,
    /// Why it does not go on, where something went wrong.
    pub stopped: Option<String>,
    /// Nothing is fed while all are to rest; None where that cannot be read.
    pub camp: Option<CampView>,
    pub entries: Vec<QueueEntry>,
}

/// What came of an attempt to feed a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fed {
    Sent,
    /// Nothing waits, or it is held.
    Nothing,
    /// Something stands in the way that will pass.
    NotNow,
    /// The delivery went wrong; the queue has stopped.
    Failed,
}

impl Core {
    pub(crate) fn queue(&self, given: &str) -> Result<QueueView, Error> {
        let found = self.find(given, Scope::Living)?;
        self.queue_view(&found.dir, &found.record)
    }

    /// Puts prompts at the end of an instance's queue.
    pub(crate) fn enqueue(&self, given: &str, prompts: Vec<String>) -> Result<QueueView, Error> {
        if prompts.iter().any(String::is_empty) {
            return Err(Error::NothingToSend);
        }
        let found = self.find(given, Scope::Living)?;
        let numbers = found.dir.change_queue(|queue| {
            prompts
                .into_iter()
                .map(|prompt| queue.add(prompt, now()))
                .collect::<Vec<u64>>()
        })?;
        self.emit(
            EventKind::QueueAdded,
            &found.record,
            json!({ "numbers": numbers }),
        );
        self.queue_view(&found.dir, &found.record)
    }

    /// Takes out everything but the prompt that is being worked on.
    pub(crate) fn clear_queue(&self, given: &str) -> Result<QueueView, Error> {
        let found = self.find(given, Scope::Living)?;
        let dropped = found.dir.change_queue(|queue| queue.clear())?;
        if dropped > 0 {
            self.emit(
                EventKind::QueueCleared,
                &found.record,
                json!({ "dropped": dropped }),
            );
        }
        self.queue_view(&found.dir, &found.record)
    }

    /// Gives the next prompt to an agent that is at rest. One that was put to sleep by a timer is
    /// woken first; one that a person has paused is left alone, and so is a paused camp.
    pub(crate) fn feed_queue(&self, id: &InstanceId) -> Result<Fed, Error> {
        let dir = self.store.instance(id);
        let record = dir.record()?;
        if dir.queue()?.next().is_none() || self.camp_is_paused()? || !may_be_fed(&record) {
            return Ok(Fed::Nothing);
        }
        // From here on no timer puts it to sleep under us.
        let Ok(_presence) = dir.lock_presence("queue") else {
            return Ok(Fed::NotNow);
        };
        let found = match self.awake(id.as_str(), &ResumeOptions::quiet(), &mut Silent) {
            Ok(found) => found,
            Err(Error::Busy { .. }) => return Ok(Fed::NotNow),
            Err(error) => return self.stop_queue(&dir, &record, &error),
        };
        let record = found.record;
        let Some(place) = record
            .place
            .clone()
            .filter(|_| record.state == RestingState::Running && found.journal.is_none())
        else {
            return Ok(Fed::NotNow);
        };
        let Ok(_typing) = dir.lock_typing(TYPING) else {
            return Ok(Fed::NotNow);
        };
        let server = self.server_of(&record);
        let patience = Patience {
            starting: READY,
            busy: Some(READY),
        };
        let agent = self.watched(&server, &dir, &record, &place)?;
        if await_ready(&agent, &record.title, patience).is_err() {
            return Ok(Fed::NotNow);
        }
        let Ok(Laid::On(hands)) = Hands::lay_on(&dir, &place) else {
            return Ok(Fed::NotNow);
        };
        // Half a sentence of a person is sent or deleted by that person; till then the queue waits.
        let last = || self.last_prompt(&dir, &record);
        if find_the_box_free(&agent, &last).is_err() {
            return Ok(Fed::NotNow);
        }
        // Written down before the first key: it is never typed twice.
        let Some((number, prompt)) = dir.change_queue(|queue| queue.begin(now()))? else {
            return Ok(Fed::Nothing);
        };
        crate::process::crash::at("queue:feed:sending");
        match hands.type_to(self, &agent, &record, &place, &prompt) {
            Ok(_) => {
                dir.change_queue(|queue| queue.sent(number))?;
                self.emit(
                    EventKind::QueueStarted,
                    &record,
                    json!({ "number": number }),
                );
                Ok(Fed::Sent)
            }
            Err(error) => self.stop_queue(&dir, &record, &error),
        }
    }

    /// Writes down how the turn that a queue has begun ended.
    pub(crate) fn finish_turn(&self, id: &InstanceId, end: TurnEnd) -> Result<(), Error> {
        let dir = self.store.instance(id);
        let record = dir.record()?;
        let (kind, data) = match &end {
            TurnEnd::Done => (EventKind::QueueDone, json!({})),
            TurnEnd::Failed(reason) => (EventKind::QueueFailed, json!({ "reason": reason })),
        };
        if let Some(number) = dir.change_queue(|queue| queue.finish(end, now()))? {
            let mut data = data;
            data["number"] = number.into();
            self.emit(kind, &record, data);
        }
        Ok(())
    }

    /// A prompt whose delivery was cut off by a crash: nobody knows whether it arrived, and it must
    /// not be typed twice. Its person is told to look.
    pub(crate) fn recover_queue(&self, id: &InstanceId) -> Result<bool, Error> {
        use crate::model::QueueState;
        let dir = self.store.instance(id);
        let unsure = dir
            .queue()?
            .current()
            .is_some_and(|entry| entry.state == QueueState::Sending);
        // Whoever types it right now holds the lock.
        if unsure && let Ok(_typing) = dir.lock_typing(Duration::ZERO) {
            let reason = "it is not known whether it was sent: look, and queue it again if not";
            self.finish_turn(id, TurnEnd::Failed(reason.to_owned()))?;
            return Ok(true);
        }
        Ok(false)
    }

    fn stop_queue(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        error: &Error,
    ) -> Result<Fed, Error> {
        let reason = error.told();
        let number = dir.change_queue(|queue| {
            let failed = queue.finish(TurnEnd::Failed(reason.clone()), now());
            queue.stop(reason.clone());
            failed
        })?;
        self.emit(
            EventKind::QueueFailed,
            record,
            json!({ "number": number, "reason": reason }),
        );
        Ok(Fed::Failed)
    }
}

/// Whether an instance in this state may be fed: running, or put to sleep by a timer.
fn may_be_fed(record: &InstanceRecord) -> bool {
    let asleep = record
        .pause
        .as_ref()
        .is_some_and(|pause| matches!(pause.reason, PauseReason::Idle | PauseReason::Resource));
    match record.state {
        RestingState::Running => true,
        RestingState::Paused => asleep,
        RestingState::Completed
        | RestingState::Failed
        | RestingState::Interrupted
        | RestingState::Killed => false,
    }
}

impl Core {
    fn queue_view(&self, dir: &InstanceDir, record: &InstanceRecord) -> Result<QueueView, Error> {
        let queue = dir.queue()?;
        Ok(QueueView {
            camp: self.camp().ok(),
            instance: record.id.clone(),
            title: record.title.clone(),
            counts: queue.counts(),
            stopped: queue.stopped,
            entries: queue.entries,
        })
    }
}
