//! The typing lock: while a process holds it, no operation stops the agent.
//!
//! A message is either typed and taken by the agent before an operation stops it, or not typed at all.
//! An operation first writes its journal and then waits until the lock is free. A sender first takes
//! the lock and then reads the journal.

use std::time::{Duration, Instant};

use crate::engine::base::{Core, Error};
use crate::engine::typing::delivery::{Receipt, Wording, type_in};
use crate::engine::watch::look::Watched;
use crate::model::{AgentPlace, InstanceRecord, Queue, RestingState, State};
use crate::store::{InstanceDir, LoadedInstance, Lock};

/// How long an operation waits for the lock: longer than any agent needs to take a prompt. A sender
/// that has held the lock for longer must check where the agent is.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where the agent is, compared with the place that the sender knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum AgentAt {
    /// At the same place, and no operation is about to stop it.
    Same,
    /// At another place, or an operation was cut off and has to be recovered first.
    Elsewhere,
    /// It is gone, or an operation is stopping it.
    Going(State),
}

/// The right to type to one agent.
#[derive(Debug)]
pub(in crate::engine) struct TypingLock {
    since: Instant,
    _lock: Lock,
}

/// The result of [`TypingLock::acquire`].
#[derive(Debug)]
pub(in crate::engine) enum TypingAccess {
    Granted(TypingLock),
    NotThere(AgentAt),
}

impl TypingLock {
    pub(in crate::engine) fn acquire(
        dir: &InstanceDir,
        place: &AgentPlace,
    ) -> Result<TypingAccess, Error> {
        let lock = dir.lock_keys(PATIENCE)?;
        Ok(match agent_at(dir, place) {
            AgentAt::Same => TypingAccess::Granted(Self {
                since: Instant::now(),
                _lock: lock,
            }),
            elsewhere => TypingAccess::NotThere(elsewhere),
        })
    }

    /// Types the prompt and waits until the agent has begun its turn. The error says whether it was not taken,
    /// or that it is not known.
    pub(in crate::engine) fn type_to(
        self,
        core: &Core,
        agent: &Watched<'_>,
        record: &InstanceRecord,
        place: &AgentPlace,
        prompt: &str,
        wording: Wording,
    ) -> Result<Typed, Error> {
        let last = || core.last_prompt(agent.dir, record);
        let noted = core.note_prompt(agent.dir, prompt);
        let told = || core.has_told(agent.dir, record, &noted, prompt);
        let receipt = type_in(agent, prompt, wording, &last, &told).inspect_err(|_| {
            if let Ok(at) = noted {
                // A note that stays only matters for a prompt of the same text.
                if let Err(error) = core.forget_prompt(agent.dir, at, prompt) {
                    tracing::debug!(%error, "remove the note of a prompt");
                }
            }
        })?;
        let taken = match receipt {
            Receipt::Taken => true,
            Receipt::NoTurn => {
                return Err(Error::NoTurn {
                    title: record.title.clone(),
                });
            }
            // The prompt may have told it to exit; then it has ended with a status.
            Receipt::Gone => agent
                .server
                .death_of(agent.pane)?
                .is_some_and(|death| death.signal.is_none() && death.status.is_some()),
        };
        // The screen of an agent that is being stopped proves nothing.
        let in_time = self.since.elapsed() < PATIENCE;
        if !taken || !(in_time || agent_at(agent.dir, place) == AgentAt::Same) {
            return Err(Error::NotKnown {
                title: record.title.clone(),
            });
        }
        // It has another turn now than the one that was cut off.
        if let Err(error) = agent.dir.change_queue(Queue::looked_at) {
            tracing::warn!(%error, "note that it has another turn");
        }
        // Recorded before an operation can save the conversation. The prompt has arrived, so a failure to
        // record it must not be an error that makes the caller send it again.
        Ok(Typed {
            unrecorded: noted
                .and_then(|at| core.record_sent(agent.dir, record, prompt, at))
                .err(),
        })
    }
}

/// A prompt that has arrived.
#[derive(Debug)]
#[must_use]
pub(in crate::engine) struct Typed {
    /// Why it is not in the log.
    pub unrecorded: Option<Error>,
}

/// Waits until no sender types. The caller's operation is in the journal already, so none can begin.
/// A sender that holds the lock for too long is not waited for: it checks afterwards and reports
/// that the outcome is not known.
pub(in crate::engine) fn await_typing_end(dir: &InstanceDir) {
    drop(dir.lock_keys(PATIENCE));
}

/// Where the agent is whose place was this one.
pub(in crate::engine) fn agent_at(dir: &InstanceDir, place: &AgentPlace) -> AgentAt {
    match dir.load() {
        LoadedInstance::Known { record, journal } => {
            match journal {
                Some(journal) => match dir.try_lock_operation("look") {
                    // The operation was abandoned, or has just ended.
                    Ok(_) => AgentAt::Elsewhere,
                    Err(_) => AgentAt::Going(journal.plan.operation.state()),
                },
                None if record.state != RestingState::Running => {
                    AgentAt::Going(record.state.into())
                }
                None if record.place.as_ref() == Some(place) => AgentAt::Same,
                None => AgentAt::Elsewhere,
            }
        }
        // The caller looks for it again and then gets the reason.
        LoadedInstance::Unborn { .. } | LoadedInstance::Unreadable(_) => AgentAt::Elsewhere,
    }
}
