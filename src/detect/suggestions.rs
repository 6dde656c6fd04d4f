//! Reads the list of commands that an agent offers below its input box while one is typed.

use serde::Deserialize;

use super::draft::DraftSpec;
use super::pattern::{Fault, Pattern};
use super::row::Row;
use super::screen::Screen;

/// For an agent that makes this list after it has drawn what was typed: an Enter at that moment would take the first
/// command of the list before.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuggestionSpec {
    /// A row of the list; its first group is the command, with its other names.
    pub row: Pattern,
}

/// What an agent offers for a command that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Offer {
    /// The command is not in the input box, or not all of it.
    NotTyped,
    NoList,
    /// The first command of the list, with its other names.
    Command(String),
}

impl SuggestionSpec {
    pub(crate) fn offer(&self, screen: &Screen, input: &DraftSpec, command: &str) -> Offer {
        let word = command.split_whitespace().next().unwrap_or_default();
        let rows = screen.rows();
        let typed = |row: &Row| input.row.groups(row.text());
        let found = rows
            .iter()
            .rposition(|row| input.row.is_match(row.text()))
            .filter(|at| typed(&rows[*at]).is_some_and(|typed| typed.trim().starts_with(word)));
        let Some(found) = found else {
            return Offer::NotTyped;
        };
        let mut below = rows.iter().skip(found + 1);
        let first = below.find_map(|row| self.row.capture(row.text()));
        first.map_or(Offer::NoList, |first| Offer::Command(first.to_owned()))
    }

    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        self.row.check(&format!("{key}.row"))
    }
}

/// Whether an offered command, with its other names, is what was typed: `model` for `/model`, `show` for `/memory show`.
pub(crate) fn is_typed(offered: &str, typed: &str) -> bool {
    let names: Vec<&str> = offered
        .split(|c: char| c.is_whitespace() || "(),/".contains(c))
        .filter(|name| !name.is_empty())
        .collect();
    let mut words = typed.split_whitespace();
    let command = words.next().unwrap_or_default().trim_start_matches('/');
    let begins = !command.is_empty() && names.iter().any(|name| name.starts_with(command));
    begins || words.any(|word| names.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_what_was_typed_or_another_command() {
        for (offered, typed, expected) in [
            ("model", "/model", true),
            ("model", "/mod", true),
            ("resume (continue)", "/continue", true),
            ("show", "/memory show", true),
            ("clear", "/model", false),
            ("clear", "/model set c", false),
            ("yolo", "/", false),
        ] {
            assert_eq!(is_typed(offered, typed), expected, "{offered} {typed}");
        }
    }
}
