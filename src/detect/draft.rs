//! Reads the agent's input box, to see that a paste has arrived and was submitted.

use serde::Deserialize;
use unicode_width::UnicodeWidthStr;

use super::pattern::{Fault, Pattern};
use super::row::Row;
use super::screen::Screen;

/// How many rows from the bottom are searched for the input row. A long draft pushes it up.
const REACH: usize = 30;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftSpec {
    /// The input row; its first group is the typed text.
    pub row: Pattern,
    /// Texts that the agent shows in an empty box.
    #[serde(default)]
    pub placeholders: Vec<Pattern>,
    /// The row below the box, for agents that put a prompt back into it: the whole content is compared
    /// with that prompt.
    pub end: Option<Pattern>,
    /// The row below the box, for agents whose drafts outlive a pause: the text is read before the agent is
    /// stopped, and typed back.
    pub foot: Option<Pattern>,
    /// Columns of a row that are not for text: the sign before it and the space behind it.
    #[serde(default = "edges")]
    pub edges: usize,
    /// How to find the box, for an agent whose input row looks like other rows.
    pub inside: Option<BoxSpec>,
}

/// A box whose rows all begin alike, found from below.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoxSpec {
    /// The row right below the box.
    pub foot: Pattern,
    /// Every row of the box.
    pub frame: Pattern,
    /// How many of its last rows are not part of the input.
    #[serde(default)]
    pub skip: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Draft {
    /// There is no input box on the screen.
    Hidden,
    Empty,
    /// The first row of the typed or pasted text.
    Text(String),
}

impl DraftSpec {
    pub(crate) fn read(&self, screen: &Screen) -> Draft {
        let typed_in = |row| Some((row, self.row.group(Row::text(row))?));
        let found = match &self.inside {
            None => screen.filled().rev().take(REACH).find_map(typed_in),
            Some(inside) => match inside.rows(screen) {
                // No typed text: the box exists and is empty.
                Some(mut rows) => match rows.find_map(typed_in) {
                    Some(found) => Some(found),
                    None => return Draft::Empty,
                },
                None => None,
            },
        };
        let Some((row, shown)) = found else {
            return Draft::Hidden;
        };
        // Colours are the best evidence. A capture without colours leaves only the known placeholders.
        let undimmed = row.undimmed();
        let typed = self.row.group(&undimmed).unwrap_or_default().trim();
        if typed.is_empty() || self.placeholders.iter().any(|text| text.is_match(shown)) {
            Draft::Empty
        } else {
            Draft::Text(typed.to_owned())
        }
    }

    /// The whole content of the box, rows joined; None where its end is not known.
    pub(crate) fn whole(&self, screen: &Screen) -> Option<String> {
        let rows: Vec<&Row> = screen.filled().collect();
        let first = rows
            .iter()
            .rposition(|row| self.row.group(row.text()).is_some())?;
        let end = self.end.as_ref()?;
        // The lowest match: text in the box may look like its end.
        let end = rows.iter().rposition(|row| end.is_match(row.text()))?;
        let below = rows.get(first + 1..end)?;
        let typed = rows.get(first)?.undimmed();
        let typed = self.row.group(&typed).unwrap_or_default().to_owned();
        let more = below.iter().map(|row| row.undimmed());
        Some(
            std::iter::once(typed)
                .chain(more)
                .collect::<Vec<_>>()
                .join("\n"),
        )
    }

    /// The content of the box as it was typed, on a screen of so many columns. Rows that the box has broken are
    /// joined. None where the box is empty or its end is not known.
    pub(crate) fn typed(&self, screen: &Screen, columns: u16) -> Option<String> {
        let rows = screen.rows();
        let first = rows
            .iter()
            .rposition(|row| self.row.group(row.text()).is_some())?;
        let foot = self.foot.as_ref()?;
        // The lowest match: text in the box may look like its foot.
        let foot = rows.iter().rposition(|row| foot.is_match(row.text()))?;
        let below = rows.get(first + 1..foot)?;
        match self.read(screen) {
            Draft::Text(_) => {}
            // Its first line may be blank; a placeholder is not.
            Draft::Empty if self.has_blank_first_line(rows.get(first)?, below) => {}
            Draft::Empty | Draft::Hidden => return None,
        }
        let typed = rows.get(first)?.undimmed();
        let typed = self.row.group(&typed).unwrap_or_default().to_owned();
        let more = below.iter().map(Row::undimmed);
        let more = more.map(|row| row.strip_prefix("  ").unwrap_or(&row).to_owned());
        let lines: Vec<String> = std::iter::once(typed).chain(more).collect();
        Some(joined(
            &lines,
            usize::from(columns).saturating_sub(self.edges),
        ))
    }

    fn has_blank_first_line(&self, first: &Row, below: &[Row]) -> bool {
        let shown = self.row.group(first.text()).unwrap_or_default();
        let filled = |row: &Row| !row.undimmed().trim().is_empty();
        shown.trim().is_empty() && below.iter().any(filled)
    }

    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        self.row.check(&format!("{key}.row"))?;
        if let Some(inside) = &self.inside {
            inside.foot.check(&format!("{key}.inside.foot"))?;
            inside.frame.check(&format!("{key}.inside.frame"))?;
        }
        if let Some(end) = &self.end {
            end.check(&format!("{key}.end"))?;
        }
        if let Some(foot) = &self.foot {
            foot.check(&format!("{key}.foot"))?;
        }
        for (at, text) in self.placeholders.iter().enumerate() {
            text.check(&format!("{key}.placeholders[{at}]"))?;
        }
        Ok(())
    }
}

/// Those of Claude Code and Codex.
fn edges() -> usize {
    4
}

/// The rows of a box with so much room, as the text that was typed: a row that had no room for the first word of
/// the next was broken by the box.
fn joined(rows: &[String], room: usize) -> String {
    let mut text = String::new();
    let mut above: Option<&str> = None;
    for row in rows.iter().map(|row| row.trim_end_matches(' ')) {
        if let Some(above) = above {
            let word = row.split(' ').next().unwrap_or_default();
            let full = above.width() + 1 + word.width() > room;
            text.push_str(match (full && !word.is_empty(), above.contains(' ')) {
                (false, _) => "\n",
                (true, true) => " ",
                // A word that is longer than the box.
                (true, false) => "",
            });
        }
        text.push_str(row);
        above = Some(row);
    }
    text.truncate(text.trim_end().len());
    text
}

impl BoxSpec {
    /// The input rows, from below; None where there is no box.
    fn rows<'s>(&self, screen: &'s Screen) -> Option<impl Iterator<Item = &'s Row>> {
        let rows = screen.rows();
        let foot = rows
            .iter()
            .rposition(|row| self.foot.is_match(row.text()))?;
        let above = rows.get(..foot)?.iter().rev();
        Some(
            above
                .take_while(|row| self.frame.is_match(row.text()))
                .skip(self.skip),
        )
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
            end: None,
            foot: None,
            edges: edges(),
            inside: None,
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

    /// As of `biv agents record`: nothing behind the sign is no text.
    #[test]
    fn an_empty_box_may_be_its_sign_alone() {
        let spec = DraftSpec {
            row: Pattern::new(r"^>(?:\s(.*?))?\s*$"),
            placeholders: Vec::new(),
            end: None,
            foot: None,
            edges: edges(),
            inside: None,
        };
        let read = |capture: &str| spec.read(&Screen::new(capture));
        assert_eq!(read(">\n"), Draft::Empty);
        assert_eq!(read("\x1b[1m> \x1b[0;7m \x1b[0m\n"), Draft::Empty);
        assert_eq!(read("> >\n"), Draft::Text(">".to_owned()));
    }

    #[test]
    fn a_box_is_read_to_its_end() {
        let spec = DraftSpec {
            row: Pattern::new("^❯ (.*)$"),
            placeholders: Vec::new(),
            end: Some(Pattern::new("^─{10,}")),
            foot: None,
            edges: edges(),
            inside: None,
        };
        let rule = "─".repeat(20);
        let screen =
            format!("❯ an old one\n{rule}\n❯ one\n  two\n{rule}\n  three\n{rule}\n  status\n");
        let whole = spec.whole(&Screen::new(&screen)).unwrap();
        assert!(
            whole.starts_with("one\n  two\n") && whole.ends_with("three"),
            "{whole}"
        );
        assert_eq!(spec.whole(&Screen::new("❯ one\n  two\n")), None, "no end");
        assert_eq!(spec.whole(&Screen::new(&rule)), None, "no box");
    }

    /// As Claude Code draws a box of 96 columns on a screen of 100.
    #[test]
    fn a_draft_is_read_as_it_was_typed() {
        let spec = DraftSpec {
            row: Pattern::new("^❯ (.*)$"),
            placeholders: Vec::new(),
            end: None,
            foot: Some(Pattern::new("^─{10,}")),
            edges: edges(),
            inside: None,
        };
        let rule = "─".repeat(100);
        let typed = |rows: &str| spec.typed(&Screen::new(&format!("{rows}\n{rule}\n s\n")), 100);
        let long = "a draft with quite some words in it, so that the row is longer than the box is wide, and a bit";
        let word = "x".repeat(96);
        for (rows, expected) in [
            ("❯ one".to_owned(), "one".to_owned()),
            (
                "❯ one\n  two\n\n    four\n".to_owned(),
                "one\ntwo\n\n  four".to_owned(),
            ),
            (
                format!("❯ {long}\n  more than that\n  second   line"),
                format!("{long} more than that\nsecond   line"),
            ),
            (format!("❯ {word}\n  xx b"), format!("{word}xx b")),
        ] {
            assert_eq!(typed(&rows), Some(expected), "{rows}");
        }
        assert_eq!(typed("❯ "), None, "an empty box");
        // Copilot breaks two columns earlier.
        let spec = DraftSpec {
            row: Pattern::new("^❯ ?(.*)$"),
            edges: 6,
            ..spec
        };
        let typed = |rows: &str| spec.typed(&Screen::new(&format!("{rows}\n{rule}\n s\n")), 100);
        let long = "y".repeat(86);
        for (rows, expected) in [
            (
                format!("❯ {long} end\n  more"),
                Some(format!("{long} end more")),
            ),
            ("❯\n\n  three".to_owned(), Some("\n\nthree".to_owned())),
            ("❯\n\n".to_owned(), None),
            ("❯\n  \x1b[2ma hint\x1b[0m".to_owned(), None),
        ] {
            assert_eq!(typed(&rows), expected, "{rows}");
        }
        assert_eq!(spec.typed(&Screen::new("❯ one\n"), 100), None, "no foot");
    }

    #[test]
    fn a_box_among_others_is_found_from_below() {
        let spec = DraftSpec {
            row: Pattern::new(r"^ *┃ {2}(\S.*?)(?: {8,}.*)?$"),
            placeholders: vec![Pattern::new("^Ask")],
            end: None,
            foot: None,
            edges: edges(),
            inside: Some(BoxSpec {
                foot: Pattern::new("^ *╹▀"),
                frame: Pattern::new("^ *┃"),
                skip: 2,
            }),
        };
        let said = "  ┃  said before\n\n  answer\n\n";
        let screen = |text: &str| {
            format!(
                "{said}  ┃\n  ┃  {text}                /the/side\n  ┃\n  ┃  Build · x\n  ╹▀▀▀\n"
            )
        };
        for (text, expected) in [
            ("half a", Draft::Text("half a".to_owned())),
            ("Ask anything", Draft::Empty),
            ("", Draft::Empty),
        ] {
            assert_eq!(spec.read(&Screen::new(&screen(text))), expected, "{text}");
        }
        assert_eq!(spec.read(&Screen::new(said)), Draft::Hidden);
    }
}
