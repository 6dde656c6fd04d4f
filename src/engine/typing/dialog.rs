//! A dialog on an agent's screen, and pressing one of its choices.

use std::time::{Duration, Instant};

use crate::agents::Provider;
use crate::detect::{ChoiceKind, Dialog, Screen, Verdict};
use crate::engine::base::{Error, now};
use crate::engine::watch::archive::BANNERS;
use crate::model::Activity;
use crate::policy::fingerprint;
use crate::tmux::{DetailedScreenshot, Expected, Server, TmuxError};

/// How long an answered dialog may take to disappear.
const GOING: Duration = Duration::from_secs(2);
/// How long an agent may take to ask for the reason of a refusal, and then to read keys.
const ASKS: Duration = Duration::from_millis(700);
/// How long it may take to leave that again.
const LEAVING: Duration = Duration::from_secs(10);
const PROBE: Duration = Duration::from_millis(10);

/// A dialog, with the screen that it was read from.
#[derive(Debug)]
pub(in crate::engine) struct OpenDialog<'p> {
    server: Server,
    pane: &'p str,
    provider: &'p Provider,
    pub look: DetailedScreenshot,
    pub dialog: Dialog,
    /// Tells this dialog from any other, by its content.
    pub id: String,
}

/// What a look at a pane has found.
#[derive(Debug)]
pub(in crate::engine) enum DialogLook<'p> {
    NoPane,
    /// What the agent does, and what is open that no choice of ours could answer.
    NoDialog {
        activity: Activity,
        says: Option<String>,
    },
    Open(Box<OpenDialog<'p>>),
}

impl<'p> OpenDialog<'p> {
    pub(in crate::engine) fn look(
        server: Server,
        pane: &'p str,
        provider: &'p Provider,
    ) -> Result<DialogLook<'p>, Error> {
        let Some(look) = server.take_detailed_screenshot(pane)? else {
            return Ok(DialogLook::NoPane);
        };
        let verdict = judged(provider, &look);
        let dialog = match verdict {
            Some(Verdict {
                dialog: Some(dialog),
                ..
            }) => dialog,
            Some(Verdict { activity, says, .. }) => {
                return Ok(DialogLook::NoDialog { activity, says });
            }
            None => {
                return Ok(DialogLook::NoDialog {
                    activity: Activity::Unknown,
                    says: None,
                });
            }
        };
        Ok(DialogLook::Open(Box::new(Self {
            id: fingerprint(&dialog),
            server,
            pane,
            provider,
            look,
            dialog,
        })))
    }

    /// Some agents lose a key that comes right after their dialog was drawn. Waits for as long as the
    /// agent needs, less the time for which the dialog has stood already, and looks again; false if
    /// another screen is there by then.
    pub(in crate::engine) fn has_settled(&mut self, stood: Duration) -> Result<bool, Error> {
        let hold = self.provider.dialog_hold().saturating_sub(stood);
        Ok(hold.is_zero() || self.is_same_after(hold)?)
    }

    /// Whether the same dialog is there after this time.
    pub(in crate::engine) fn is_same_after(&mut self, pause: Duration) -> Result<bool, Error> {
        std::thread::sleep(pause);
        match self.server.take_detailed_screenshot(self.pane)? {
            Some(later) if dialog_of(self.provider, &later).as_ref() == Some(&self.dialog) => {
                self.look = later;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The screen now; None if this dialog is not on it any more.
    pub(in crate::engine) fn look_again(&self) -> Result<Option<DetailedScreenshot>, Error> {
        let look = self.server.take_detailed_screenshot(self.pane)?;
        let is_same = |look: &DetailedScreenshot| {
            dialog_of(self.provider, look).is_some_and(|dialog| fingerprint(&dialog) == self.id)
        };
        Ok(look.filter(is_same))
    }

    /// Presses the keys if the same dialog is still there; returns whether it was.
    pub(in crate::engine) fn press(&self, keys: &[String]) -> Result<bool, Error> {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        self.if_unchanged(|expected| self.server.press_if(self.pane, expected, &keys))
    }

    /// Pastes a text under the same condition.
    pub(in crate::engine) fn paste(&self, text: &str) -> Result<bool, Error> {
        self.if_unchanged(|expected| self.server.paste_if(self.pane, expected, text))
    }

    fn if_unchanged(
        &self,
        act: impl FnOnce(&Expected<'_>) -> Result<bool, TmuxError>,
    ) -> Result<bool, Error> {
        let screen = Screen::new(&self.look.text);
        let rows: Vec<&str> = screen.rows().iter().map(|row| row.text()).collect();
        Ok(act(&Expected {
            pid: self.look.pid,
            attached: self.look.attached,
            from: rows.len().saturating_sub(self.dialog.height),
            rows: &rows,
            // The question of a plain program stays on the screen when it goes on; the cursor moves.
            cursor: self.dialog.plain.then_some(self.look.cursor),
        })?)
    }

    /// The rows of the dialog, down to the end of the screen.
    pub(in crate::engine) fn rows(&self) -> Vec<String> {
        let screen = Screen::new(&self.look.text);
        let from = screen.rows().len().saturating_sub(self.dialog.height);
        let rows = screen.rows().iter().skip(from);
        rows.map(|row| row.text().to_owned()).collect()
    }

    /// Waits a moment for an answered dialog to disappear. An agent that asks why it was refused is told no
    /// reason: it would wait for one.
    pub(in crate::engine) fn is_gone_in_time(&self, answer: ChoiceKind) -> Result<bool, Error> {
        let pressed_at = Instant::now();
        while pressed_at.elapsed() < GOING {
            if self.look_again()?.is_none() {
                return match answer {
                    ChoiceKind::No => self.give_no_reason(),
                    ChoiceKind::YesOnce | ChoiceKind::YesAlways | ChoiceKind::Other => Ok(true),
                };
            }
            std::thread::sleep(PROBE);
        }
        Ok(false)
    }

    /// Leaves the field for a reason, if one comes up; false if it stays. A key that comes right after the field
    /// was drawn is lost, and is never pressed twice: the second one could answer the next dialog.
    fn give_no_reason(&self) -> Result<bool, Error> {
        let keys = self.provider.no_reason_keys().iter();
        let keys: Vec<String> = keys.map(|key| key.name()).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let refused_at = Instant::now();
        let mut drawn: Option<Instant> = None;
        let mut pressed = false;
        while !keys.is_empty() && refused_at.elapsed() < LEAVING {
            let Some(look) = self.server.take_detailed_screenshot(self.pane)? else {
                return Ok(true);
            };
            let screen = Screen::new(&look.text);
            match self.provider.asks_why(&screen) {
                Some(from) if !pressed => {
                    if drawn.get_or_insert_with(Instant::now).elapsed() > ASKS {
                        let rows: Vec<&str> = screen.rows().iter().map(|row| row.text()).collect();
                        let expected = Expected {
                            pid: look.pid,
                            attached: look.attached,
                            from,
                            rows: &rows,
                            cursor: None,
                        };
                        pressed = self.server.press_if(self.pane, &expected, &keys)?;
                    }
                }
                Some(_) => {}
                None if pressed || refused_at.elapsed() > ASKS => return Ok(true),
                None => drawn = None,
            }
            std::thread::sleep(PROBE);
        }
        Ok(keys.is_empty())
    }
}

/// Whether a user has pressed a key at this terminal within the given time.
pub(in crate::engine) fn was_typed_at(look: &DetailedScreenshot, idle: Duration) -> bool {
    let now = now().seconds_since_epoch();
    let idle = i64::try_from(idle.as_secs()).unwrap_or(i64::MAX);
    look.last_key
        .is_some_and(|last| now.saturating_sub(last) < idle)
}

fn dialog_of(provider: &Provider, look: &DetailedScreenshot) -> Option<Dialog> {
    judged(provider, look)?.dialog
}

/// What an agent does, by its screen; None if that shows something else than the agent.
fn judged(provider: &Provider, look: &DetailedScreenshot) -> Option<Verdict> {
    if look.dead || look.in_mode {
        return None;
    }
    let screen = Screen::new(&look.text)
        .with_cursor(look.cursor)
        .below(BANNERS);
    Some(provider.judge(&screen, Some(&look.title)))
}
