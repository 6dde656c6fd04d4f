//! Delivers a prompt to an agent that is ready for it, or queues it.

use std::time::{Duration, Instant};

use crate::agents::Readiness;
use crate::engine::base::{Core, Error, Found, Progress, Scope, now};
use crate::engine::operate::options::ResumeOptions;
use crate::engine::typing::delivery::Wording;
use crate::engine::typing::lock::{AgentAt, Typed, TypingAccess, TypingLock, agent_at};
use crate::engine::typing::ready::{Patience, await_ready};
use crate::model::{AgentPlace, EventKind, InstanceRecord, Queue, QueueStart, RestingState, State};
use crate::store::{InstanceDir, StoreError};
use crate::tmux::TmuxError;

/// Senders wait for each other: one message at a time, each whole.
const TYPING_WAIT: Duration = Duration::from_secs(600);

/// A sender that can queue its prompt waits this long for other senders …
const TURN: Duration = Duration::from_secs(10);
/// … and for a turn that is just ending.
const BUSY: Duration = Duration::from_secs(2);

/// A prompt that is being sent.
struct Sending<'a> {
    prompt: &'a str,
    /// Its number in the queue, where it waits if the agent cannot take it.
    queued: Option<u64>,
    /// How long to wait for other senders.
    turn: Duration,
    /// How long to wait for an agent that works; None: as long as it works.
    busy: Option<Duration>,
    wording: Wording,
}

/// The result of sending a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    Typed,
    /// The agent could not take it; it is the next of its queue.
    Queued,
}

impl Core {
    /// Types a prompt, exactly as given, and submits it. If the agent is busy, the prompt becomes the
    /// next in its queue. It is on disk before anything is waited for; only an error, or `unsend`,
    /// takes it out again.
    pub(crate) fn send(
        &self,
        given: &str,
        prompt: &str,
        wording: Wording,
        progress: &mut dyn Progress,
    ) -> Result<Sent, Error> {
        if prompt.trim().is_empty() {
            return Err(Error::NothingToSend);
        }
        let found = self.find(given, Scope::Here)?;
        let prompt = &self.worded(&found.record, prompt, wording, progress)?;
        let dir = &found.dir;
        // From here on the idle timer cannot pause it.
        let _presence = dir.lock_presence("send")?;
        let number = dir.change_queue(|queue| {
            let number = queue.put_ahead(prompt.to_owned(), now());
            if wording == Wording::Raw {
                queue.mark_raw(number);
            }
            number
        })?;
        let how = Sending {
            prompt,
            queued: Some(number),
            turn: TURN,
            busy: Some(BUSY),
            wording,
        };
        let sent = self.send_to(&found.record, &how, progress);
        if sent.is_ok() {
            // The user is present, so a stopped queue may go on.
            dir.change_queue(Queue::restart)?;
        }
        if let Ok(Sent::Queued) = sent {
            let data = serde_json::json!({ "numbers": [number] });
            self.emit(EventKind::QueueAdded, &found.record, data);
        } else {
            dir.change_queue(|queue| queue.remove_prompt(number))?;
        }
        sent
    }

    /// As `send`, but waits however long the agent is busy.
    pub(crate) fn send_now(
        &self,
        given: &str,
        prompt: &str,
        wording: Wording,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        if prompt.trim().is_empty() {
            return Err(Error::NothingToSend);
        }
        let found = self.find(given, Scope::Here)?;
        let prompt = &self.worded(&found.record, prompt, wording, progress)?;
        let _presence = found.dir.lock_presence("send")?;
        let how = Sending {
            prompt,
            queued: None,
            turn: TYPING_WAIT,
            busy: None,
            wording,
        };
        self.send_to(&found.record, &how, progress).map(drop)
    }

    /// The prompt as the agent can take it, and how many characters had to be left out. An error before
    /// anything is typed where it cannot.
    pub(in crate::engine) fn as_text(
        &self,
        record: &InstanceRecord,
        prompt: &str,
    ) -> Result<(String, usize), Error> {
        let provider = self.provider_of(record)?;
        match provider.refuses(prompt) {
            Some(why) => Err(Error::CannotArrive { why }),
            None => Ok(provider.without_invisible(prompt)),
        }
    }

    fn worded(
        &self,
        record: &InstanceRecord,
        prompt: &str,
        wording: Wording,
        progress: &mut dyn Progress,
    ) -> Result<String, Error> {
        if wording == Wording::Raw {
            return Ok(prompt.to_owned());
        }
        let (text, left_out) = self.as_text(record, prompt)?;
        if left_out > 0 {
            let agent = self.provider_of(record)?.display();
            progress.note(&format!(
                "{left_out} invisible characters are left out: {agent} does not take them"
            ));
        }
        if text.trim().is_empty() {
            return Err(Error::NothingToSend);
        }
        Ok(text)
    }

    /// Takes back the last prompt that was sent and still waits; None if none does.
    pub(crate) fn unsend(&self, given: &str) -> Result<Option<String>, Error> {
        let found = self.find(given, Scope::Here)?;
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
            match self.deliver(&dir, &record, &place, how) {
                Err(Error::NotReady { .. } | Error::AtUsageLimit { .. })
                    if how.queued.is_some() =>
                {
                    return Ok(Sent::Queued);
                }
                Err(error) => return Err(error),
                Ok(Delivered::Typed(typed)) => {
                    if let Some(error) = typed.unrecorded {
                        progress.note(&format!("the prompt was not recorded: {error}"));
                    }
                    return Ok(Sent::Typed);
                }
                Ok(Delivered::ByAnother) => return Ok(Sent::Typed),
                Ok(Delivered::NotYet) => return Ok(Sent::Queued),
                // Nothing was typed. A pause since then is not overruled.
                Ok(Delivered::NotThere(AgentAt::Going(state))) => {
                    return Err(cannot_send(&record, state));
                }
                Ok(Delivered::NotThere(AgentAt::Same | AgentAt::Elsewhere)) => {}
            }
        }
    }

    /// Waits until the agent is ready, and types.
    fn deliver(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        place: &AgentPlace,
        how: &Sending<'_>,
    ) -> Result<Delivered, Error> {
        // While this sender waited, an operation may have stopped the agent.
        let there = agent_at(dir, place);
        if there != AgentAt::Same {
            return Ok(Delivered::NotThere(there));
        }
        let server = self.server_of(record);
        let agent = self.watched(&server, dir, record, place)?;
        // An agent without rules is known to be at rest only after a silence.
        let silence = match agent.provider.readiness() {
            Readiness::Quiet(window) => window,
            Readiness::Rules => Duration::ZERO,
        };
        let patience = Patience {
            starting: self.settings().launch.ready,
            busy: how.busy.map(|busy| busy + silence),
        };
        let delivered = await_ready(&agent, &record.title, patience).and_then(|()| {
            let typing = match TypingLock::acquire(dir, place)? {
                TypingAccess::Granted(lock) => lock,
                TypingAccess::NotThere(agent_at) => return Ok(Delivered::NotThere(agent_at)),
            };
            if let Some(number) = how.queued {
                // Recorded before the first key, so that it is never typed twice.
                match dir.change_queue(|queue| queue.begin_prompt(number, now()))? {
                    QueueStart::Now => {}
                    QueueStart::NotYet => return Ok(Delivered::NotYet),
                    QueueStart::ByAnother => return Ok(Delivered::ByAnother),
                    QueueStart::Removed => return Err(Error::Unsent),
                }
            }
            let typed = typing.type_to(self, &agent, record, place, how.prompt, how.wording)?;
            Ok(Delivered::Typed(typed))
        });
        match delivered {
            // If an operation has stopped the agent, that is the better answer.
            Err(
                error @ (Error::AgentDied { .. }
                | Error::Tmux(TmuxError::NoPane(_) | TmuxError::NoServer)),
            ) => match self.where_now(record, place)? {
                AgentAt::Same => Err(error),
                elsewhere => Ok(Delivered::NotThere(elsewhere)),
            },
            other => other,
        }
    }

    /// As [`agent_at`], after an agent that has ended was recorded as ended.
    fn where_now(&self, record: &InstanceRecord, place: &AgentPlace) -> Result<AgentAt, Error> {
        let there = agent_at(&self.store.instance(&record.id), place);
        if there != AgentAt::Same {
            return Ok(there);
        }
        Ok(match self.show(record.id.as_str())?.state {
            State::Running => AgentAt::Same,
            state => AgentAt::Going(state),
        })
    }
}

/// The result of an attempt to deliver a prompt.
enum Delivered {
    Typed(Typed),
    /// The daemon was faster.
    ByAnother,
    /// Others are before it in the queue.
    NotYet,
    NotThere(AgentAt),
}

fn cannot_send(record: &InstanceRecord, state: State) -> Error {
    Error::WrongState {
        verb: "send to",
        title: record.title.clone(),
        state,
    }
}
