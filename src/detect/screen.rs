//! A captured screen: rows of text without escape sequences.

use serde::Deserialize;
use unicode_width::UnicodeWidthStr;

use super::row::Row;
use super::sgr;

/// Up to two spaces between a question and the cursor, which a capture does not show.
const BEHIND: usize = 2;

/// A bar stands beside at least so many rows: fewer that end in its characters are text.
const BAR: usize = 6;

/// Where the cursor is, seen from the last row that is not blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CursorAt {
    /// Right behind its text, as when a program waits for an answer to it.
    Behind,
    /// On a row below it: what stands there was submitted.
    Below,
}

/// The output of `capture-pane -p` or `-pe`, as rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Screen {
    rows: Vec<Row>,
    /// Column and row of the cursor, where that is known.
    cursor: Option<(usize, usize)>,
}

/// Two screens are equal if they show the same text, wherever the cursor is.
impl PartialEq for Screen {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl Screen {
    /// The text may have colours and other sequences; they are removed.
    pub(crate) fn new(capture: &str) -> Self {
        Self {
            rows: sgr::rows(capture),
            cursor: None,
        }
    }

    pub(crate) fn with_cursor(self, (column, row): (u16, u16)) -> Self {
        Self {
            cursor: Some((column.into(), row.into())),
            ..self
        }
    }

    /// Where the cursor is not known, it counts as being behind the last row.
    pub(super) fn has_cursor(&self, at: CursorAt) -> bool {
        let Some((column, row)) = self.cursor else {
            return at == CursorAt::Behind;
        };
        let Some(last) = self.rows.iter().rposition(|row| !row.is_blank()) else {
            return false;
        };
        match at {
            CursorAt::Below => row > last,
            CursorAt::Behind => {
                let width = self.rows.get(last).map_or(0, |row| row.text().width());
                row == last && (width..=width + BEHIND).contains(&column)
            }
        }
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The part below the last row that starts with one of these texts; all of it if no row does. A resumed agent
    /// starts below its old screen, which must be ignored.
    pub(crate) fn below(mut self, marks: &[&str]) -> Self {
        let start = self
            .rows
            .iter()
            .rposition(|row| marks.iter().any(|mark| row.text().starts_with(mark)))
            .map_or(0, |at| at + 1);
        self.rows.drain(..start);
        Self {
            rows: self.rows,
            cursor: self
                .cursor
                .and_then(|(column, row)| Some((column, row.checked_sub(start)?))),
        }
    }

    /// Without the bar that the agent draws at the right edge while its screen scrolls: its part in view is of the first
    /// of these characters, and without that it is the edge of a box.
    pub(crate) fn without_scroll_bar(&self, marks: &str) -> Self {
        let edge = self.width();
        // Some signs are wider for tmux than for us.
        let beside_bar = |row: &&Row| row.ends_apart_in(marks) && row.text().width() + 1 >= edge;
        let beside: Vec<&Row> = self.rows.iter().filter(beside_bar).collect();
        let in_view = |row: &&Row| row.text().chars().next_back() == marks.chars().next();
        if beside.len() < BAR || !beside.iter().any(in_view) {
            return self.clone();
        }
        let rows = self.rows.iter().map(|row| match beside_bar(&row) {
            true => row.clone().without_last(),
            false => row.clone(),
        });
        Self {
            rows: rows.collect(),
            cursor: self.cursor,
        }
    }

    /// The rows that are not blank, from the top.
    pub(crate) fn filled(&self) -> impl DoubleEndedIterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.is_blank())
    }

    /// The width of the widest row: the width of the pane where the agent draws a full line.
    pub(crate) fn width(&self) -> usize {
        self.rows
            .iter()
            .map(|row| row.text().width())
            .max()
            .unwrap_or(0)
    }

    /// How many characters differ from an earlier capture of the same pane.
    pub(crate) fn changed_since(&self, earlier: &Self) -> usize {
        let rows = self.rows.len().max(earlier.rows.len());
        (0..rows)
            .map(|at| {
                let text = |screen: &Self| screen.rows.get(at).map_or("", Row::text).to_owned();
                let (new, old) = (text(self), text(earlier));
                if new == old {
                    return 0;
                }
                let longest = new.chars().count().max(old.chars().count());
                let same = new.chars().zip(old.chars()).filter(|(a, b)| a == b).count();
                longest - same
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(capture: &str) -> Vec<String> {
        let screen = Screen::new(capture);
        screen
            .rows()
            .iter()
            .map(|row| row.text().to_owned())
            .collect()
    }

    #[test]
    fn a_program_that_waits_leaves_the_cursor_behind_its_question() {
        let screen = |cursor| Screen::new("log\nContinue? [Y/n]\n\n").with_cursor(cursor);
        let waits = |screen: &Screen| screen.has_cursor(CursorAt::Behind);
        assert!(waits(&screen((15, 1))));
        assert!(waits(&screen((16, 1))));
        assert!(!waits(&screen((0, 2))), "it goes on below");
        assert!(!waits(&screen((3, 1))));
        assert!(!waits(&screen((15, 0))));
        assert!(waits(&screen((16, 1)).below(&["log"])));
        assert!(waits(&Screen::new("Continue?")), "unknown cursor");
    }

    #[test]
    fn a_line_that_was_submitted_has_the_cursor_below_it() {
        let submitted = |cursor| {
            Screen::new("log\n> !make\n\n")
                .with_cursor(cursor)
                .has_cursor(CursorAt::Below)
        };
        assert!(submitted((0, 2)));
        assert!(!submitted((7, 1)), "still typed");
        assert!(!submitted((2, 1)), "the cursor was moved in it");
        assert!(!submitted((0, 0)));
        assert!(
            !Screen::new("> !make").has_cursor(CursorAt::Below),
            "unknown cursor"
        );
    }

    #[test]
    fn a_scroll_bar_goes_and_text_that_looks_like_one_stays() {
        let beside = |texts: &[&str]| -> String {
            let rows = texts.iter().map(|text| format!("{text:<19}█\n"));
            rows.collect()
        };
        let texts = ["a", "b  c", "", "│ d", "e│", "f"];
        let shown = beside(&texts) + "below\n";
        let cleaned = Screen::new(&shown).without_scroll_bar("█│");
        let rows: Vec<&str> = cleaned.rows().iter().map(Row::text).collect();
        assert_eq!(rows, ["a", "b  c", "", "│ d", "e│", "f", "below"]);
        let box_of = |rows: usize| "│ a │\n".repeat(rows);
        for other in [beside(&texts[1..]), box_of(9), "a█\n".repeat(9)] {
            let screen = Screen::new(&other);
            assert_eq!(screen.without_scroll_bar("█│"), screen, "{other}");
        }
    }

    #[test]
    fn sequences_go_and_text_stays() {
        assert_eq!(texts("\x1b[1;38;5;153mBash\x1b[0m x  \n"), ["Bash x"]);
        assert_eq!(
            texts("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x07b"),
            ["alinkb"]
        );
        assert_eq!(texts("❯\u{a0}  \nb\r\n"), ["❯\u{a0}", "b"]);
        assert_eq!(texts("a\x1b(Bb\x1b=c"), ["abc"]);
    }

    #[test]
    fn an_unfinished_sequence_cannot_hide_the_rows_below() {
        assert_eq!(
            texts("a\x1b]0;title\nb\x1b[31\nc\x1bPq\nd"),
            ["a", "b", "c", "d"]
        );
    }

    #[test]
    fn dim_text_is_told_from_typed_text() {
        let screen = Screen::new("› \x1b[2mAsk anything\x1b[22m!\n");
        assert_eq!(screen.rows()[0].undimmed(), "› !");
    }

    #[test]
    fn the_pen_carries_over_line_ends() {
        let screen = Screen::new("\x1b[48;5;215ma\nb\x1b[49mc");
        let ground = |row: usize, byte| screen.rows()[row].look_at(byte).unwrap().ground;
        assert_eq!(ground(0, 0), ground(1, 0));
        assert_ne!(ground(1, 0), ground(1, 1));
    }

    #[test]
    fn what_stands_above_the_mark_is_left_out() {
        let screen = Screen::new("❯\u{a0}\n── resumed 2026-11-14 ──\nstarting\n");
        let below = screen.clone().below(&["── restarted ", "── resumed "]);
        assert_eq!(below.rows().len(), 1);
        assert_eq!(below.rows()[0].text(), "starting");
        assert_eq!(screen.below(&["nothing"]).rows().len(), 3);
    }

    proptest! {
        #[test]
        fn no_control_character_survives(capture in any::<String>()) {
            let rows = texts(&capture);
            prop_assert!(rows.iter().all(|row| !row.chars().any(char::is_control)));
            prop_assert!(rows.len() <= capture.matches('\n').count() + 1);
        }
    }
}
