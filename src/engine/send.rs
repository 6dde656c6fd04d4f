//! A prompt, delivered whole to an agent that is ready for it.

use std::time::{Duration, Instant};

use super::hands::{Hands, Laid, Typed, Whereabouts, whereabouts};
use super::resolve::Found;
use super::watch::{self, Watched};
use super::{Engine, Error, Progress, ResumeOptions, Scope};
use crate::detect::Rest;
use crate::model::{InstanceRecord, Resting, Seat, State, Title};
use crate::store::InstanceDir;
use crate::tmux::{Server, TmuxError};

/// Senders wait for each other: one message at a time, each whole.
const TYPING_WAIT: Duration = Duration::from_secs(600);

/// How long to wait for an agent to become ready.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For one that shows nothing that is known yet.
    pub starting: Duration,
    /// For one that works; None: as long as it does.
    pub busy: Option<Duration>,
}

impl Engine {
    /// Types a prompt and submits it, exactly.
    pub(crate) fn send(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        if prompt.is_empty() {
            return Err(Error::NothingToSend);
        }
        let found = self.find(given, Scope::Living)?;
        // From here on no timer puts it to sleep under us.
        let _presence = found.dir.presence("send")?;
        let deadline = Instant::now() + TYPING_WAIT;
        loop {
            let Found { record, dir, .. } =
                self.awake(found.record.id.as_str(), &ResumeOptions::quiet(), progress)?;
            let seat = match (record.state, &record.seat) {
                (Resting::Running, Some(seat)) => seat.clone(),
                (state, _) => return Err(cannot_send(&record, state.into())),
            };
            let _turn = dir.lock_typing(deadline.saturating_duration_since(Instant::now()))?;
            match self.hand_over(&dir, &record, &seat, prompt)? {
                Handed::Over(typed) => {
                    if let Some(error) = typed.unrecorded {
                        progress.note(&format!("the prompt was not recorded: {error}"));
                    }
                    return Ok(());
                }
                // Nothing was typed. Somebody who has paused it since is not overruled.
                Handed::NotThere(Whereabouts::Leaves(state)) => {
                    return Err(cannot_send(&record, state));
                }
                Handed::NotThere(Whereabouts::Sits | Whereabouts::Moved) => {}
            }
        }
    }

    /// Waits until the agent is ready, and types.
    fn hand_over(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        seat: &Seat,
        prompt: &str,
    ) -> Result<Handed, Error> {
        // Others were before us, and may have taken it away.
        let there = whereabouts(dir, seat);
        if there != Whereabouts::Sits {
            return Ok(Handed::NotThere(there));
        }
        let server = self.server_of(record);
        let patience = Patience {
            starting: self.settings().launch.ready,
            busy: None,
        };
        let agent = self.watched(&server, dir, record, seat)?;
        let handed = await_ready(&agent, &record.title, patience).and_then(|()| {
            Ok(match Hands::lay_on(dir, seat)? {
                Laid::On(hands) => Handed::Over(hands.type_to(self, &agent, record, seat, prompt)?),
                Laid::NotThere(whereabouts) => Handed::NotThere(whereabouts),
            })
        });
        match handed {
            // One that was taken away says less than where it is.
            Err(
                error @ (Error::AgentDied { .. }
                | Error::Tmux(TmuxError::NoPane(_) | TmuxError::NoServer)),
            ) => match self.where_now(record, seat)? {
                Whereabouts::Sits => Err(error),
                elsewhere => Ok(Handed::NotThere(elsewhere)),
            },
            other => other,
        }
    }

    /// The same as [`whereabouts`], when an agent that has ended has been written down as such.
    fn where_now(&self, record: &InstanceRecord, seat: &Seat) -> Result<Whereabouts, Error> {
        let there = whereabouts(&self.store.instance(&record.id), seat);
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
    NotThere(Whereabouts),
}

fn cannot_send(record: &InstanceRecord, state: State) -> Error {
    Error::WrongState {
        verb: "send to",
        title: record.title.clone(),
        state,
    }
}

pub(super) fn await_ready(
    agent: &Watched<'_>,
    title: &Title,
    patience: Patience,
) -> Result<(), Error> {
    use crate::model::Activity;
    let mut moving_since = Duration::ZERO;
    let quiet = agent.provider.readiness().quiet();
    let found = agent.until_rest(quiet, |elapsed, activity| {
        if activity == Activity::Busy {
            moving_since = elapsed;
            patience.busy.is_none_or(|limit| elapsed < limit)
        } else {
            elapsed.saturating_sub(moving_since) < patience.starting
        }
    })?;
    match found {
        watch::Found::AtRest(Rest::Idle | Rest::Quiet) => Ok(()),
        watch::Found::AtRest(Rest::Waiting(activity)) => Err(Error::NeedsPerson {
            title: title.clone(),
            activity,
        }),
        watch::Found::StillMoving(_) => Err(Error::NotReady {
            seconds: patience.starting.as_secs(),
        }),
        watch::Found::AtRest(Rest::Exited) | watch::Found::Gone => {
            Err(died(agent.server, agent.pane)?)
        }
    }
}

/// The error for an agent that has ended: its exit status and its last words.
pub(super) fn died(server: &Server, pane: &str) -> Result<Error, Error> {
    let code = server
        .death_of(pane)?
        .map_or(128, crate::tmux::Death::exit_code);
    Ok(Error::AgentDied {
        code,
        last_words: super::peek::last_words(server, pane),
    })
}
