//! A prompt, delivered whole to an agent that is ready for it.

use std::time::{Duration, Instant};

use crate::agents::Readiness;
use crate::engine::base::{Core, Error, Found, Progress, Scope, now};
use crate::engine::operate::options::ResumeOptions;
use crate::engine::typing::lock::{Hands, Laid, Typed, Whereabouts, whereabouts};
use crate::engine::typing::ready::{Patience, await_ready};
use crate::model::{AgentPlace, EventKind, InstanceRecord, Queue, QueueStart, RestingState, State};
use crate::store::{InstanceDir, StoreError};
use crate::tmux::TmuxError;

/// Senders wait for each other: one message at a time, each whole.
const TYPING_WAIT: Duration = Duration::from_secs(600);

/// One that is to be queued otherwise waits this long for others that type …
const TURN: Duration = Duration::from_secs(10);
/// … and for a turn that is just ending.
const BUSY: Duration = Duration::from_secs(2);

/// A prompt on its way.
struct Sending<'a> {
    prompt: &'a str,
    /// Its number in the queue, where it waits if the agent cannot take it.
    queued: Option<u64>,
    /// How long to wait for others that type.
    turn: Duration,
    /// How long to wait for an agent that works; None: as long as it does.
    busy: Option<Duration>,
}

/// What became of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    Typed,
    /// The agent could not take it; it is the next of its queue.
    Queued,
}

impl Core {
    /// Types a prompt and submits it, exactly. An agent that is busy gets it next, by its queue. It is on
    /// disk before anything is waited for: only an error, or taking it back, takes it out again.
    pub(crate) fn send(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<Sent, Error> {
        if prompt.is_empty() {
            return Err(Error::NothingToSend);
        }
        let found = self.find(given, Scope::Living)?;
        let dir = &found.dir;
        // From here on no timer puts it to sleep under us.
        let _presence = dir.lock_presence("send")?;
        let number = dir.change_queue(|queue| queue.put_ahead(prompt.to_owned(), now()))?;
        let how = Sending {
            prompt,
            queued: Some(number),
            turn: TURN,
            busy: Some(BUSY),
        };
        let sent = self.send_to(&found.record, &how, progress);
        if let Ok(Sent::Queued) = sent {
            // Its user is there to see how it goes.
            dir.change_queue(Queue::restart)?;
            let data = serde_json::json!({ "numbers": [number] });
            self.emit(EventKind::QueueAdded, &found.record, data);
        } else {
            dir.change_queue(|queue| queue.remove_prompt(number))?;
        }
        sent
    }

    /// The same, however long the agent is busy.
    pub(crate) fn send_now(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        if prompt.is_empty() {
            return Err(Error::NothingToSend);
        }
        let found = self.find(given, Scope::Living)?;
        let _presence = found.dir.lock_presence("send")?;
        let how = Sending {
            prompt,
            queued: None,
            turn: TYPING_WAIT,
            busy: None,
        };
        self.send_to(&found.record, &how, progress).map(drop)
    }

    /// Takes back the last prompt that was sent and still waits. None where none does.
    pub(crate) fn unsend(&self, given: &str) -> Result<Option<String>, Error> {
        let found = self.find(given, Scope::Living)?;
        Ok(found.dir.change_queue(Queue::remove_last_ahead)?)
    }

    fn send_to(
        &self,
        record: &InstanceRecord,
        how: &Sending<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Sent, Error> {
        let deadline = Instant::now() + how.turn;
        loop {
            let Found { record, dir, .. } =
                self.awake(record.id.as_str(), &ResumeOptions::quiet(), progress)?;
            let place = match (record.state, &record.place) {
                (RestingState::Running, Some(place)) => place.clone(),
                (state, _) => return Err(cannot_send(&record, state.into())),
            };
            let _turn = match dir.lock_typing(deadline.saturating_duration_since(Instant::now())) {
                Err(StoreError::Busy { .. }) if how.queued.is_some() => return Ok(Sent::Queued),
                other => other?,
            };
            match self.hand_over(&dir, &record, &place, how) {
                Err(Error::NotReady { .. }) if how.queued.is_some() => return Ok(Sent::Queued),
                Err(error) => return Err(error),
                Ok(Handed::Over(typed)) => {
                    if let Some(error) = typed.unrecorded {
                        progress.note(&format!("the prompt was not recorded: {error}"));
                    }
                    return Ok(Sent::Typed);
                }
                Ok(Handed::ByAnother) => return Ok(Sent::Typed),
                Ok(Handed::NotYet) => return Ok(Sent::Queued),
                // Nothing was typed. Somebody who has paused it since is not overruled.
                Ok(Handed::NotThere(Whereabouts::Leaves(state))) => {
                    return Err(cannot_send(&record, state));
                }
                Ok(Handed::NotThere(Whereabouts::Sits | Whereabouts::Moved)) => {}
            }
        }
    }

    /// Waits until the agent is ready, and types.
    fn hand_over(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        place: &AgentPlace,
        how: &Sending<'_>,
    ) -> Result<Handed, Error> {
        // Others were before us, and may have taken it away.
        let there = whereabouts(dir, place);
        if there != Whereabouts::Sits {
            return Ok(Handed::NotThere(there));
        }
        let server = self.server_of(record);
        let agent = self.watched(&server, dir, record, place)?;
        // One without rules is known to rest only after a silence.
        let silence = match agent.provider.readiness() {
            Readiness::Quiet(window) => window,
            Readiness::Rules => Duration::ZERO,
        };
        let patience = Patience {
            starting: self.settings().launch.ready,
            busy: how.busy.map(|busy| busy + silence),
        };
        let handed = await_ready(&agent, &record.title, patience).and_then(|()| {
            let hands = match Hands::lay_on(dir, place)? {
                Laid::On(hands) => hands,
                Laid::NotThere(whereabouts) => return Ok(Handed::NotThere(whereabouts)),
            };
            if let Some(number) = how.queued {
                // Written down before the first key: it is never typed twice.
                match dir.change_queue(|queue| queue.begin_prompt(number, now()))? {
                    QueueStart::Now => {}
                    QueueStart::NotYet => return Ok(Handed::NotYet),
                    QueueStart::ByAnother => return Ok(Handed::ByAnother),
                    QueueStart::Removed => return Err(Error::Unsent),
                }
            }
            let typed = hands.type_to(self, &agent, record, place, how.prompt)?;
            Ok(Handed::Over(typed))
        });
        match handed {
            // One that was taken away says less than where it is.
            Err(
                error @ (Error::AgentDied { .. }
                | Error::Tmux(TmuxError::NoPane(_) | TmuxError::NoServer)),
            ) => match self.where_now(record, place)? {
                Whereabouts::Sits => Err(error),
                elsewhere => Ok(Handed::NotThere(elsewhere)),
            },
            other => other,
        }
    }

    /// The same as [`whereabouts`], when an agent that has ended has been written down as such.
    fn where_now(&self, record: &InstanceRecord, place: &AgentPlace) -> Result<Whereabouts, Error> {
        let there = whereabouts(&self.store.instance(&record.id), place);
        if there != Whereabouts::Sits {
            return Ok(there);
        }
        Ok(match self.show(record.id.as_str())?.state {
            State::Running => Whereabouts::Sits,
            state => Whereabouts::Leaves(state),
        })
    }
}

/// What came of an attempt to hand a prompt over.
enum Handed {
    Over(Typed),
    /// The daemon was faster.
    ByAnother,
    /// Others are before it in the queue.
    NotYet,
    NotThere(Whereabouts),
}

fn cannot_send(record: &InstanceRecord, state: State) -> Error {
    Error::WrongState {
        verb: "send to",
        title: record.title.clone(),
        state,
    }
}
