//! Reads the agent's input box, to see that a paste has arrived and was submitted.

use serde::Deserialize;

use super::broken_rows::joined;
use super::pattern::{Fault, Pattern};
use super::row::Row;
use super::screen::Screen;

/// How many rows from the bottom are searched for the input row. A long draft pushes it up.
pub(super) const REACH: usize = 30;
/// A box that leaves at most so many rows of the screen to others may have scrolled.
const BESIDES: usize = 4;
/// Qwen Code draws its cursor behind the text as this.
const CURSOR: char = '\u{200b}';

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftSpec {
    /// The input row; its groups, one after another, are the typed text.
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
    /// The same row of a menu or dialog that takes the place of the box and has rows like it.
    pub covered: Option<Pattern>,
    /// The most rows that stand below the foot, where a prompt that was sent looks like the box and a dialog takes
    /// its place.
    pub below: Option<usize>,
    /// A further row of the text, with the text as its first group. Where it is not given: two spaces before it.
    pub more: Option<Pattern>,
    /// Columns of a row that are not for text: the sign before it and the space behind it.
    #[serde(default = "edges")]
    pub edges: usize,
    /// How much of the screen's width the box takes, in percent, before the edges are taken off.
    #[serde(default = "whole_width")]
    pub width: usize,
    /// The most rows that the box shows of a longer text.
    pub tallest: Option<Tallest>,
    /// How to find the box, for an agent whose input row looks like other rows.
    pub inside: Option<BoxSpec>,
    /// Rows above the box that the agent draws there whatever it says: hints, the directory, how long a turn took.
    #[serde(default)]
    pub aside: Vec<Pattern>,
}

/// How tall a box grows before it scrolls.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum Tallest {
    Rows(usize),
    /// Of the screen's height.
    Percent(usize),
}

/// The size of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub columns: u16,
    pub rows: u16,
}

/// What a box shows of the text in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    pub text: String,
    /// There may be more of it, out of sight.
    pub cut: bool,
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
        let is_input = |row: &&Row| self.row.is_match(row.text());
        let found = match &self.inside {
            None => screen
                .filled()
                .rev()
                .take(REACH)
                .find(is_input)
                .filter(|_| !self.is_box_hidden(screen)),
            Some(inside) => match inside.rows(screen) {
                // No typed text: the box exists and is empty.
                Some(mut rows) => match rows.find(is_input) {
                    Some(found) => Some(found),
                    None => return Draft::Empty,
                },
                None => None,
            },
        };
        found.map_or(Draft::Hidden, |row| self.read_row(row))
    }

    /// Whether rows that are no text of the box stand between the lowest input row and the foot: the box is hidden
    /// then, and the row is a prompt that was sent. Only known where it is said how further rows look.
    pub(super) fn is_box_hidden(&self, screen: &Screen) -> bool {
        if self.more.is_none() {
            return false;
        }
        let rows = screen.rows();
        let find = |pattern: &Pattern| rows.iter().rposition(|row| pattern.is_match(row.text()));
        let Some((first, foot)) = find(&self.row).zip(self.foot.as_ref().and_then(find)) else {
            return false;
        };
        let between = self.between(rows, first, foot).unwrap_or_default();
        between.iter().any(|row| self.further(row).is_none())
    }

    /// The rows between the first one of the box and its foot, without the lower edge: on a screen with many colours
    /// Gemini draws one.
    fn between<'r>(&self, rows: &'r [Row], first: usize, foot: usize) -> Option<&'r [Row]> {
        let rows = rows.get(first + 1..foot)?;
        let is_edge = |row: &Row| self.further(row).is_none() && row.is_drawn();
        let end = rows.iter().rposition(|row| !is_edge(row));
        rows.get(..end.map_or(0, |end| end + 1))
    }

    /// What stands in the input row.
    fn read_row(&self, row: &Row) -> Draft {
        let shown = self.row.groups(row.text()).unwrap_or_default();
        // Colours are the best evidence. A capture without colours leaves only the known placeholders.
        let undimmed = row.undimmed();
        let typed = self.row.groups(&undimmed).unwrap_or_default();
        let typed = typed.trim_end_matches(CURSOR).trim();
        if typed.is_empty() || self.placeholders.iter().any(|text| text.is_match(&shown)) {
            Draft::Empty
        } else {
            Draft::Text(typed.to_owned())
        }
    }

    /// The whole content of the box, rows joined; None where its end is not known.
    pub(crate) fn whole(&self, screen: &Screen) -> Option<String> {
        let rows: Vec<&Row> = screen.filled().collect();
        let first = rows.iter().rposition(|row| self.row.is_match(row.text()))?;
        let end = self.end.as_ref()?;
        // The lowest match: text in the box may look like its end.
        let end = rows.iter().rposition(|row| end.is_match(row.text()))?;
        let below = rows.get(first + 1..end)?;
        let typed = rows.get(first)?.undimmed();
        let typed = self.row.groups(&typed).unwrap_or_default();
        let more = below.iter().map(|row| row.undimmed());
        Some(
            std::iter::once(typed)
                .chain(more)
                .collect::<Vec<_>>()
                .join("\n"),
        )
    }

    /// The content of the box as it was typed. Rows that the box has broken are joined. None where the box is
    /// empty or its end is not known.
    pub(crate) fn typed(&self, screen: &Screen, size: Size) -> Option<Typed> {
        let rows = screen.rows();
        let foot = self.foot.as_ref()?;
        // The lowest match: text in the box may look like its foot.
        let foot = rows.iter().rposition(|row| foot.is_match(row.text()))?;
        let covers = |pattern: &Pattern| pattern.is_match(rows.get(foot).map_or("", Row::text));
        if self.covered.as_ref().is_some_and(covers) {
            return None;
        }
        let filled = rows.iter().skip(foot + 1).filter(|row| !row.is_blank());
        if self.below.is_some_and(|most| filled.count() > most) {
            return None;
        }
        let above = rows.get(..foot)?;
        let first = above.iter().rposition(|row| self.row.is_match(row.text()));
        let height = usize::from(size.rows);
        let room = (usize::from(size.columns) * self.width / 100).saturating_sub(self.edges);
        let Some(first) = first else {
            // The box has pushed its first row off the screen.
            let fills = above.len() > BESIDES && above.len() + BESIDES >= height;
            let text = fills.then(|| above.iter().map(|row| self.further(row)))?;
            let text = joined(&text.collect::<Option<Vec<_>>>()?, room);
            return (!text.is_empty()).then_some(Typed { text, cut: true });
        };
        let below = self.between(rows, first, foot)?;
        match self.read_row(rows.get(first)?) {
            Draft::Text(_) => {}
            // Its first line may be blank; a placeholder is not.
            Draft::Empty if self.has_blank_first_line(rows.get(first)?, below) => {}
            Draft::Empty | Draft::Hidden => return None,
        }
        let typed = rows.get(first)?.undimmed();
        let typed = self.row.groups(&typed).unwrap_or_default();
        let more = below
            .iter()
            .map(|row| self.further(row).unwrap_or_else(|| row.undimmed()));
        let lines: Vec<String> = std::iter::once(typed)
            .chain(more)
            .map(|row| row.trim_end_matches([' ', CURSOR]).to_owned())
            .collect();
        let tallest = match self.tallest {
            Some(Tallest::Rows(rows)) => rows,
            Some(Tallest::Percent(percent)) => height * percent / 100,
            None => usize::MAX,
        };
        let tallest = tallest.min(height.saturating_sub(BESIDES));
        Some(Typed {
            cut: lines.len() >= tallest,
            text: joined(&lines, room),
        })
    }

    /// The text of a row below the first one.
    fn further(&self, row: &Row) -> Option<String> {
        let shown = row.undimmed();
        if shown.trim().is_empty() {
            return Some(String::new());
        }
        match &self.more {
            Some(more) => more.capture(&shown).map(str::to_owned),
            None => shown.strip_prefix("  ").map(str::to_owned),
        }
    }

    fn has_blank_first_line(&self, first: &Row, below: &[Row]) -> bool {
        let shown = self.row.groups(first.text()).unwrap_or_default();
        let filled = |row: &Row| !row.undimmed().trim().is_empty();
        shown.trim().is_empty() && below.iter().any(filled)
    }

    pub(crate) fn check(&self, key: &str) -> Result<(), Fault> {
        self.row.check(&format!("{key}.row"))?;
        if let Some(inside) = &self.inside {
            inside.foot.check(&format!("{key}.inside.foot"))?;
            inside.frame.check(&format!("{key}.inside.frame"))?;
        }
        let rows = [
            ("end", &self.end),
            ("foot", &self.foot),
            ("covered", &self.covered),
            ("more", &self.more),
        ];
        for (name, row) in rows {
            if let Some(row) = row {
                row.check(&format!("{key}.{name}"))?;
            }
        }
        for (name, texts) in [("placeholders", &self.placeholders), ("aside", &self.aside)] {
            for (at, text) in texts.iter().enumerate() {
                text.check(&format!("{key}.{name}[{at}]"))?;
            }
        }
        Ok(())
    }
}

/// Those of Claude Code and Codex.
fn edges() -> usize {
    4
}

fn whole_width() -> usize {
    100
}

impl BoxSpec {
    /// The input rows, from below; None where there is no box.
    fn rows<'s>(&self, screen: &'s Screen) -> Option<impl Iterator<Item = &'s Row>> {
        let above = screen.rows().get(..self.foot(screen)?)?.iter().rev();
        Some(
            above
                .take_while(|row| self.frame.is_match(row.text()))
                .skip(self.skip),
        )
    }

    /// Where the first row of the box is.
    pub(super) fn top(&self, screen: &Screen) -> Option<usize> {
        let foot = self.foot(screen)?;
        let above = screen.rows().get(..foot)?.iter().rev();
        let framed = above.take_while(|row| self.frame.is_match(row.text()));
        Some(foot - framed.count())
    }

    fn foot(&self, screen: &Screen) -> Option<usize> {
        let mut rows = screen.rows().iter();
        rows.rposition(|row| self.foot.is_match(row.text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        columns: 100,
        rows: 40,
    };

    /// An input box of which only the row is known.
    fn spec_of(row: &str) -> DraftSpec {
        DraftSpec {
            row: Pattern::new(row),
            placeholders: Vec::new(),
            end: None,
            foot: None,
            covered: None,
            below: None,
            more: None,
            edges: edges(),
            width: whole_width(),
            tallest: None,
            inside: None,
            aside: Vec::new(),
        }
    }

    #[test]
    fn typed_text_is_told_from_a_placeholder() {
        let spec = DraftSpec {
            placeholders: vec![Pattern::new("^Ask Codex")],
            ..spec_of("^› ?(.*)$")
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
        let spec = spec_of(r"^>(?:\s(.*?))?\s*$");
        let read = |capture: &str| spec.read(&Screen::new(capture));
        assert_eq!(read(">\n"), Draft::Empty);
        assert_eq!(read("\x1b[1m> \x1b[0;7m \x1b[0m\n"), Draft::Empty);
        assert_eq!(read("> >\n"), Draft::Text(">".to_owned()));
    }

    #[test]
    fn a_box_is_read_to_its_end() {
        let spec = DraftSpec {
            end: Some(Pattern::new("^─{10,}")),
            ..spec_of("^❯ (.*)$")
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
            foot: Some(Pattern::new("^─{10,}")),
            ..spec_of("^❯ (.*)$")
        };
        let rule = "─".repeat(100);
        let typed = |rows: &str| {
            let typed = spec.typed(&Screen::new(&format!("{rows}\n{rule}\n s\n")), SIZE)?;
            assert!(!typed.cut, "{rows}");
            Some(typed.text)
        };
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
        let typed = |rows: &str| {
            let typed = spec.typed(&Screen::new(&format!("{rows}\n{rule}\n s\n")), SIZE)?;
            assert!(!typed.cut, "{rows}");
            Some(typed.text)
        };
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
        assert_eq!(spec.typed(&Screen::new("❯ one\n"), SIZE), None, "no foot");
    }

    /// A box scrolls where it has no room for more: what it shows is not all.
    #[test]
    fn a_text_that_fills_its_box_may_be_cut() {
        let spec = DraftSpec {
            foot: Some(Pattern::new("^─{10,}")),
            tallest: Some(Tallest::Rows(10)),
            ..spec_of("^❯ (.*)$")
        };
        let rule = "─".repeat(100);
        let lines = |first: &str, count: usize| {
            let more: String = (1..count).map(|n| format!("  line {n}\n")).collect();
            Screen::new(&format!("{first}\n{more}{rule}\n  status\n"))
        };
        let cut = |spec: &DraftSpec, screen: &Screen| spec.typed(screen, SIZE).map(|it| it.cut);
        assert_eq!(cut(&spec, &lines("● said\n❯ line 0", 9)), Some(false));
        assert_eq!(cut(&spec, &lines("● said\n❯ line 0", 10)), Some(true));
        let half = DraftSpec {
            tallest: Some(Tallest::Percent(50)),
            ..spec.clone()
        };
        assert_eq!(cut(&half, &lines("● said\n❯ line 0", 19)), Some(false));
        assert_eq!(cut(&half, &lines("● said\n❯ line 0", 20)), Some(true));
        // Of an agent whose box takes the whole screen.
        let whole = DraftSpec {
            tallest: None,
            ..spec
        };
        assert_eq!(cut(&whole, &lines("❯ line 0", 35)), Some(false));
        assert_eq!(cut(&whole, &lines("❯ line 0", 36)), Some(true));
        assert_eq!(cut(&whole, &lines("  line 0", 37)), Some(true));
        assert_eq!(cut(&whole, &lines("  line 0", 30)), None);
        assert_eq!(cut(&whole, &lines("● said", 37)), None);
    }

    #[test]
    fn a_box_among_others_is_found_from_below() {
        let spec = DraftSpec {
            placeholders: vec![Pattern::new("^Ask")],
            inside: Some(BoxSpec {
                foot: Pattern::new("^ *╹▀"),
                frame: Pattern::new("^ *┃"),
                skip: 2,
            }),
            ..spec_of(r"^ *┃ {2}(\S.*?)(?: {8,}.*)?$")
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
