//! Waiting until an agent can take a prompt.

use std::time::Duration;

use crate::detect::RestKind;
use crate::engine::base::Error;
use crate::engine::watch::look::{self, Watched, last_words};
use crate::model::{Activity, Title};
use crate::tmux::Server;

/// How long to wait for an agent to become ready.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Patience {
    /// For an agent that shows nothing known yet.
    pub starting: Duration,
    /// For an agent that works; None: as long as it works.
    pub busy: Option<Duration>,
}

/// Waits until the agent is at rest, or until the time is over.
pub(in crate::engine) fn await_ready(
    agent: &Watched<'_>,
    title: &Title,
    patience: Patience,
) -> Result<(), Error> {
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
        look::Found::AtRest(RestKind::Idle | RestKind::Quiet) => Ok(()),
        look::Found::AtRest(RestKind::Waiting(activity)) => Err(match agent.limit()? {
            Some(limit) => Error::AtUsageLimit {
                title: title.clone(),
                resets_at: limit.resets_at,
            },
            None => Error::NeedsPerson {
                title: title.clone(),
                activity,
                says: agent.says()?,
            },
        }),
        look::Found::StillMoving(activity) => Err(Error::NotReady {
            title: title.clone(),
            seconds: match activity {
                Activity::Busy => patience.busy.unwrap_or(patience.starting).as_secs(),
                _ => patience.starting.as_secs(),
            },
            activity,
        }),
        look::Found::AtRest(RestKind::Exited) | look::Found::Gone => {
            Err(died(agent.server, agent.pane)?)
        }
    }
}

/// The error for an agent that has ended: its exit status and its last words.
pub(in crate::engine) fn died(server: &Server, pane: &str) -> Result<Error, Error> {
    let code = server
        .death_of(pane)?
        .map_or(128, crate::tmux::Death::exit_code);
    Ok(Error::AgentDied {
        code,
        last_words: last_words(server, pane),
    })
}
