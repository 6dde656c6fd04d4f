//! The keys that a pause presses: none is pressed because of a time alone where the agent shows what it has
//! taken.

use std::time::{Duration, Instant};

use crate::detect::Key;
use crate::engine::base::Error;
use crate::engine::watch::look::{Watched, screen_of};
use crate::model::Activity;
use crate::tmux::Server;

/// How long an agent may take to show that it has taken a key. Then the key is pressed again.
const TAKEN: Duration = Duration::from_secs(3);
/// Longer than a program waits for the rest of an escape sequence.
const BETWEEN_KEYS: Duration = Duration::from_millis(150);
/// Some signs stand for half a second only.
const BETWEEN_LOOKS: Duration = Duration::from_millis(40);
/// How often an agent is asked for the prompts that wait in it. One that holds more keeps them.
const MOST_ASKS: usize = 10;

/// Presses the interrupt keys. Where the agent shows that it waits for the next one, each is pressed as soon as it has
/// taken the one before: some wait for half a second only. A starved machine may be too late, or read two as one
/// key, so all of them are pressed again for as long as the agent still works, at most for `patience`.
pub(super) fn interrupt(agent: &Watched<'_>, patience: Duration) -> Result<(), Error> {
    let keys = agent.provider.interrupt_keys();
    if !agent.provider.shows_taken_interrupts() {
        return press(agent.server, agent.pane, keys);
    }
    let began = Instant::now();
    loop {
        for (at, key) in keys.iter().enumerate() {
            if at > 0 && !until(agent, TAKEN, wants_another)? {
                // The key before was the last one to it.
                if !shows(agent, Activity::Busy)? {
                    return Ok(());
                }
                std::thread::sleep(BETWEEN_KEYS);
            }
            agent.server.press(agent.pane, &[&key.name()])?;
        }
        let rests = until(agent, TAKEN, |agent| Ok(!shows(agent, Activity::Busy)?))?;
        if rests || began.elapsed() > patience {
            return Ok(());
        }
    }
}

/// Closes a dialog without an answer; false if it is still there when the time is over. A key that comes right
/// after the dialog was drawn is lost on a busy machine: it is pressed again.
pub(super) fn dismiss(agent: &Watched<'_>, patience: Duration) -> Result<bool, Error> {
    let keys = agent.provider.cancel_keys();
    let began = Instant::now();
    while !keys.is_empty() && began.elapsed() <= patience {
        press(agent.server, agent.pane, keys)?;
        if until(agent, TAKEN, |agent| Ok(!asks(agent)?))? {
            return Ok(true);
        }
    }
    Ok(keys.is_empty())
}

/// Brings the prompts that wait inside the agent into its input box, where they are not run when the turn is
/// interrupted.
pub(super) fn take_back_queued(agent: &Watched<'_>) -> Result<(), Error> {
    for _ in 0..MOST_ASKS {
        if !has_queued(agent)? {
            break;
        }
        press(agent.server, agent.pane, agent.provider.unqueue_keys())?;
        until(agent, TAKEN, |agent| Ok(!has_queued(agent)?))?;
    }
    Ok(())
}

pub(super) fn press(server: &Server, pane: &str, keys: &[Key]) -> Result<(), Error> {
    for (at, key) in keys.iter().enumerate() {
        // Two Escapes at once are one key to a program: Escape with Alt held down.
        if at > 0 {
            std::thread::sleep(BETWEEN_KEYS);
        }
        server.press(pane, &[&key.name()])?;
    }
    Ok(())
}

/// Looks until it holds; false when the time is over.
fn until(
    agent: &Watched<'_>,
    limit: Duration,
    holds: impl Fn(&Watched<'_>) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let since = Instant::now();
    while since.elapsed() < limit {
        if holds(agent)? {
            return Ok(true);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    holds(agent)
}

fn shows(agent: &Watched<'_>, activity: Activity) -> Result<bool, Error> {
    Ok(agent.look()?.is_some_and(|shot| {
        let seen = agent
            .provider
            .judge(&screen_of(&shot), Some(&shot.title))
            .activity;
        !shot.dead && seen == activity
    }))
}

fn asks(agent: &Watched<'_>) -> Result<bool, Error> {
    Ok(shows(agent, Activity::Approval)? || shows(agent, Activity::Question)?)
}

/// An agent that is gone wants nothing; pressing is harmless then.
fn wants_another(agent: &Watched<'_>) -> Result<bool, Error> {
    let shot = agent.look()?;
    Ok(shot.is_none_or(|shot| agent.provider.wants_next_interrupt(&screen_of(&shot))))
}

fn has_queued(agent: &Watched<'_>) -> Result<bool, Error> {
    let shot = agent.look()?;
    Ok(shot.is_some_and(|shot| agent.provider.shows_queued(&screen_of(&shot))))
}
