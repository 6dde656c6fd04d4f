//! Hands on an agent's keys: while they are there, nobody takes the agent away.
//!
//! A message is either typed and seen to be taken before an operation begins to stop the agent, or not
//! typed at all. Both sides do their part: an operation is in the journal first and then waits until no
//! hands are on the keys; hands are laid on the keys first and then look into the journal.

use std::time::{Duration, Instant};

use crate::engine::base::{Core, Error};
use crate::engine::typing::delivery::{Receipt, type_in};
use crate::engine::watch::look::Watched;
use crate::model::{AgentPlace, InstanceRecord, RestingState, State};
use crate::store::{InstanceDir, LoadedInstance, Lock};

/// How long an operation waits for hands on the keys, longer than any agent takes to take a prompt in.
/// Whoever holds on for longer cannot be sure of anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where the agent is that somebody wants to type to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Whereabouts {
    /// Where it was, and nobody is about to take it away.
    Sits,
    /// It was taken away and is back, or an operation was cut off and has to be taken up first.
    Moved,
    /// It is gone, or somebody sees to that.
    Leaves(State),
}

/// The right to type to one agent.
#[derive(Debug)]
pub(in crate::engine) struct Hands {
    since: Instant,
    _lock: Lock,
}

/// An attempt to lay hands on the keys.
#[derive(Debug)]
pub(in crate::engine) enum Laid {
    On(Hands),
    NotThere(Whereabouts),
}

impl Hands {
    pub(in crate::engine) fn lay_on(dir: &InstanceDir, place: &AgentPlace) -> Result<Laid, Error> {
        let lock = dir.lock_keys(PATIENCE)?;
        Ok(match whereabouts(dir, place) {
            Whereabouts::Sits => Laid::On(Self {
                since: Instant::now(),
                _lock: lock,
            }),
            elsewhere => Laid::NotThere(elsewhere),
        })
    }

    /// Types the prompt and sees it taken, or says that it was not, or that nobody can know.
    pub(in crate::engine) fn type_to(
        self,
        core: &Core,
        agent: &Watched<'_>,
        record: &InstanceRecord,
        place: &AgentPlace,
        prompt: &str,
    ) -> Result<Typed, Error> {
        let last = || core.last_prompt(agent.dir, record);
        let noted = core.note_prompt(agent.dir, prompt);
        let receipt = type_in(agent, prompt, &last).inspect_err(|_| {
            if let Ok(at) = noted {
                // A note that stays is only asked about a prompt of the same words.
                drop(core.forget_prompt(agent.dir, at, prompt));
            }
        })?;
        let taken = match receipt {
            Receipt::Taken => true,
            // It may have been told to go by what was typed; then it has ended with a status.
            Receipt::Gone => agent
                .server
                .death_of(agent.pane)?
                .is_some_and(|death| death.signal.is_none() && death.status.is_some()),
        };
        // What an agent shows that is being stopped proves nothing.
        let in_time = self.since.elapsed() < PATIENCE;
        if !taken || !(in_time || whereabouts(agent.dir, place) == Whereabouts::Sits) {
            return Err(Error::NotKnown {
                title: record.title.clone(),
            });
        }
        // Before anybody saves the conversation. It has arrived: that it is not in the log must not make
        // anyone send it again.
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

/// Waits until nobody types any more, for an operation that is in the journal already: nobody begins to
/// type then. Someone who never lets go is not waited for, and will find out.
pub(in crate::engine) fn await_no_hands(dir: &InstanceDir) {
    drop(dir.lock_keys(PATIENCE));
}

/// Where the agent is that sat here.
pub(in crate::engine) fn whereabouts(dir: &InstanceDir, place: &AgentPlace) -> Whereabouts {
    match dir.load() {
        LoadedInstance::Known { record, journal } => {
            match journal.filter(|journal| !journal.is_closed()) {
                Some(journal) => match dir.try_lock_operation("look") {
                    // Nobody is at it any more, or it has just come to its end.
                    Ok(_) => Whereabouts::Moved,
                    Err(_) => Whereabouts::Leaves(journal.plan.operation.state()),
                },
                None if record.state != RestingState::Running => {
                    Whereabouts::Leaves(record.state.into())
                }
                None if record.place.as_ref() == Some(place) => Whereabouts::Sits,
                None => Whereabouts::Moved,
            }
        }
        // Whoever looks for it again is told why it is not there.
        LoadedInstance::Unborn { .. } | LoadedInstance::Unreadable(_) => Whereabouts::Moved,
    }
}
