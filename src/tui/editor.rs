//! A text input of one or several lines.

use crate::config::{Key, KeyCode};
use crate::model::clusters;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Editor {
    text: String,
    /// In bytes, always between two characters.
    cursor: usize,
    one_line: bool,
}

impl Editor {
    pub(super) fn one_line(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cursor: text.len(),
            one_line: true,
        }
    }

    pub(super) fn many_lines() -> Self {
        Self::default()
    }

    /// Several lines, with the cursor behind this text.
    pub(super) fn with_lines(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cursor: text.len(),
            one_line: false,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Inserts at the cursor. Control characters are left out; in a one-line input, line breaks become
    /// spaces.
    pub(super) fn insert(&mut self, text: &str) {
        let kept: String = text
            .chars()
            .filter_map(|character| match character {
                '\n' | '\t' if self.one_line => Some(' '),
                '\n' | '\t' => Some(character),
                other if other.is_control() => None,
                other => Some(other),
            })
            .collect();
        self.text.insert_str(self.cursor, &kept);
        self.cursor += kept.len();
    }

    /// Handles an editing key; false where the key is not one.
    pub(super) fn press(&mut self, key: Key) -> bool {
        match (key.code, key.ctrl, key.alt) {
            (KeyCode::Char(character), false, false) => {
                self.insert(character.encode_utf8(&mut [0; 4]));
            }
            (KeyCode::Enter, _, true) | (KeyCode::Char('j'), true, _) if !self.one_line => {
                self.insert("\n");
            }
            (KeyCode::Backspace, false, false) => self.delete_to(self.before()),
            (KeyCode::Backspace, ..) | (KeyCode::Char('w'), true, _) => {
                self.delete_to(self.word_before());
            }
            (KeyCode::Delete, ..) => {
                let start = self.cursor;
                self.cursor = self.after();
                self.delete_to(start);
            }
            (KeyCode::Char('u'), true, _) => self.delete_to(self.line_start()),
            (KeyCode::Char('k'), true, _) => {
                let end = self.line_end();
                self.text.drain(self.cursor..end);
            }
            (KeyCode::Left, false, false) => self.cursor = self.before(),
            (KeyCode::Left, ..) | (KeyCode::Char('b'), false, true) => {
                self.cursor = self.word_before();
            }
            (KeyCode::Right, false, false) => self.cursor = self.after(),
            (KeyCode::Right, ..) | (KeyCode::Char('f'), false, true) => {
                self.cursor = self.word_after();
            }
            (KeyCode::Home, ..) | (KeyCode::Char('a'), true, _) => self.cursor = self.line_start(),
            (KeyCode::End, ..) | (KeyCode::Char('e'), true, _) => self.cursor = self.line_end(),
            (KeyCode::Up, ..) if !self.one_line => return self.step(-1),
            (KeyCode::Down, ..) if !self.one_line => return self.step(1),
            _ => return false,
        }
        true
    }

    /// The text as rows of at most `width` columns, and the row and column of the cursor.
    pub(super) fn rows(&self, width: usize) -> (Vec<String>, (usize, usize)) {
        let width = width.max(2);
        let mut rows = vec![String::new()];
        let mut column = 0;
        let mut cursor = (0, 0);
        for (at, cluster, wide) in clusters(&self.text) {
            let (drawn, wide) = if cluster == "\t" {
                (" ", 1)
            } else {
                (cluster, wide)
            };
            let ends = cluster == "\n";
            if !ends && column + wide > width {
                rows.push(String::new());
                column = 0;
            }
            // A cursor inside of a cluster is drawn in front of it.
            if (at..at + cluster.len()).contains(&self.cursor) {
                cursor = (rows.len() - 1, column);
            }
            if ends {
                rows.push(String::new());
                column = 0;
                continue;
            }
            if let Some(row) = rows.last_mut() {
                row.push_str(drawn);
            }
            column += wide;
        }
        if self.cursor == self.text.len() {
            if column >= width {
                rows.push(String::new());
                column = 0;
            }
            cursor = (rows.len() - 1, column);
        }
        (rows, cursor)
    }

    fn delete_to(&mut self, start: usize) {
        self.text.drain(start..self.cursor);
        self.cursor = start;
    }

    fn before(&self) -> usize {
        let front = &self.text[..self.cursor];
        clusters(front).next_back().map_or(0, |(at, ..)| at)
    }

    fn after(&self) -> usize {
        let rest = &self.text[self.cursor..];
        self.cursor + clusters(rest).next().map_or(0, |(_, first, _)| first.len())
    }

    fn word_before(&self) -> usize {
        let front = self.text[..self.cursor].trim_end();
        front
            .char_indices()
            .rfind(|(_, character)| character.is_whitespace())
            .map_or(0, |(at, character)| at + character.len_utf8())
    }

    fn word_after(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let start = rest.len() - rest.trim_start().len();
        let word = &rest[start..];
        let length = word.find(char::is_whitespace).unwrap_or(word.len());
        self.cursor + start + length
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let rest = &self.text[self.cursor..];
        self.cursor + rest.find('\n').unwrap_or(rest.len())
    }

    /// Moves up or down a line; false at the first and last line, where the caller handles the key.
    fn step(&mut self, by: i8) -> bool {
        let start = self.line_start();
        let column = clusters(&self.text[start..self.cursor]).count();
        let (from, to) = if by < 0 {
            let Some(end) = start.checked_sub(1) else {
                return false;
            };
            (self.text[..end].rfind('\n').map_or(0, |at| at + 1), end)
        } else {
            let end = self.line_end();
            if end == self.text.len() {
                return false;
            }
            let rest = &self.text[end + 1..];
            (end + 1, end + 1 + rest.find('\n').unwrap_or(rest.len()))
        };
        let line = &self.text[from..to];
        self.cursor = from + clusters(line).nth(column).map_or(line.len(), |(at, ..)| at);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::columns;

    fn typed(keys: &[&str]) -> Editor {
        let mut editor = Editor::many_lines();
        for key in keys {
            let chord = crate::config::Chord::parse(key).unwrap();
            for key in chord.0 {
                editor.press(key);
            }
        }
        editor
    }

    #[test]
    fn words_and_lines_are_edited() {
        for (keys, text) in [
            (&["a", "b", "backspace", "c"][..], "ac"),
            (&["a", "space", "b", "ctrl+w", "c"], "a c"),
            (&["a", "alt+enter", "b", "up", "x"], "ax\nb"),
            (&["a", "ctrl+j", "b", "ctrl+u", "c"], "a\nc"),
            (&["a", "b", "home", "delete", "end", "c"], "bc"),
            (&["日", "本", "left", "x"], "日x本"),
            (&["e", "\u{301}", "left", "x"], "xe\u{301}"),
            (&["🇩", "🇪", "a", "left", "backspace"], "a"),
        ] {
            assert_eq!(typed(keys).text(), text, "{keys:?}");
        }
    }

    #[test]
    fn rows_are_as_wide_as_they_may_be() {
        let mut editor = Editor::many_lines();
        editor.insert("日本語ab\nc");
        let (rows, cursor) = editor.rows(5);
        assert_eq!(rows, ["日本", "語ab", "c"]);
        assert_eq!(cursor, (2, 1));
    }

    #[test]
    fn one_line_stays_one_line_and_nothing_steers() {
        let mut editor = Editor::one_line("x");
        editor.insert("a\nb\x1b[2J\tc");
        assert_eq!(editor.text(), "xa b[2J c");
    }

    proptest! {
        #[test]
        fn any_keys_leave_the_cursor_in_the_text(
            text in "(\\PC|日|👨‍👩‍👧|🇩|❤️|\u{301}){0,20}",
            keys in proptest::collection::vec(0_usize..14, 0..40),
        ) {
            let names = [
                "left", "right", "up", "down", "backspace", "delete", "home", "end", "ctrl+w",
                "ctrl+k", "ctrl+u", "alt+enter", "日", "alt+f",
            ];
            let mut editor = Editor::many_lines();
            editor.insert(&text);
            for key in keys {
                for key in crate::config::Chord::parse(names[key]).unwrap().0 {
                    editor.press(key);
                }
                prop_assert!(editor.text.is_char_boundary(editor.cursor));
            }
            let (rows, cursor) = editor.rows(7);
            prop_assert!(cursor.0 < rows.len());
            prop_assert!(cursor.1 <= 7);
            for row in rows {
                // What a terminal draws as one can be wider than the input.
                prop_assert!(columns(&row) <= 7 || clusters(&row).count() == 1, "{row:?}");
            }
        }
    }
}
