//! Reads the list of commands that an agent offers below its input box while one is typed.

use serde::Deserialize;

use super::pattern::{Fault, Pattern};
use super::screen::Screen;

/// For an agent that makes this list after it has drawn what was typed: an Enter at that moment would take the first
/// command of the list before.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuggestionSpec {
    /// A row of the list; its first group is the command, with its other names.
    pub row: Pattern,
}

impl SuggestionSpec {
    /// The first command that is offered below the row in which `typed` stands; None where there is no list.
    pub(crate) fn first(&self, screen: &Screen, typed: &str) -> Option<String> {
        let rows = screen.rows();
        let input = rows.iter().rposition(|row| row.text().contains(typed))?;
        let mut below = rows.iter().skip(input + 1);
        below.find_map(|row| self.row.capture(row.text()).map(str::to_owned))
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
    words.any(|word| {
        let word = word.trim_start_matches('/');
        !word.is_empty() && names.iter().any(|name| name.starts_with(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_below_the_box_is_read() {
        let spec = SuggestionSpec {
            row: Pattern::new(r"^ ([a-z][\w:-]*(?: \([^)]*\))?)(?: {2,}.*)?$"),
        };
        let screen = |typed: &str, list: &str| {
            Screen::new(&format!("words\n > {typed}\n▀▀▀▀\n{list}\n workspace"))
        };
        let of_slash = screen(
            "/model",
            " clear       Clear the screen\n compress    Less of it",
        );
        assert_eq!(spec.first(&of_slash, "/model").as_deref(), Some("clear"));
        let of_model = screen("/model", " model   Manage model configuration");
        assert_eq!(spec.first(&of_model, "/model").as_deref(), Some("model"));
        assert_eq!(spec.first(&of_model, "/theme"), None);
    }

    #[test]
    fn an_offer_is_what_was_typed_or_another_command() {
        for (offered, typed, expected) in [
            ("model", "/model", true),
            ("model", "/mod", true),
            ("resume (continue)", "/continue", true),
            ("show", "/memory show", true),
            ("clear", "/model", false),
            ("yolo", "/", false),
        ] {
            assert_eq!(is_typed(offered, typed), expected, "{offered} {typed}");
        }
    }
}
