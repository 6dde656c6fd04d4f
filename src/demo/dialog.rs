//! Dialogs: a decision for the user, and its keys.

use super::keyboard::Key;
use super::paint::Ink;

/// The kind of decision, which determines the footer and the meaning of cancelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DialogKind {
    Approval,
    Question,
    Blocked,
}

impl DialogKind {
    pub(super) fn footer(self) -> &'static str {
        match self {
            Self::Approval => " Esc to cancel · Tab to amend",
            Self::Question => "Enter to select · ↑/↓ to navigate · Esc to cancel",
            Self::Blocked => " Enter to confirm · Esc to cancel",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dialog {
    pub kind: DialogKind,
    pub heading: String,
    /// The line between the heading and the body: the path of an edit.
    pub subject: Option<String>,
    /// The command, or the diff, between dashed rules.
    pub body: Vec<(Ink, String)>,
    pub question: String,
    pub choices: Vec<String>,
    pub selected: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Open,
    Chose(usize),
    Cancelled,
    /// Neither yes nor no: the user will type something else.
    Amend,
}

pub(super) const YES: usize = 0;
pub(super) const YES_ALWAYS: usize = 1;

impl Dialog {
    pub(super) fn command(command: &str) -> Self {
        Self::approval("Bash command", None, vec![(Ink::Plain, command.to_owned())])
    }

    pub(super) fn edit(path: &str, diff: Vec<(Ink, String)>) -> Self {
        Self::approval("Edit file", Some(path.to_owned()), diff)
    }

    pub(super) fn question(question: &str, choices: &[String]) -> Self {
        Self {
            kind: DialogKind::Question,
            heading: "☐ Question".to_owned(),
            subject: None,
            body: Vec::new(),
            question: question.to_owned(),
            choices: choices.to_vec(),
            selected: 0,
        }
    }

    /// The safe choice comes first, as with real agents: an accidental Enter does not grant trust.
    pub(super) fn trust(directory: &str) -> Self {
        Self::blocked(
            "Accessing workspace:",
            directory,
            "Is this a project that you created or that you trust?",
            ["No, exit", "Yes, I trust this folder"],
        )
    }

    pub(super) fn limit() -> Self {
        Self::blocked(
            "Usage limit reached",
            "You have reached your usage limit. (This one is only pretended.)",
            "What do you want to do?",
            [
                "Stop and wait for the limit to reset",
                "Go on as if there were none",
            ],
        )
    }

    fn approval(heading: &str, subject: Option<String>, body: Vec<(Ink, String)>) -> Self {
        Self {
            kind: DialogKind::Approval,
            heading: heading.to_owned(),
            subject,
            body,
            question: "Do you want to proceed?".to_owned(),
            choices: ["Yes", "Yes, and don't ask again this session", "No"]
                .map(str::to_owned)
                .to_vec(),
            selected: 0,
        }
    }

    fn blocked(heading: &str, subject: &str, question: &str, choices: [&str; 2]) -> Self {
        Self {
            kind: DialogKind::Blocked,
            heading: heading.to_owned(),
            subject: Some(subject.to_owned()),
            body: Vec::new(),
            question: question.to_owned(),
            choices: choices.map(str::to_owned).to_vec(),
            selected: 0,
        }
    }

    pub(super) fn press(&mut self, key: Key) -> Outcome {
        let last = self.choices.len().saturating_sub(1);
        match key {
            Key::Up => self.selected = self.selected.checked_sub(1).unwrap_or(last),
            Key::Down => {
                self.selected = if self.selected >= last {
                    0
                } else {
                    self.selected + 1
                }
            }
            Key::Enter => return Outcome::Chose(self.selected),
            Key::Char(digit @ '1'..='9') => {
                let choice = digit as usize - '1' as usize;
                if choice <= last {
                    return Outcome::Chose(choice);
                }
            }
            Key::Esc | Key::Ctrl('c') => return Outcome::Cancelled,
            Key::Tab if self.kind == DialogKind::Approval => return Outcome::Amend,
            Key::Char(_) | Key::Newline | Key::Tab | Key::Backspace | Key::Ctrl(_) => {}
        }
        Outcome::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_go_round_and_enter_takes_what_is_selected() {
        let mut dialog = Dialog::command("ls");
        assert_eq!(dialog.press(Key::Up), Outcome::Open);
        assert_eq!(dialog.selected, 2);
        dialog.press(Key::Down);
        dialog.press(Key::Down);
        assert_eq!(dialog.press(Key::Enter), Outcome::Chose(YES_ALWAYS));
    }

    #[test]
    fn digits_choose_at_once_and_only_what_is_there() {
        let mut dialog = Dialog::command("ls");
        assert_eq!(dialog.press(Key::Char('3')), Outcome::Chose(2));
        assert_eq!(dialog.press(Key::Char('4')), Outcome::Open);
        assert_eq!(dialog.press(Key::Char('0')), Outcome::Open);
        assert_eq!(dialog.press(Key::Char('y')), Outcome::Open);
    }

    #[test]
    fn escape_cancels_and_tab_amends_only_an_approval() {
        for mut dialog in [Dialog::command("ls"), Dialog::trust("/x"), Dialog::limit()] {
            assert_eq!(dialog.press(Key::Esc), Outcome::Cancelled);
            assert_eq!(dialog.press(Key::Ctrl('c')), Outcome::Cancelled);
        }
        assert_eq!(Dialog::command("ls").press(Key::Tab), Outcome::Amend);
        let mut question = Dialog::question("Tea?", &["Yes".to_owned()]);
        assert_eq!(question.press(Key::Tab), Outcome::Open);
    }

    #[test]
    fn an_accidental_enter_grants_no_trust() {
        let mut dialog = Dialog::trust("/x");
        assert_eq!(dialog.press(Key::Enter), Outcome::Chose(0));
        assert_eq!(dialog.choices[0], "No, exit");
    }
}
