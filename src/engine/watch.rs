//! Looking at one agent until it comes to rest.

use std::time::{Duration, Instant};

use super::Error;
use crate::agents::Provider;
use crate::detect::{Quiet, Rest, Screen, Settle};
use crate::engine::steps::BANNER;
use crate::model::Activity;
use crate::tmux::{Server, Shot};

/// Between two looks: short against a person's patience, long against the cost of one look.
const INTERVAL: Duration = Duration::from_millis(40);

/// How a wait ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    AtRest(Rest),
    /// Patience ran out; this is what the agent did last.
    StillMoving(Activity),
    Gone,
}

/// Looks at the pane until the agent is at rest, is gone, or `goes_on` (time so far, what the agent
/// does) says that it was long enough.
pub(super) fn until_rest(
    server: &Server,
    pane: &str,
    provider: &Provider,
    quiet: Quiet,
    mut goes_on: impl FnMut(Duration, Activity) -> bool,
) -> Result<Found, Error> {
    let started = Instant::now();
    let mut settle = Settle::new(quiet);
    loop {
        let Some(shot) = look(server, pane)? else {
            return Ok(Found::Gone);
        };
        if shot.dead {
            return Ok(Found::AtRest(Rest::Exited));
        }
        let screen = screen_of(&shot);
        let verdict = provider.judge(&screen, Some(&shot.title));
        if let Some(rest) = settle.observe(started.elapsed(), &screen, &verdict) {
            return Ok(Found::AtRest(rest));
        }
        if !goes_on(started.elapsed(), verdict.activity) {
            return Ok(Found::StillMoving(verdict.activity));
        }
        std::thread::sleep(INTERVAL);
    }
}

/// What an agent has drawn itself: a resumed one starts below its old screen, which is no sign of
/// what it does now.
pub(super) fn screen_of(shot: &Shot) -> Screen {
    Screen::new(&shot.text).below(BANNER)
}

pub(super) fn look(server: &Server, pane: &str) -> Result<Option<Shot>, Error> {
    Ok(server.look(&[pane])?.into_iter().next())
}
