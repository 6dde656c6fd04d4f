//! What an open dialog asks, and which answers it offers.
//!
//! Read from the bottom up: the choices stand last, the question above them, what is asked about
//! above that. Positions and wordings change between versions, so choices are read and named,
//! never counted on; whatever cannot be read with certainty makes the dialog incomplete.

mod body;
mod buttons;
mod frame;
mod letters;
mod line;
mod menu;
mod read;
mod spec;
mod wrap;

pub(crate) use spec::DialogSpec;

use serde::Serialize;

use super::key::Key;

/// What a break between two rows may stand for.
const SEAMS: [&str; 3] = [" ", "", "\n"];
/// Three ways for each break that is not clear: more of them are not followed one by one.
const MOST_LOOSE: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Dialog {
    /// What the agent wants to use: `shell`, `edit`, `write`, …, by the names of the provider file.
    pub tool: Option<String>,
    pub question: Option<String>,
    /// The command in one piece, joined from the rows it was wrapped over.
    pub command: Option<String>,
    /// The rows as they stood. A row break may be a line end of the command or only the edge of the
    /// screen, and not every break tells which: see [`Self::readings`].
    #[serde(skip)]
    pub rows: Vec<String>,
    /// For each break between two rows, whether it may be no more than the edge of the screen.
    #[serde(skip)]
    pub loose: Vec<bool>,
    pub paths: Vec<String>,
    /// How many rows it takes, from its first one to the end of the screen.
    #[serde(skip)]
    pub height: usize,
    pub choices: Vec<Choice>,
    /// The choice that the cursor is on.
    pub selected: Option<usize>,
    /// It is the last line of a plain program, which stays on the screen when it was answered.
    #[serde(skip)]
    pub plain: bool,
    /// Whether all that is asked about is on the screen.
    pub complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Choice {
    /// The keys that take this choice; none where the screen does not tell.
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
    /// Every command that the rows may stand for, the most likely one first. Whoever refuses by
    /// pattern looks at all of them; whoever allows must be content with each. Some are left out
    /// where they would be too many: see [`Self::is_readable`].
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

    /// Whether [`Self::readings`] holds all that the rows may stand for.
    pub(crate) fn is_readable(&self) -> bool {
        self.loose.iter().filter(|loose| **loose).count() <= MOST_LOOSE
    }
}

fn joined<S: serde::Serializer>(keys: &[Key], serializer: S) -> Result<S::Ok, S::Error> {
    let names: Vec<String> = keys.iter().map(|key| key.name()).collect();
    serializer.serialize_str(&names.join(" "))
}
