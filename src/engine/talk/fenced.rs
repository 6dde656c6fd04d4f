//! Text of others inside a prompt.

use crate::model::printable;

/// The text in a block of code that it cannot close, and without anything that could steer the terminal that
/// it is typed into.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    let text = printable(text.trim_end_matches('\n'));
    format!("{fence}{language}\n{text}\n{fence}\n")
}
