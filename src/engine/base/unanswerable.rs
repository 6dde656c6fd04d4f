//! Why a dialog was not answered.

use crate::model::Title;

/// Why nothing was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswerable {
    NoDialog,
    /// Another dialog than the one that was read.
    Another,
    /// It changed in the moment of the answer.
    Changed,
    /// Autoyes has answered it through the agent's hook.
    AnsweredByHook,
    /// A user is typing at its terminal.
    Typing,
    /// The program reads keys, and the choice needs more than one.
    ReadsKeys,
    /// Several choices can be marked, which one answer cannot say.
    TakesMarks,
    /// A user has begun a text in a field of it.
    FieldOpen,
    /// The user's own words have more than one line, or characters that are keys.
    NotALine,
    /// Its field for the user's own words was opened with keys, and was not seen.
    NoField,
    /// The user's own words are in its field and were not submitted.
    LeftInField,
}

impl Unanswerable {
    pub(super) fn sentence(self, title: &Title) -> String {
        let reason = match self {
            Self::NoDialog => return format!("`{title}` shows no dialog"),
            Self::Another => "it shows another dialog than the one that was read",
            Self::Changed => "its screen changed in that moment",
            Self::AnsweredByHook => "autoyes has answered it meanwhile",
            Self::Typing => "a user is typing at its terminal",
            Self::ReadsKeys => "the program reads keys, not lines",
            Self::TakesMarks => "it asks for marks, of which there may be several",
            Self::FieldOpen => {
                "a field for text is open in its dialog, and the key would be a part of that"
            }
            Self::NotALine => "an answer in your own words is one line of text",
            Self::NoField => {
                return format!(
                    "nothing was written in `{title}`: the field for it did not come up"
                );
            }
            Self::LeftInField => {
                return format!(
                    "the answer stands in the dialog of `{title}` and was not submitted"
                );
            }
        };
        format!("nothing was pressed in `{title}`: {reason}")
    }
}
