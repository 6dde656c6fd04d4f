//! Answers a dialog on an agent's screen as the user says.

use serde::Serialize;

use crate::detect::{Choice, ChoiceKind, Dialog, Key};
use crate::engine::autoyes::pending::Answerer;
use crate::engine::base::{Core, Error, Progress, Scope, Unanswerable};
use crate::engine::talk::asking::{TYPING, unanswerable};
use crate::engine::talk::send::Sent;
use crate::engine::typing::delivery::Wording;
use crate::engine::typing::dialog::{OpenDialog, was_typed_at};
use crate::engine::typing::lock::{AgentAt, TypingAccess, TypingLock};
use crate::model::{AgentPlace, InstanceId, InstanceRecord, RestingState, State, Title};

/// An open dialog, for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DialogView {
    /// Tells this dialog from any other, by its content.
    pub dialog: String,
    pub id: InstanceId,
    pub title: Title,
    pub agent: String,
    #[serde(flatten)]
    pub asked: Dialog,
}

/// What the user answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DialogAnswer {
    /// The number of a choice, from 1.
    Number(usize),
    /// The choice that means yes, for this time only.
    Yes,
    No,
    /// A choice by its label, or the beginning of it.
    Label(String),
}

/// What was pressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Answered {
    pub dialog: String,
    pub title: Title,
    /// The number of the choice, from 1; None where the question was declined.
    pub choice: Option<usize>,
    pub label: String,
    pub keys: Vec<String>,
    /// Whether the dialog has gone since.
    pub gone: bool,
    /// Whether the reason has reached the agent; None if there was none.
    pub reason_sent: Option<bool>,
}

impl Core {
    /// The dialog that an instance shows.
    pub(crate) fn open_dialog(&self, given: &str) -> Result<DialogView, Error> {
        let found = self.settled(given, Scope::Here)?;
        let record = &found.record;
        let open = self.whole_dialog_in(&found.dir, record, running_at(record)?)?;
        Ok(DialogView {
            dialog: open.id,
            id: record.id.clone(),
            title: record.title.clone(),
            agent: record.agent.clone(),
            asked: open.dialog,
        })
    }

    /// Presses the keys of one choice. With `bound`, only if the dialog has this id. A reason goes to
    /// the agent as the next prompt, after a choice that means no; with the choice for the user's own words, it is the
    /// words.
    pub(crate) fn answer(
        &self,
        given: &str,
        answer: &DialogAnswer,
        bound: Option<&str>,
        reason: Option<&str>,
        progress: &mut dyn Progress,
    ) -> Result<Answered, Error> {
        let found = self.settled(given, Scope::Here)?;
        let record = &found.record;
        let place = running_at(record)?;
        // The idle timer and autoyes leave it alone from here on.
        let presence = found.dir.lock_presence("answer")?;
        let typing = match TypingLock::acquire(&found.dir, place)? {
            TypingAccess::Granted(lock) => lock,
            TypingAccess::NotThere(AgentAt::Going(state)) => {
                return Err(cannot_answer(record, state));
            }
            TypingAccess::NotThere(AgentAt::Same | AgentAt::Elsewhere) => {
                return Err(unanswerable(record, Unanswerable::Changed));
            }
        };
        let mut open = self.whole_dialog_in(&found.dir, record, place)?;
        if self.answerer(record)? == Answerer::Hook {
            return Err(unanswerable(record, Unanswerable::AnsweredByHook));
        }
        if bound.is_some_and(|bound| open.id != bound) {
            return Err(unanswerable(record, Unanswerable::Another));
        }
        // A program that reads dialogs may be quicker than the agent that draws them.
        open = self.dialog_at_rest(record, place, open, bound)?;
        if was_typed_at(&open.look, TYPING) {
            return Err(unanswerable(record, Unanswerable::Typing));
        }
        // A number only moves a mark there.
        if open.dialog.takes_marks() {
            return Err(unanswerable(record, Unanswerable::TakesMarks));
        }
        let no_such = |dialog: &Dialog| Error::NoSuchChoice {
            title: record.title.clone(),
            choices: labels(dialog),
        };
        let meant = meant(&open.dialog, answer, reason);
        if open.dialog.field_open && !matches!(meant, Meant::Words(..)) {
            return Err(unanswerable(record, Unanswerable::FieldOpen));
        }
        let mut answered = match meant {
            Meant::Words(own, words) => {
                let (choice, id) = (own + open.dialog.numbered_from, open.id.clone());
                let written = self.answer_in_words(record, place, open, own, words)?;
                return Ok(Answered {
                    dialog: id,
                    title: record.title.clone(),
                    choice: Some(choice),
                    label: words.trim().to_owned(),
                    keys: written.keys,
                    gone: written.gone,
                    reason_sent: None,
                });
            }
            Meant::Choice(number) => {
                let choice = open.dialog.choices[number].clone();
                if reason.is_some() && choice.kind != ChoiceKind::No {
                    return Err(Error::ReasonWithoutNo);
                }
                if choice.keys.is_empty() {
                    return Err(no_such(&open.dialog));
                }
                // If the agent reacts to the first key alone, the next key would answer its next question.
                if open.dialog.plain && choice.keys.len() > 1 && !open.look.reads_lines {
                    return Err(unanswerable(record, Unanswerable::ReadsKeys));
                }
                let keys_of = |dialog: &Dialog| dialog.choices[number].keys.clone();
                let number = number + open.dialog.numbered_from;
                self.pressed(record, place, open, &keys_of, Some((number, &choice)))?
            }
            Meant::Decline => {
                let keys = self.provider_of(record)?.decline_keys(&open.dialog);
                if keys.is_empty() {
                    return Err(no_such(&open.dialog));
                }
                self.pressed(record, place, open, &|_| keys.to_vec(), None)?
            }
            Meant::Nothing => return Err(no_such(&open.dialog)),
        };
        drop(typing);
        drop(presence);
        if let Some(reason) = reason {
            let sent = self.send(record.id.as_str(), reason, Wording::Text, progress)?;
            answered.reason_sent = Some(sent == Sent::Typed);
        }
        Ok(answered)
    }
}

impl Core {
    /// Presses the keys of a choice, or those that decline the question, and waits a moment for the dialog to go.
    fn pressed<'r>(
        &'r self,
        record: &'r InstanceRecord,
        place: &'r AgentPlace,
        mut open: OpenDialog<'r>,
        keys_of: &dyn Fn(&Dialog) -> Vec<Key>,
        choice: Option<(usize, &Choice)>,
    ) -> Result<Answered, Error> {
        let Some(keys) = self.press_in(record, place, &mut open, keys_of)? else {
            return Err(unanswerable(record, Unanswerable::Changed));
        };
        let number = choice.map(|(number, _)| number);
        tracing::info!(title = %record.title, dialog = open.id, choice = ?number, "answered by the user");
        let gone = open.is_gone_in_time(choice.map_or(ChoiceKind::Other, |(_, it)| it.kind))?;
        Ok(Answered {
            dialog: open.id,
            title: record.title.clone(),
            choice: number,
            label: choice.map_or_else(|| "declined".to_owned(), |(_, it)| it.label.clone()),
            keys,
            gone,
            reason_sent: None,
        })
    }
}

/// What an answer means in a dialog.
#[derive(Debug, PartialEq, Eq)]
enum Meant<'a> {
    /// The choice at this position.
    Choice(usize),
    /// The user's own words, for the choice at this position.
    Words(usize, &'a str),
    /// To leave the question without an answer.
    Decline,
    Nothing,
}

fn meant<'a>(dialog: &Dialog, answer: &'a DialogAnswer, reason: Option<&'a str>) -> Meant<'a> {
    let own = dialog.own_words;
    match (chosen(dialog, answer), answer, reason) {
        (Some(number), ..) if own != Some(number) => Meant::Choice(number),
        // The choice is named, and what is said with it are the words.
        (Some(number), DialogAnswer::Number(_), Some(words)) => Meant::Words(number, words),
        (_, DialogAnswer::Label(words), None) => {
            own.map_or(Meant::Nothing, |own| Meant::Words(own, words))
        }
        (None, DialogAnswer::No, _) => Meant::Decline,
        _ => Meant::Nothing,
    }
}

fn running_at(record: &InstanceRecord) -> Result<&AgentPlace, Error> {
    match (record.state, &record.place) {
        (RestingState::Running, Some(place)) => Ok(place),
        (state, _) => Err(cannot_answer(record, state.into())),
    }
}

fn cannot_answer(record: &InstanceRecord, state: State) -> Error {
    Error::WrongState {
        verb: "answer",
        title: record.title.clone(),
        state,
    }
}

fn labels(dialog: &Dialog) -> Vec<String> {
    let choices = dialog.choices.iter();
    choices.map(|choice| choice.label.clone()).collect()
}

/// The position of the choice that the answer means; None where it is not exactly one.
fn chosen(dialog: &Dialog, answer: &DialogAnswer) -> Option<usize> {
    let only = |fits: &dyn Fn(&Choice) -> bool| {
        let mut found = (0..dialog.choices.len()).filter(|at| fits(&dialog.choices[*at]));
        found.next().filter(|_| found.next().is_none())
    };
    match answer {
        DialogAnswer::Number(number) => dialog.choice_with_number(*number),
        DialogAnswer::Yes => dialog.yes(),
        DialogAnswer::No => dialog.no(),
        DialogAnswer::Label(text) => {
            let text = text.trim().to_lowercase();
            let label = |choice: &Choice| choice.label.to_lowercase();
            only(&|choice| label(choice) == text)
                .or_else(|| only(&|choice| label(choice).starts_with(&text)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialog(choices: &[(&str, ChoiceKind)]) -> Dialog {
        Dialog {
            tool: None,
            question: None,
            command: None,
            rows: Vec::new(),
            loose: Vec::new(),
            paths: Vec::new(),
            body: Vec::new(),
            height: 3,
            choices: choices
                .iter()
                .map(|(label, kind)| Choice {
                    keys: vec![Key::Enter],
                    label: (*label).to_owned(),
                    kind: *kind,
                })
                .collect(),
            selected: None,
            own_words: None,
            field_open: false,
            numbered_from: 1,
            plain: false,
            complete: true,
        }
    }

    #[test]
    fn an_answer_means_one_choice_or_none() {
        let asked = dialog(&[
            ("Yes", ChoiceKind::YesOnce),
            ("Yes, and do not ask again", ChoiceKind::YesAlways),
            ("No, and say what to do", ChoiceKind::No),
            ("No, stop", ChoiceKind::No),
        ]);
        let label = |text: &str| chosen(&asked, &DialogAnswer::Label(text.to_owned()));
        assert_eq!(chosen(&asked, &DialogAnswer::Number(2)), Some(1));
        assert_eq!(chosen(&asked, &DialogAnswer::Number(0)), None);
        assert_eq!(chosen(&asked, &DialogAnswer::Number(5)), None);
        assert_eq!(chosen(&asked, &DialogAnswer::Yes), Some(0));
        assert_eq!(chosen(&asked, &DialogAnswer::No), Some(2));
        assert_eq!(label("YES"), Some(0));
        assert_eq!(label("yes, and"), Some(1));
        assert_eq!(label("no"), None);
        assert_eq!(label("perhaps"), None);
        // Own words stand beside the choice that takes them, or alone.
        let mut open = dialog(&[
            ("Gas", ChoiceKind::Other),
            ("Type something.", ChoiceKind::Other),
        ]);
        open.own_words = Some(1);
        let (second, words) = (
            DialogAnswer::Number(2),
            DialogAnswer::Label("coal".to_owned()),
        );
        assert_eq!(meant(&open, &second, Some("gas")), Meant::Words(1, "gas"));
        assert_eq!(meant(&open, &second, None), Meant::Nothing);
        assert_eq!(meant(&open, &words, None), Meant::Words(1, "coal"));
        assert_eq!(meant(&open, &words, Some("why")), Meant::Nothing);
        assert_eq!(meant(&open, &DialogAnswer::No, None), Meant::Decline);
        assert_eq!(meant(&asked, &DialogAnswer::No, None), Meant::Choice(2));
        // The first choices are out of sight.
        let mut lower = dialog(&[("c", ChoiceKind::Other), ("d", ChoiceKind::Other)]);
        lower.numbered_from = 3;
        let numbered = |number: usize| chosen(&lower, &DialogAnswer::Number(number));
        assert_eq!(
            [1, 2, 3, 4, 5].map(numbered),
            [None, None, Some(0), Some(1), None]
        );
        let twice = dialog(&[("Yes", ChoiceKind::YesOnce), ("Sure", ChoiceKind::YesOnce)]);
        assert_eq!(chosen(&twice, &DialogAnswer::Yes), None);
    }
}
