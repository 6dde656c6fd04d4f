//! What an open dialog asks, and which answers it offers.
//!
//! Read from the bottom up: the choices stand last, the question above them, what is asked about
//! above that. Positions and wordings change between versions, so choices are read and named,
//! never counted on; whatever cannot be read with certainty makes the dialog incomplete.

mod body;
mod buttons;
mod frame;
mod letters;
mod menu;
mod spec;
mod wrap;

pub(crate) use spec::DialogSpec;

use serde::Serialize;

use super::key::Key;

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
    pub paths: Vec<String>,
    pub choices: Vec<Choice>,
    /// The choice that the cursor is on.
    pub selected: Option<usize>,
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
    /// pattern looks at all of them; whoever allows must be content with each.
    #[cfg_attr(not(test), expect(dead_code, reason = "the policy is to read it"))]
    pub(crate) fn readings(&self) -> Vec<String> {
        let mut readings: Vec<String> = self.command.iter().cloned().collect();
        for seam in [" ", "", "\n"] {
            let reading = self.rows.join(seam);
            if !self.rows.is_empty() && !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        readings
    }
}

fn joined<S: serde::Serializer>(keys: &[Key], serializer: S) -> Result<S::Ok, S::Error> {
    let names: Vec<String> = keys.iter().map(|key| key.name()).collect();
    serializer.serialize_str(&names.join(" "))
}
