//! What stands in the agent's input box, so that a paste can be seen to arrive and to go.

use serde::Deserialize;

use super::pattern::{Fault, Pattern};
use super::screen::Screen;

/// How far up the input row is looked for: a long draft pushes it away from the bottom.
const REACH: usize = 30;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftSpec {
    /// The row of the cursor; its first group is what was typed.
    pub row: Pattern,
    /// Texts that agents show in an empty box.
    #[serde(default)]
    pub placeholders: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Draft {
    /// There is no input box on the screen.
    Hidden,
    Empty,
    /// The first row of what was typed or pasted.
    Text(String),
}

impl DraftSpec {
    pub(crate) fn read(&self, screen: &Screen) -> Draft {
        let found = screen
            .filled()
            .rev()
            .take(REACH)
            .find_map(|row| Some((row, self.row.capture(row.text())?)));
        let Some((row, shown)) = found else {
            return Draft::Hidden;
        };
        // Colours tell best; a plain capture leaves only the known texts.
        let undimmed = row.undimmed();
        let typed = self.row.capture(&undimmed).unwrap_or_default().trim();
        if typed.is_empty() || self.placeholders.iter().any(|text| text.is_match(shown)) {
            Draft::Empty
        } else {
            Draft::Text(typed.to_owned())
        }
    }

    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        self.row.check(&format!("{key}.row"))?;
        for (at, text) in self.placeholders.iter().enumerate() {
            text.check(&format!("{key}.placeholders[{at}]"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_is_told_from_a_placeholder() {
        let spec = DraftSpec {
            row: Pattern::new("^› ?(.*)$"),
            placeholders: vec![Pattern::new("^Ask Codex")],
        };
        for (capture, expected) in [
            ("› hello\n", Draft::Text("hello".to_owned())),
            ("› Ask Codex to do anything\n", Draft::Empty),
            ("› \x1b[2mSomething new\x1b[0m\n", Draft::Empty),
            ("›\n", Draft::Empty),
            ("nothing\n", Draft::Hidden),
            ("› echoed\n› live\n", Draft::Text("live".to_owned())),
        ] {
            assert_eq!(spec.read(&Screen::new(capture)), expected, "{capture:?}");
        }
    }
}
