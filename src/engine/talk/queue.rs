//! The queue of an instance: prompts that wait, and their delivery.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use crate::engine::base::resolve::require_here;
use crate::engine::base::view::CampView;
use crate::engine::base::{Core, Error, Found, Scope, Silent, now};
use crate::engine::operate::options::ResumeOptions;
use crate::engine::talk::asking::TYPING;
use crate::engine::typing::delivery::{Wording, holds_a_draft, require_empty_box};
use crate::engine::typing::dialog::was_typed_at;
use crate::engine::typing::lock::{TypingAccess, TypingLock};
use crate::engine::typing::ready::{Patience, await_ready};
use crate::model::{
    EventKind, InstanceId, InstanceRecord, PauseReason, Queue, QueueCounts, QueueEntry,
    RestingState, Title, TurnEnd,
};
use crate::store::InstanceDir;

/// How long to wait for an agent that was just seen at its prompt.
const READY: Duration = Duration::from_secs(5);
/// How long to wait for another sender that types.
const SENDER: Duration = Duration::from_secs(5);

/// The queue of one instance, as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct QueueView {
    pub instance: InstanceId,
    pub title: Title,
    pub counts: QueueCounts,
    /// Why the queue has stopped, if something went wrong.
    pub stopped: Option<String>,
    /// What only the user can settle, before which nothing is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// Nothing is fed while all are to rest; None where that cannot be read.
    pub camp: Option<CampView>,
    pub entries: Vec<QueueEntry>,
}

/// The result of an attempt to feed a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FeedResult {
    Sent,
    /// Nothing waits, or it is held.
    Nothing,
    /// Not possible now; it is tried again.
    NotNow,
    /// The delivery went wrong; the queue has stopped.
    Failed,
}

impl Core {
    pub(crate) fn queue(&self, given: &str) -> Result<QueueView, Error> {
        let found = self.find(given, Scope::Living)?;
        let mut view = self.queue_view(&found.dir, &found.record)?;
        if view.counts.waiting > 0 && view.stopped.is_none() {
            view.held_by = self.what_holds_the_queue(&found.dir, &found.record);
        }
        Ok(view)
    }

    /// None also where that cannot be seen.
    fn what_holds_the_queue(&self, dir: &InstanceDir, record: &InstanceRecord) -> Option<String> {
        let place = record.place.as_ref();
        let place = place.filter(|_| record.state == RestingState::Running)?;
        let server = self.server_of(record);
        let agent = self.watched(&server, dir, record, place).ok()?;
        // A dialog has rows that look like a text in the box.
        if let Some(open) = agent.waits_on().ok()? {
            return Some(open);
        }
        let typed = holds_a_draft(&agent, &|| self.last_prompt(dir, record)).ok()?;
        typed.then(|| "there is a text in its input box".to_owned())
    }

    /// Puts prompts at the end of an instance's queue.
    pub(crate) fn enqueue(&self, given: &str, prompts: Vec<String>) -> Result<QueueView, Error> {
        if prompts.iter().any(|prompt| prompt.trim().is_empty()) {
            return Err(Error::NothingToSend);
        }
        let found = self.find(given, Scope::Here)?;
        let mut cleaned = Vec::new();
        for prompt in &prompts {
            cleaned.push(self.as_text(&found.record, prompt)?.0);
        }
        let prompts = cleaned;
        let numbers = found.dir.change_queue(|queue| {
            // A hand-over to another machine holds the lock of the queue.
            require_here(&found.dir.record()?)?;
            let numbers = prompts.into_iter().map(|prompt| queue.add(prompt, now()));
            Ok::<Vec<u64>, Error>(numbers.collect())
        })??;
        self.emit(
            EventKind::QueueAdded,
            &found.record,
            json!({ "numbers": numbers }),
        );
        self.queue_view(&found.dir, &found.record)
    }

    /// Takes out everything but the prompt that is being worked on.
    pub(crate) fn clear_queue(&self, given: &str) -> Result<QueueView, Error> {
        let found = self.find(given, Scope::Here)?;
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

    /// Lets a stopped queue go on with what waits in it.
    pub(crate) fn continue_queue(&self, given: &str) -> Result<QueueView, Error> {
        let found = self.find(given, Scope::Here)?;
        found.dir.change_queue(Queue::restart)?;
        self.wake_daemon(Some(&found.record.id));
        self.queue_view(&found.dir, &found.record)
    }

    /// Takes one waiting prompt out of the queue.
    pub(crate) fn drop_queued(&self, given: &str, number: u64) -> Result<QueueView, Error> {
        let found = self.find(given, Scope::Here)?;
        if found.dir.change_queue(|queue| queue.drop_waiting(number))? {
            let data = json!({ "dropped": 1 });
            self.emit(EventKind::QueueCleared, &found.record, data);
        }
        self.queue_view(&found.dir, &found.record)
    }

    /// Moves a waiting prompt one place towards the front or the end.
    pub(crate) fn move_queued(
        &self,
        given: &str,
        number: u64,
        forward: bool,
    ) -> Result<QueueView, Error> {
        let found = self.find(given, Scope::Here)?;
        found
            .dir
            .change_queue(|queue| queue.move_waiting(number, forward))?;
        self.queue_view(&found.dir, &found.record)
    }

    /// Types the next queued prompt to an agent that is at rest. An instance that the idle timer has
    /// paused is woken first; one that the user has paused is left alone, and so is a paused camp.
    pub(crate) fn feed_queue(&self, id: &InstanceId) -> Result<FeedResult, Error> {
        let dir = self.store.instance(id);
        let record = dir.record()?;
        if dir.queue()?.next().is_none() || self.camp_is_paused()? || !may_be_fed(&record) {
            return Ok(FeedResult::Nothing);
        }
        // From here on the idle timer cannot pause it.
        let Ok(_presence) = dir.lock_presence("queue") else {
            return Ok(FeedResult::NotNow);
        };
        let found = match self.awake_for_its_queue(id) {
            Ok(Some(found)) => found,
            Ok(None) | Err(Error::Busy { .. }) => return Ok(FeedResult::NotNow),
            Err(error) => return self.stop_queue(&dir, &record, &error),
        };
        let record = found.record;
        let Some(place) = record
            .place
            .clone()
            .filter(|_| record.state == RestingState::Running && found.journal.is_none())
        else {
            return Ok(FeedResult::NotNow);
        };
        let Ok(_typing) = dir.lock_typing(SENDER) else {
            return Ok(FeedResult::NotNow);
        };
        let server = self.server_of(&record);
        let patience = Patience {
            starting: READY,
            busy: Some(READY),
        };
        let agent = self.watched(&server, &dir, &record, &place)?;
        if await_ready(&agent, &record.title, patience).is_err() {
            return Ok(FeedResult::NotNow);
        }
        let Ok(TypingAccess::Granted(typing)) = TypingLock::acquire(&dir, &place) else {
            return Ok(FeedResult::NotNow);
        };
        // A box can be empty for a moment while the user types in it.
        let look = server.take_detailed_screenshot(&place.pane)?;
        if look.is_none_or(|look| was_typed_at(&look, TYPING)) {
            return Ok(FeedResult::NotNow);
        }
        // The user has to send or delete a draft; until then the queue waits.
        let last = || self.last_prompt(&dir, &record);
        if require_empty_box(&agent, &last).is_err() {
            return Ok(FeedResult::NotNow);
        }
        // Recorded before the first key, so that it is never typed twice.
        let Some((number, prompt)) = dir.change_queue(|queue| queue.begin(now()))? else {
            return Ok(FeedResult::Nothing);
        };
        crate::process::crash::at("queue:feed:sending");
        let wording = match dir.queue()?.is_raw(number) {
            true => Wording::Raw,
            false => Wording::Text,
        };
        match typing.type_to(self, &agent, &record, &place, &prompt, wording) {
            Ok(_) => {
                dir.change_queue(|queue| queue.sent(number))?;
                self.emit(
                    EventKind::QueueStarted,
                    &record,
                    json!({ "number": number }),
                );
                Ok(FeedResult::Sent)
            }
            Err(error) => self.stop_queue(&dir, &record, &error),
        }
    }

    /// The instance, running; one that the idle timer has paused is resumed. None where another operation is under
    /// way, or where the user has paused it since it was looked at: that is never waited for, and never undone.
    fn awake_for_its_queue(&self, id: &InstanceId) -> Result<Option<Found>, Error> {
        let found = self.settled(id.as_str(), Scope::Here)?;
        if found.journal.is_some() || !may_be_fed(&found.record) {
            return Ok(None);
        }
        if found.record.state == RestingState::Running {
            return Ok(Some(found));
        }
        let locked = self.lock_instance(id.as_str(), Scope::Here, "queue")?;
        if !may_be_fed(&locked.record) || self.camp_is_paused()? {
            return Ok(None);
        }
        self.bring_back_locked(locked, &ResumeOptions::quiet(), &mut Silent)?;
        self.settled(id.as_str(), Scope::Here).map(Some)
    }

    /// Records how the turn ended that was started from the queue.
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

    /// Handles a prompt whose delivery was cut off by a crash. It is not known whether it arrived, and
    /// it must not be typed twice, so the user is told to look.
    pub(crate) fn recover_queue(&self, id: &InstanceId) -> Result<bool, Error> {
        use crate::model::QueueState;
        let dir = self.store.instance(id);
        let unsure = dir
            .queue()?
            .current()
            .is_some_and(|entry| entry.state == QueueState::Sending);
        // A process that types it right now holds the lock.
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
    ) -> Result<FeedResult, Error> {
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
        Ok(FeedResult::Failed)
    }
}

/// Whether an instance in this state may be fed: running, or paused by the idle timer.
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
        | RestingState::Away
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
            held_by: None,
            entries: queue.entries,
        })
    }
}
