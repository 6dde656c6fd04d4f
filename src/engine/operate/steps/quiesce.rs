//! Brings a working agent to rest before it is stopped. Here a pause decides to force.

use std::time::Duration;

use crate::detect::{Key, Quiet, RestKind};
use crate::engine::base::{Error, now};
use crate::engine::operate::options::CANCEL;
use crate::engine::operate::steps::fact::{self, Quiesced};
use crate::engine::operate::steps::work::{Work, look_at_tree};
use crate::engine::watch::look::{Found, Watched, screen_of};
use crate::lifecycle::Facts;
use crate::model::{Activity, printable_line};
use crate::tmux::{Pane, Server};

/// Seconds without output after which nothing is about to be drawn. tmux counts whole seconds.
const LONG_ENOUGH: i64 = 2;

/// Longer than a program waits for the rest of an escape sequence.
const BETWEEN_KEYS: Duration = Duration::from_millis(150);

impl Work<'_> {
    /// Waits for the turn to end, then interrupts, then goes on whatever the agent does (forced). A
    /// dialog is never answered, only dismissed.
    pub(super) fn quiesce(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(options) = facts.read(fact::PAUSE)? else {
            return Ok(Facts::none());
        };
        let server = self.core.server_of(&self.record);
        let Some(pane) = server.pane_of(&self.record.id)? else {
            return Ok(Facts::none());
        };
        let provider = self.core.provider_of(&self.record)?;
        let agent = Watched {
            server: &server,
            pane: &pane.id,
            provider,
            dir: &self.dir,
            host: &self.core.host,
            leader: self.record.place.as_ref().map(|place| &place.agent),
            since: Some(self.record.resumed_at.unwrap_or(self.record.created_at)),
        };
        let mut quiesced = Quiesced::default();
        let mut safe = match at_rest_already(&agent, &pane)? {
            Some(rest) => Some(rest),
            None => self.wait(&agent, options.wait)?,
        };
        // Where no key interrupts, there is nothing to wait for either.
        if safe.is_none() && !provider.interrupt_keys().is_empty() {
            self.progress.note("interrupting the agent's turn");
            look_at_tree(&mut self.tree, &self.record);
            press(&server, &pane.id, provider.interrupt_keys())?;
            let grace = self.core.settings().pause.grace;
            safe = self.wait(&agent, Some(grace))?;
        }
        if let Some(RestKind::Waiting(Activity::Approval | Activity::Question)) = safe {
            quiesced.asked = asked(&agent)?;
            press(&server, &pane.id, provider.cancel_keys())?;
            let grace = self.core.settings().pause.grace;
            safe = self.wait(&agent, Some(grace))?;
        }
        if safe.is_none() {
            quiesced.forced = true;
            self.progress
                .note("the agent did not come to rest and is stopped all the same");
        }
        Ok(Facts::none().with(fact::QUIESCED, &quiesced))
    }

    /// Waits until the agent is at rest; None when the time is over. The pause can be cancelled meanwhile.
    fn wait(
        &self,
        agent: &Watched<'_>,
        limit: Option<Duration>,
    ) -> Result<Option<RestKind>, Error> {
        let cancel = self.dir.path.join(CANCEL);
        let mut cancelled = false;
        let quiet = match agent.provider.readiness().quiet() {
            // An agent with rules shows when it is at rest; a silent one may still be thinking.
            Quiet::Ignored => Quiet::Counts,
            other => other,
        };
        let found = agent.until_rest(quiet, |elapsed, _| {
            cancelled = cancel.exists();
            !cancelled && limit.is_none_or(|limit| elapsed < limit)
        })?;
        if cancelled {
            return Err(Error::Cancelled);
        }
        Ok(match found {
            Found::AtRest(rest) => Some(rest),
            Found::Gone => Some(RestKind::Exited),
            Found::StillMoving(_) => None,
        })
    }
}

/// An agent that has said nothing for a while has been at rest for as long: one look is enough.
fn at_rest_already(agent: &Watched<'_>, pane: &Pane) -> Result<Option<RestKind>, Error> {
    let silent = now().seconds_since_epoch() - pane.active_at;
    let Some(shot) = agent.look()?.filter(|_| silent > LONG_ENOUGH) else {
        return Ok(None);
    };
    let still = Duration::from_secs(u64::try_from(silent).unwrap_or_default());
    let verdict = agent.verdict(&screen_of(&shot), &shot.title, still);
    let window = match agent.provider.readiness().quiet() {
        Quiet::After(window) => i64::try_from(window.as_secs()).unwrap_or(i64::MAX),
        Quiet::Ignored | Quiet::Counts => i64::MAX,
    };
    Ok(match verdict.activity {
        Activity::Idle => Some(RestKind::Idle),
        Activity::Approval | Activity::Question | Activity::Blocked => {
            Some(RestKind::Waiting(verdict.activity))
        }
        Activity::Unknown if silent > window => Some(RestKind::Quiet),
        Activity::Busy | Activity::Exited | Activity::Unknown => None,
    })
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

/// The question of an open dialog, in one line.
fn asked(agent: &Watched<'_>) -> Result<Option<String>, Error> {
    let Some(shot) = agent.look()? else {
        return Ok(None);
    };
    let verdict = agent.provider.judge(&screen_of(&shot), Some(&shot.title));
    Ok(verdict.dialog.map(|dialog| {
        let about = dialog
            .command
            .or_else(|| Some(dialog.paths.join(", ")).filter(|paths| !paths.is_empty()))
            .or(dialog.question)
            .unwrap_or_default();
        printable_line(&format!("asked for permission: {about}"))
    }))
}
