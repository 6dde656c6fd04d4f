//! A prompt, delivered whole to an agent that is ready for it.

use std::time::Duration;

use super::delivery::deliver;
use super::watch::{Found, Watched};
use super::{Engine, Error, Progress, ResumeOptions, Scope};
use crate::detect::Rest;
use crate::lifecycle::{Operation, Step};
use crate::model::{InstanceRecord, Resting, Seat, State, Title};
use crate::store::{InstanceDir, Loaded};
use crate::tmux::TmuxError;

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
        let found = self.awake(found.record.id.as_str(), &ResumeOptions::quiet(), progress)?;
        let (record, dir) = (found.record, found.dir);
        let seat = match (record.state, &record.seat) {
            (Resting::Running, Some(seat)) => seat.clone(),
            (state, _) => {
                return Err(Error::WrongState {
                    verb: "send to",
                    title: record.title,
                    state: state.into(),
                });
            }
        };
        let _typing = dir.lock_typing(TYPING_WAIT)?;
        let server = self.server_of(&record);
        let patience = Patience {
            starting: self.settings().launch.ready,
            busy: None,
        };
        let agent = self.watched(&server, &dir, &record, &seat)?;
        let last = || self.last_prompt(&dir, &record);
        match deliver(&agent, &record.title, prompt, patience, &last) {
            Err(error) => self.ended_of_its_own(error, &record)?,
            Ok(()) if was_taken_away(&dir, &seat) => {
                return Err(Error::WrongState {
                    verb: "send to",
                    state: self.show(record.id.as_str())?.state,
                    title: record.title,
                });
            }
            Ok(()) => {}
        }
        // It has arrived: that it is not in the log must not make anyone send it again.
        if let Err(error) = self.record_sent(&dir, &record, prompt) {
            progress.note(&format!("the prompt was not recorded: {error}"));
        }
        Ok(())
    }

    /// An agent that is gone may have been told to go by what was sent. One that was taken away while
    /// a message waited for it (paused, killed by somebody else) has not read it; then the state says
    /// more than that its pane is gone.
    fn ended_of_its_own(&self, error: Error, record: &InstanceRecord) -> Result<(), Error> {
        let vanished = match &error {
            Error::Tmux(TmuxError::NoPane(_) | TmuxError::NoServer) => true,
            Error::AgentDied { .. } => false,
            _ => return Err(error),
        };
        let Ok(view) = self.show(record.id.as_str()) else {
            return Err(error);
        };
        match view.state {
            State::Completed | State::Failed if vanished => Ok(()),
            State::Running => Err(error),
            state => Err(Error::WrongState {
                verb: "send to",
                title: record.title.clone(),
                state,
            }),
        }
    }
}

/// Whether somebody pauses, kills or restarts the agent and does not wait for its turn any more: an
/// agent that is told to go empties its input box, too, and what was typed last may not have been read.
pub(super) fn was_taken_away(dir: &InstanceDir, seat: &Seat) -> bool {
    match dir.load() {
        Loaded::Known { record, journal } => {
            let going = journal.is_some_and(|journal| {
                let waits =
                    journal.plan.operation == Operation::Pause && !journal.is_done(Step::Quiesce);
                !journal.is_closed() && !waits
            });
            going
                || matches!(record.state, Resting::Paused | Resting::Killed)
                || record.seat.as_ref() != Some(seat)
        }
        Loaded::Unborn { .. } | Loaded::Unreadable(_) => true,
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
        Found::AtRest(Rest::Idle | Rest::Quiet) => Ok(()),
        Found::AtRest(Rest::Waiting(activity)) => Err(Error::NeedsPerson {
            title: title.clone(),
            activity,
        }),
        Found::StillMoving(_) => Err(Error::NotReady {
            seconds: patience.starting.as_secs(),
        }),
        Found::AtRest(Rest::Exited) | Found::Gone => {
            let code = agent
                .server
                .death_of(agent.pane)?
                .map_or(128, crate::tmux::Death::exit_code);
            Err(Error::AgentDied {
                code,
                last_words: super::peek::last_words(agent.server, agent.pane),
            })
        }
    }
}
