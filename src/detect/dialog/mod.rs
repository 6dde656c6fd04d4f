//! Reads an open dialog: what it asks, and which answers it offers.
//!
//! It is read from the bottom up: the choices are last, the question is above them, and the subject above
//! that. Positions and wordings change between versions, so choices are read and classified, never
//! assumed. Anything that cannot be read with certainty makes the dialog incomplete.

mod body;
mod buttons;
mod field;
mod frame;
mod letters;
mod line;
mod list;
mod menu;
mod read;
mod spec;
mod wrap;

pub(crate) use spec::DialogSpec;

use serde::Serialize;

use super::key::Key;

/// What a break between two rows may mean in the command.
const SEAMS: [&str; 3] = [" ", "", "\n"];
/// Each ambiguous break has three readings. With more ambiguous breaks than this, not all are listed.
const MOST_LOOSE: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Dialog {
    /// The tool that the agent wants to use, as the provider file names it: `shell`, `edit`, `write`.
    pub tool: Option<String>,
    pub question: Option<String>,
    /// The command in one piece, joined from the rows it was wrapped over.
    pub command: Option<String>,
    /// The rows of the command as shown. A row break may be a line end of the command or only the edge of
    /// the screen, and this is not always clear: see [`Self::readings`].
    #[serde(skip)]
    pub rows: Vec<String>,
    /// For each break between two rows, whether it may be only the edge of the screen.
    #[serde(skip)]
    pub loose: Vec<bool>,
    pub paths: Vec<String>,
    /// All its rows above the choices; none where it begins above the screen.
    #[serde(skip)]
    pub body: Vec<String>,
    /// The choice that takes the user's own words, while none are written there.
    #[serde(skip)]
    pub own_words: Option<usize>,
    /// The selected choice is a field for text: a key would be a part of that.
    #[serde(skip)]
    pub field_open: bool,
    /// The number of the first choice: those before it may be out of sight.
    #[serde(skip)]
    pub numbered_from: usize,
    /// Its height in rows, from its first row to the end of the screen.
    #[serde(skip)]
    pub height: usize,
    pub choices: Vec<Choice>,
    /// The choice that the cursor is on.
    pub selected: Option<usize>,
    /// It is the last line of a plain program, which stays on the screen after the answer.
    #[serde(skip)]
    pub plain: bool,
    /// Whether the whole subject is on the screen.
    pub complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Choice {
    /// The keys for this choice; empty where the screen does not show them.
    #[serde(rename = "key", serialize_with = "joined")]
    pub keys: Vec<Key>,
    pub label: String,
    pub kind: ChoiceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChoiceKind {
    /// This time only.
    YesOnce,
    /// A grant that outlives this dialog.
    YesAlways,
    No,
    Other,
}

impl Dialog {
    /// The position of the choice with this number on the screen.
    pub(crate) fn choice_with_number(&self, number: usize) -> Option<usize> {
        let at = number.checked_sub(self.numbered_from)?;
        (at < self.choices.len()).then_some(at)
    }

    /// The choice that means yes, for this time only.
    pub(crate) fn yes(&self) -> Option<usize> {
        let is_yes = |at: &usize| self.choices[*at].kind == ChoiceKind::YesOnce;
        let mut found = (0..self.choices.len()).filter(is_yes);
        found.next().filter(|_| found.next().is_none())
    }

    /// The choice that means no. Agents that offer several ways to say no put the plain one first.
    pub(crate) fn no(&self) -> Option<usize> {
        let mut choices = self.choices.iter();
        choices.position(|choice| choice.kind == ChoiceKind::No)
    }

    /// Whether each choice has a box to mark, so that the answer may be several of them.
    pub(crate) fn takes_marks(&self) -> bool {
        let is_box = |choice: &Choice| {
            let mut label = choice.label.chars();
            (label.next(), label.nth(1)) == (Some('['), Some(']'))
        };
        self.choices.iter().any(is_box)
    }

    /// Every command that the rows may mean, the most likely one first. A request is rejected if one of
    /// them is, and accepted only if each of them is. Some are left out where there are too many: see
    /// [`Self::is_readable`].
    pub(crate) fn readings(&self) -> Vec<String> {
        let mut readings: Vec<String> = self.command.iter().cloned().collect();
        let loose = self.loose.iter().filter(|loose| **loose).count();
        let ways = if loose <= MOST_LOOSE {
            SEAMS.len().pow(u32::try_from(loose).unwrap_or(0))
        } else {
            SEAMS.len()
        };
        for way in 0..ways {
            let mut reading = String::new();
            let mut rest = way;
            for (at, row) in self.rows.iter().enumerate() {
                if at > 0 && self.loose.get(at - 1) == Some(&true) {
                    reading.push_str(SEAMS[rest % SEAMS.len()]);
                    if loose <= MOST_LOOSE {
                        rest /= SEAMS.len();
                    }
                } else if at > 0 {
                    reading.push('\n');
                }
                reading.push_str(row);
            }
            if !self.rows.is_empty() && !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        readings
    }

    /// Whether [`Self::readings`] has every reading.
    pub(crate) fn is_readable(&self) -> bool {
        self.loose.iter().filter(|loose| **loose).count() <= MOST_LOOSE
    }
}

fn joined<S: serde::Serializer>(keys: &[Key], serializer: S) -> Result<S::Ok, S::Error> {
    let names: Vec<String> = keys.iter().map(|key| key.name()).collect();
    serializer.serialize_str(&names.join(" "))
}
