//! A prompt, delivered whole to an agent that is ready for it.

use std::time::{Duration, Instant};

use super::watch::{Found, look, screen_of, until_rest};
use super::{Engine, Error, Progress, ResumeOptions, Scope};
use crate::agents::{Provider, Verify};
use crate::detect::{Draft, Key, Rest};
use crate::model::{InstanceRecord, Resting, Seat, State, Title};
use crate::store::{InstanceDir, Loaded};
use crate::tmux::{Server, TmuxError};

/// Senders wait for each other: one message at a time, each whole.
const TYPING_WAIT: Duration = Duration::from_secs(600);
/// How long a submitted prompt may take to leave the input box.
const SUBMISSION: Duration = Duration::from_secs(10);
/// After this long Enter is pressed once more: a busy machine can swallow the first.
const SECOND_ENTER: Duration = Duration::from_secs(2);

/// How long to wait for an agent to become ready.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For one that shows nothing that is known yet.
    pub starting: Duration,
    /// For one that works; None: as long as it does.
    pub busy: Option<Duration>,
}

/// How the typing of a prompt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    Submitted,
    /// The agent has ended before it was seen to read it.
    Ended,
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
        let provider = self.provider_of(&record)?;
        let patience = Patience {
            starting: self.settings().launch.ready,
            busy: None,
        };
        let typed = deliver(
            &server,
            &seat.pane,
            provider,
            &record.title,
            prompt,
            patience,
        )
        .map_err(|error| self.or_state(error, &record))?;
        if typed == Typed::Ended && self.was_taken_away(&dir, &seat) {
            return Err(Error::WrongState {
                verb: "send to",
                state: self.show(record.id.as_str())?.state,
                title: record.title,
            });
        }
        // It has arrived: that it is not in the log must not make anyone send it again.
        if let Err(error) = self.record_sent(&dir, &record, prompt) {
            progress.note(&format!("the prompt was not recorded: {error}"));
        }
        Ok(())
    }

    /// Whether an agent that has ended did so because somebody pauses, kills or restarts it: then what
    /// was just typed was not read. One that ends by itself may have been told to.
    pub(super) fn was_taken_away(&self, dir: &InstanceDir, seat: &Seat) -> bool {
        match dir.load() {
            Loaded::Known { record, journal } => {
                journal.is_some_and(|journal| !journal.is_closed())
                    || matches!(record.state, Resting::Paused | Resting::Killed)
                    || record.seat.as_ref() != Some(seat)
            }
            Loaded::Unborn { .. } | Loaded::Unreadable(_) => true,
        }
    }

    /// An agent that was taken away while a message waited for it (paused, killed by somebody else):
    /// the state says more than that its pane is gone.
    fn or_state(&self, error: Error, record: &InstanceRecord) -> Error {
        let vanished = matches!(
            error,
            Error::Tmux(TmuxError::NoPane(_) | TmuxError::NoServer) | Error::AgentDied { .. }
        );
        match self.show(record.id.as_str()) {
            Ok(view) if vanished && view.state != State::Running => Error::WrongState {
                verb: "send to",
                title: record.title.clone(),
                state: view.state,
            },
            _ => error,
        }
    }
}

/// Waits until the agent is ready, pastes the prompt, submits it and sees it go.
pub(super) fn deliver(
    server: &Server,
    pane: &str,
    provider: &Provider,
    title: &Title,
    prompt: &str,
    patience: Patience,
) -> Result<Typed, Error> {
    await_ready(server, pane, provider, title, patience)?;
    type_in(server, pane, provider, prompt)
}

/// Pastes the prompt into an agent that is ready, submits it and sees it go.
pub(super) fn type_in(
    server: &Server,
    pane: &str,
    provider: &Provider,
    prompt: &str,
) -> Result<Typed, Error> {
    server.paste(pane, &typeable(prompt))?;
    // Several agents take an Enter that follows too closely for a part of the paste.
    std::thread::sleep(provider.settle_before_submit());
    let keys: Vec<String> = provider
        .submit_keys()
        .iter()
        .map(|key| Key::name(*key))
        .collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let before = drafted(server, pane, provider)?;
    server.press(pane, &keys)?;
    if provider.verify() == Verify::None || !matches!(before, Some(Draft::Text(_))) {
        return Ok(Typed::Submitted);
    }
    let submitted_at = Instant::now();
    let mut pressed_again = false;
    while submitted_at.elapsed() < SUBMISSION {
        match drafted(server, pane, provider) {
            Ok(now) if now != before => return Ok(Typed::Submitted),
            Ok(_) => {}
            Err(Error::Tmux(TmuxError::NoPane(_))) => return Ok(Typed::Ended),
            Err(error) => return Err(error),
        }
        if !pressed_again && submitted_at.elapsed() > SECOND_ENTER {
            server.press(pane, &keys)?;
            pressed_again = true;
        }
        std::thread::sleep(Duration::from_millis(40));
    }
    Err(Error::NotSubmitted)
}

pub(super) fn await_ready(
    server: &Server,
    pane: &str,
    provider: &Provider,
    title: &Title,
    patience: Patience,
) -> Result<(), Error> {
    use crate::model::Activity;
    let mut moving_since = Duration::ZERO;
    let found = until_rest(
        server,
        pane,
        provider,
        provider.readiness().quiet(),
        |elapsed, activity| {
            if activity == Activity::Busy {
                moving_since = elapsed;
                patience.busy.is_none_or(|limit| elapsed < limit)
            } else {
                elapsed.saturating_sub(moving_since) < patience.starting
            }
        },
    )?;
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
            let code = server
                .death_of(pane)?
                .map_or(128, crate::tmux::Death::exit_code);
            Err(Error::AgentDied {
                code,
                last_words: super::peek::last_words(server, pane),
            })
        }
    }
}

/// What stands in the input box of an agent that lives. One that was taken away meanwhile has an empty
/// one for another reason than having read it.
fn drafted(server: &Server, pane: &str, provider: &Provider) -> Result<Option<Draft>, Error> {
    match look(server, pane)?.filter(|shot| !shot.dead) {
        Some(shot) => Ok(provider.draft(&screen_of(&shot))),
        None => Err(TmuxError::NoPane(pane.to_owned()).into()),
    }
}

/// What can be typed of a text: everything but what would steer the terminal or break out of the
/// paste. Line ends become newlines.
fn typeable(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .chars()
        .filter(|character| matches!(character, '\n' | '\t') || !character.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_break_out_of_the_paste_is_left_out() {
        assert_eq!(
            typeable("a\x1b[201~rm\x07\r\nb\tc\u{9b}d\x7f"),
            "a[201~rm\nb\tcd"
        );
        let exact = "'quotes' \"; $HOME `x` \\ \n\té 日本 👩‍💻 -dash;";
        assert_eq!(typeable(exact), exact);
    }
}
