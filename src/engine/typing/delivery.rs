//! Pastes a prompt into an agent's input box, submits it and waits until its turn has begun.

use std::time::{Duration, Instant};

use crate::agents::{Readiness, Verify, is_command};
use crate::detect::{Draft, Key, Offer, Screen, Size, is_typed};
use crate::engine::base::{Error, now};
use crate::engine::typing::drafts::{PASTES, coloured};
use crate::engine::typing::turn::{Beginning, InTranscript, Submitted, await_turn};
use crate::engine::watch::look::{Watched, screen_of};
use crate::model::{Activity, without_whitespace};
use crate::tmux::{Screenshot, TmuxError};

/// How long a pasted prompt may take to show in the input box.
pub(super) const ECHO: Duration = Duration::from_secs(10);
/// A text that stays in the box this long counts as ours, though it looks different: agents show some
/// characters in another form.
const SOME_TEXT: Duration = Duration::from_secs(1);
/// A box is not narrower than this: less of a longer text is not all of its first row.
const NARROWEST: usize = 20;
/// After this time without a list of commands there will be none.
const NO_LIST: Duration = Duration::from_millis(1500);
/// After this time a list of commands is not an old one, though it begins with another one than was typed.
const OTHER_LIST: Duration = Duration::from_secs(4);
/// A text that has been in the box for this long is not leaving it.
pub(super) const STANDS: Duration = Duration::from_millis(400);
/// How long it may take to empty the input box.
pub(super) const EMPTYING: Duration = Duration::from_secs(10);
/// How long a submitted prompt may take to leave the input box.
const SUBMISSION: Duration = Duration::from_secs(10);
/// A prompt must be gone for this long: an agent that redraws hides its box for a moment.
pub(super) const GONE: Duration = Duration::from_millis(300);
/// When nothing has changed for this long Enter is pressed once more: a busy machine can lose the first.
const SECOND_ENTER: Duration = Duration::from_secs(2);
/// How long an agent takes to say that it does not know a command.
const ANSWER: Duration = Duration::from_millis(1500);
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(40);

/// What is known of a prompt that was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Receipt {
    Taken,
    /// It has left the input box, and no turn has begun.
    NoTurn,
    /// The agent has ended: the prompt may have told it to, or it ended before it read anything.
    Gone,
}

/// How a prompt is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Wording {
    /// So that it arrives as text, whatever it begins or ends with.
    Text,
    /// As it is: the agent may take it for something else.
    Raw,
}

/// What the agent was asked last, if that is known.
pub(in crate::engine) type LastPrompt<'a> = &'a dyn Fn() -> Option<String>;

/// An error if the input box holds a draft of the user.
pub(in crate::engine) fn require_empty_box(
    agent: &Watched<'_>,
    last: LastPrompt<'_>,
) -> Result<(), Error> {
    Delivery { agent }.empty_the_box(last)
}

/// Whether the user has left a draft in the input box.
pub(in crate::engine) fn holds_a_draft(
    agent: &Watched<'_>,
    last: LastPrompt<'_>,
) -> Result<bool, Error> {
    let delivery = Delivery { agent };
    let screen = delivery.coloured()?;
    let typed = delivery.left_in_box(&screen).is_some();
    Ok(typed && !delivery.was_put_back(&screen, last))
}

/// Pastes the prompt into an agent that is ready, submits it and waits until its turn has begun.
/// After an error the agent has not got it.
pub(in crate::engine) fn type_in(
    agent: &Watched<'_>,
    prompt: &str,
    wording: Wording,
    last: LastPrompt<'_>,
    in_transcript: InTranscript<'_>,
) -> Result<Receipt, Error> {
    let delivery = Delivery { agent };
    delivery.await_terminal()?;
    delivery.empty_the_box(last)?;
    let text = match wording {
        Wording::Text => typeable(&agent.provider.escaped(prompt)),
        Wording::Raw => typeable(prompt),
    };
    agent.server.paste(agent.pane, &text)?;
    delivery.await_echo(&text)?;
    if is_command(&text) {
        delivery.await_suggestions(text.trim_end())?;
    }
    // Several agents treat an Enter that follows too closely as a part of the paste.
    std::thread::sleep(agent.provider.settle_before_submit());
    let before = delivery.shot()?;
    let at = now();
    delivery.submit()?;
    let seen = match agent.provider.verify() {
        Verify::Draft => delivery.await_submission(&before),
        Verify::None if agent.provider.readiness() == Readiness::Rules => {
            delivery.await_change(&before)
        }
        // tmux silently drops keys for an agent that has ended.
        Verify::None => delivery.shot().map(drop),
    };
    let seen = seen.and_then(|()| {
        if is_command(prompt) {
            delivery.refuse_unknown_command(&before, prompt)?;
        }
        // What an agent does with its own commands is no turn.
        if wording == Wording::Raw || prompt.trim_start().starts_with('/') {
            return Ok(Beginning::Seen);
        }
        let before = &before;
        await_turn(agent, &Submitted { before, at }, in_transcript)
    });
    match seen {
        Ok(Beginning::Seen) => Ok(Receipt::Taken),
        Ok(Beginning::NotSeen) => Ok(Receipt::NoTurn),
        Err(Error::Tmux(TmuxError::NoPane(_) | TmuxError::NoServer)) => Ok(Receipt::Gone),
        Err(error) => Err(error),
    }
}

pub(super) struct Delivery<'a> {
    pub(super) agent: &'a Watched<'a>,
}

impl Delivery<'_> {
    /// Waits until the agent has taken over its terminal: some draw their input box before they read
    /// from it. A plain command may never do that, and need not.
    pub(super) fn await_terminal(&self) -> Result<(), Error> {
        let since = Instant::now();
        while self.agent.provider.readiness() == Readiness::Rules
            && since.elapsed() < ECHO
            && !self.agent.server.reads_keys_itself(self.agent.pane)?
        {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Ok(())
    }

    /// Empties the box, because its text would be sent along. Only a prompt that the agent put back after
    /// an interrupt is removed; it is known from the conversation. A draft of the user exists nowhere
    /// else, and stays. Colours tell typed text from a placeholder.
    fn empty_the_box(&self, last: LastPrompt<'_>) -> Result<(), Error> {
        let keys: Vec<String> = self
            .agent
            .provider
            .clear_keys()
            .iter()
            .map(|key| key.name())
            .collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let since = Instant::now();
        let mut first_seen: Option<(String, Instant)> = None;
        let mut pressed: Option<(Screen, Instant)> = None;
        while since.elapsed() < EMPTYING {
            let screen = self.coloured()?;
            let Some(draft) = self.left_in_box(&screen) else {
                return Ok(());
            };
            if pressed.is_none() && (keys.is_empty() || !self.was_put_back(&screen, last)) {
                // An agent that redraws may show anything for a moment.
                let known = first_seen.take_if(|(seen, _)| *seen == draft);
                let (draft, at) = known.unwrap_or_else(|| (draft, Instant::now()));
                if at.elapsed() > STANDS || since.elapsed() > SECOND_ENTER {
                    return Err(self.in_the_way());
                }
                first_seen = Some((draft, at));
                std::thread::sleep(BETWEEN_LOOKS);
                continue;
            }
            // Once for each line, and again where it was not taken in.
            let again = pressed
                .as_ref()
                .is_none_or(|(seen, at)| *seen != screen || at.elapsed() > SECOND_ENTER);
            if again {
                self.agent.server.press(self.agent.pane, &keys)?;
                pressed = Some((screen, Instant::now()));
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Err(self.in_the_way())
    }

    fn in_the_way(&self) -> Error {
        Error::DraftInTheWay {
            title: self.agent.title.clone(),
        }
    }

    /// What is in the box. Its first line may be blank; that is known of agents whose drafts outlive a pause.
    fn left_in_box(&self, screen: &Screen) -> Option<String> {
        let provider = self.agent.provider;
        match provider.draft(screen) {
            Some(Draft::Text(text)) => Some(text),
            // Whether rows are joined does not matter here.
            _ => {
                let rows = u16::try_from(screen.rows().len()).unwrap_or(u16::MAX);
                let columns = u16::MAX;
                let typed = provider.kept_draft(screen, Size { columns, rows });
                typed.map(|typed| typed.text)
            }
        }
    }

    /// Whether the box holds nothing but what the agent was asked last, or the beginning of it.
    fn was_put_back(&self, screen: &Screen, last: LastPrompt<'_>) -> bool {
        let shown = self.agent.provider.whole_draft(screen);
        let shown = shown.map(|shown| without_whitespace(&shown));
        shown
            .filter(|shown| !shown.is_empty())
            .is_some_and(|shown| {
                last().is_some_and(|last| without_whitespace(&last).starts_with(&shown))
            })
    }

    /// On a busy machine an agent takes seconds to take a paste in, and an Enter before that is lost.
    /// A text that begins with an empty line does not show, so nothing is waited for then.
    fn await_echo(&self, text: &str) -> Result<(), Error> {
        let first = text.lines().next().unwrap_or_default();
        if self.agent.provider.verify() == Verify::None || first.trim().is_empty() {
            return Ok(());
        }
        let since = Instant::now();
        let mut other: Option<(Draft, Instant)> = None;
        while since.elapsed() < ECHO {
            match self.drafted()? {
                Some(Draft::Text(shown)) if is_beginning(&shown, first) => break,
                Some(draft @ Draft::Text(_)) => match &other {
                    Some((known, since)) if *known == draft => {
                        if since.elapsed() > SOME_TEXT {
                            break;
                        }
                    }
                    _ => other = Some((draft, Instant::now())),
                },
                _ => other = None,
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Ok(())
    }

    /// Waits until the list of commands is the one of this command. Enter takes the first of them, and the list of `/`
    /// alone begins with `clear` (Gemini) or `yolo` (Kimi). For a text that is shown by its size there is no list.
    fn await_suggestions(&self, command: &str) -> Result<(), Error> {
        let since = Instant::now();
        let mut still = (Offer::NotTyped, since);
        while since.elapsed() < ECHO {
            let screen = screen_of(&self.shot()?);
            let provider = self.agent.provider;
            let Some(offer) = provider.offer(&screen, command) else {
                return Ok(());
            };
            if matches!(provider.draft(&screen), Some(Draft::Text(shown)) if is_paste(&shown)) {
                return Ok(());
            }
            if still.0 != offer {
                still = (offer, Instant::now());
            }
            let enough = match &still.0 {
                Offer::NotTyped => Duration::MAX,
                Offer::Command(offered) if is_typed(offered, command) => Duration::ZERO,
                // Another name of the command, or the list is old.
                Offer::Command(_) => OTHER_LIST,
                // It does not know the command, or the list is not drawn yet.
                Offer::NoList => NO_LIST,
            };
            if still.1.elapsed() >= enough {
                return Ok(());
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Err(Error::NotSubmitted)
    }

    /// For an agent whose box cannot be read: something must happen on its screen.
    fn await_change(&self, before: &Screenshot) -> Result<(), Error> {
        let submitted_at = Instant::now();
        while submitted_at.elapsed() < SUBMISSION {
            if self.shot()?.text != before.text {
                return Ok(());
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Err(Error::NotSubmitted)
    }

    /// An error if the agent has said that it does not know the command. Some leave it in the box; it is
    /// ours, and nothing but ours was there.
    fn refuse_unknown_command(&self, before: &Screenshot, prompt: &str) -> Result<(), Error> {
        let provider = self.agent.provider;
        let known = provider.unknown_commands(&screen_of(before));
        let submitted_at = Instant::now();
        let mut said = false;
        while submitted_at.elapsed() < ANSWER && !said {
            said = provider.unknown_commands(&screen_of(&self.shot()?)) > known;
            std::thread::sleep(BETWEEN_LOOKS);
        }
        if !said {
            return Ok(());
        }
        let keys: Vec<String> = provider.clear_keys().iter().map(|key| key.name()).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let since = Instant::now();
        while let Some(Draft::Text(_)) = provider.draft(&self.coloured()?)
            && !keys.is_empty()
            && since.elapsed() < ANSWER
        {
            // Codex puts the cursor before it.
            self.agent.server.press(self.agent.pane, &["End"])?;
            self.agent.server.press(self.agent.pane, &keys)?;
            std::thread::sleep(BETWEEN_LOOKS * 5);
        }
        let word = prompt.split_whitespace().next().unwrap_or_default();
        Err(Error::UnknownCommand {
            agent: provider.display().to_owned(),
            command: word.to_owned(),
        })
    }

    fn await_submission(&self, before: &Screenshot) -> Result<(), Error> {
        let provider = self.agent.provider;
        let drafted = |shot: &Screenshot| provider.draft(&screen_of(shot));
        let draft = drafted(before);
        // If the box does not show its text, any activity of the agent counts.
        let shows = matches!(draft, Some(Draft::Text(_)));
        let unknown = provider.unknown_commands(&screen_of(before));
        let submitted_at = Instant::now();
        let mut pressed_again = false;
        let mut gone: Option<Instant> = None;
        let mut still = (before.text.clone(), submitted_at);
        while submitted_at.elapsed() < SUBMISSION {
            let shot = self.shot()?;
            if shot.text != still.0 {
                still = (shot.text.clone(), Instant::now());
            }
            let activity = provider
                .judge(&screen_of(&shot), Some(&shot.title))
                .activity;
            // A dialog has replaced the box: what looks like the draft is its echo further up.
            let moved = match (shows, drafted(&shot)) {
                (false, _) => shot.text != before.text,
                // A changed text is no submitted one: an Enter may have become a line break. What is dim
                // is a suggestion of the agent.
                (true, Some(Draft::Text(text)))
                    if Some(&Draft::Text(text.clone())) != draft.as_ref() =>
                {
                    activity == Activity::Busy
                        || !matches!(provider.draft(&self.coloured()?), Some(Draft::Text(_)))
                }
                (true, now) => now != draft,
            };
            if !moved && provider.unknown_commands(&screen_of(&shot)) > unknown {
                return Ok(());
            }
            if moved || needs_user(activity) {
                if gone.get_or_insert_with(Instant::now).elapsed() >= GONE {
                    return Ok(());
                }
            } else {
                gone = None;
                // Only at a prompt that does not change: an Enter would answer any dialog that comes up.
                let waits = activity == Activity::Idle && still.1.elapsed() >= SECOND_ENTER;
                if waits && !pressed_again {
                    self.submit()?;
                    pressed_again = true;
                }
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Err(Error::NotSubmitted)
    }

    fn submit(&self) -> Result<(), Error> {
        let keys: Vec<String> = self
            .agent
            .provider
            .submit_keys()
            .iter()
            .map(|key| Key::name(*key))
            .collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        Ok(self.agent.server.press(self.agent.pane, &keys)?)
    }

    pub(super) fn coloured(&self) -> Result<Screen, Error> {
        coloured(self.agent)
    }

    fn drafted(&self) -> Result<Option<Draft>, Error> {
        Ok(self.agent.provider.draft(&screen_of(&self.shot()?)))
    }

    /// The screen of a running agent. If it was stopped meanwhile, an empty input box does not mean that
    /// the prompt was read.
    fn shot(&self) -> Result<Screenshot, Error> {
        let gone = || TmuxError::NoPane(self.agent.pane.to_owned()).into();
        self.agent
            .look()?
            .filter(|shot| !shot.dead)
            .ok_or_else(gone)
    }
}

fn needs_user(activity: Activity) -> bool {
    matches!(
        activity,
        Activity::Approval
            | Activity::Question
            | Activity::Blocked
            | Activity::Menu
            | Activity::Exited
    )
}

fn is_paste(shown: &str) -> bool {
    PASTES.iter().any(|mark| shown.starts_with(mark))
}

/// Whether what the box shows is the first line of the text, or as much of it as fits; long pastes are
/// shown by their size. An agent may show the first characters before it has read the others.
fn is_beginning(shown: &str, first: &str) -> bool {
    if is_paste(shown) {
        return true;
    }
    let (shown, first) = (without_whitespace(shown), without_whitespace(first));
    first == shown || (shown.chars().count() >= NARROWEST && first.starts_with(&shown))
}

/// What can be typed of a text: everything but what would steer the terminal or break out of the
/// paste. Line ends become newlines.
pub(super) fn typeable(text: &str) -> String {
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
    fn a_box_shows_the_beginning_or_that_something_was_pasted() {
        assert!(is_beginning("the tent is blue", "the tent is blue"));
        assert!(is_beginning(
            "the first row of a box, as",
            "the first row of a box, as long as it is wide"
        ));
        assert!(!is_beginning("/", "/model"));
        assert!(is_beginning("a    b", "a\tb"));
        assert!(is_beginning("[Pasted text #7 +102 lines]", "begin"));
        assert!(is_beginning("[Paste #1 - 40 lines]", "begin"));
        assert!(!is_beginning("an earlier prompt", "the tent is blue"));
    }

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
