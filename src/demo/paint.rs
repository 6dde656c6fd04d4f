//! Lines of coloured text without control characters, and their layout in columns.

use unicode_width::UnicodeWidthChar;

use crate::model::printable_line;

/// The role of a piece of text, which determines its colour (of 16, independent of the theme).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Ink {
    #[default]
    Plain,
    Dim,
    Bold,
    Accent,
    Good,
    Bad,
    Warm,
    Cool,
}

impl Ink {
    fn style(self) -> anstyle::Style {
        use anstyle::{AnsiColor, Style};
        match self {
            Self::Plain => Style::new(),
            Self::Dim => Style::new().dimmed(),
            Self::Bold => Style::new().bold(),
            Self::Accent => AnsiColor::Cyan.on_default(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Warm => AnsiColor::Yellow.on_default(),
            Self::Cool => AnsiColor::Blue.on_default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    ink: Ink,
    text: String,
}

/// One row of the terminal. It never has a control character, so neither a prompt nor a command's output can
/// move the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Line(Vec<Span>);

impl Line {
    pub(super) fn blank() -> Self {
        Self::default()
    }

    pub(super) fn new(ink: Ink, text: &str) -> Self {
        Self::blank().and(ink, text)
    }

    pub(super) fn plain(text: &str) -> Self {
        Self::new(Ink::Plain, text)
    }

    /// The line with more text at its end.
    pub(super) fn and(mut self, ink: Ink, text: &str) -> Self {
        let text = printable_line(&expand_tabs(text));
        if !text.is_empty() {
            self.0.push(Span { ink, text });
        }
        self
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }

    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|span| width_of(&span.text)).sum()
    }

    /// The bytes for a terminal, with or without colours.
    pub(super) fn render(&self, colour: Colour, out: &mut String) {
        for span in &self.0 {
            match colour {
                Colour::On if span.ink != Ink::Plain => {
                    let style = span.ink.style();
                    out.push_str(&style.render().to_string());
                    out.push_str(&span.text);
                    out.push_str(&style.render_reset().to_string());
                }
                Colour::On | Colour::Off => out.push_str(&span.text),
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    On,
    Off,
}

/// The width of the text in columns. Characters are counted one by one: terminals disagree on joined emoji.
/// Too many columns only wrap early; too few would corrupt the screen.
pub(super) fn width_of(text: &str) -> usize {
    text.chars()
        .map(|character| character.width().unwrap_or(1))
        .sum()
}

/// The text in rows of at most `columns`, broken between words where that is possible.
pub(super) fn wrap(text: &str, columns: usize) -> impl Iterator<Item = String> {
    let columns = columns.max(2);
    text.split('\n')
        .flat_map(move |paragraph| wrap_paragraph(&expand_tabs(paragraph), columns))
}

fn wrap_paragraph(paragraph: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut used = 0;
    for word in paragraph.split_inclusive(' ') {
        if used > 0 && used + width_of(word.trim_end()) > columns {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        for character in word.chars() {
            let width = character.width().unwrap_or(1);
            // A blank after a word may be cut at the edge; anything else starts a new row.
            if used + width > columns {
                if character == ' ' {
                    continue;
                }
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push(character);
            used += width;
        }
    }
    rows.push(row);
    rows
}

/// The text cut to the columns, with `…` where it was cut.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width_of(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += character.width().unwrap_or(1);
        if used >= columns {
            break;
        }
        kept.push(character);
    }
    kept.push('…');
    kept
}

/// Text after a mark: `● first row`, with the rows below indented by the width of the mark.
pub(super) fn block(mark: (Ink, &str), ink: Ink, text: &str, columns: usize) -> Vec<Line> {
    let indent = " ".repeat(width_of(mark.1));
    wrap(text, columns.saturating_sub(indent.len() + 1))
        .enumerate()
        .map(|(index, row)| {
            let lead = if index == 0 {
                Line::new(mark.0, mark.1)
            } else {
                Line::plain(&indent)
            };
            lead.and(ink, &row)
        })
        .collect()
}

/// As [`block`], but at most `rows` rows, and then how much more there was.
pub(super) fn short_block(
    mark: (Ink, &str),
    ink: Ink,
    text: &str,
    columns: usize,
    rows: usize,
) -> Vec<Line> {
    // Only the start of a long text is laid out.
    let head: String = text.chars().take(columns * (rows + 1)).collect();
    let mut lines = block(mark, ink, &head, columns);
    if lines.len() <= rows && head.len() == text.len() {
        return lines;
    }
    lines.truncate(rows);
    let below = text.split('\n').count().saturating_sub(rows);
    let rest = if below > 0 {
        format!("… +{below} lines")
    } else {
        format!("… {} characters in all", text.chars().count())
    };
    lines.push(Line::plain(&" ".repeat(width_of(mark.1))).and(Ink::Dim, &rest));
    lines
}

fn expand_tabs(text: &str) -> String {
    text.replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(text: &str, columns: usize) -> Vec<String> {
        wrap(text, columns).collect()
    }

    #[test]
    fn rows_break_between_words_and_long_words_break_anywhere() {
        assert_eq!(rows("one two three", 8), ["one two ", "three"]);
        assert_eq!(rows("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(rows("日本語日本語", 5), ["日本", "語日", "本語"]);
        assert_eq!(rows("a\n\nb", 10), ["a", "", "b"]);
        assert_eq!(rows("", 10), [""]);
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let line = Line::plain("a\x1b[2Jb\x07\r\n\u{9b}31m");
        let mut out = String::new();
        line.render(Colour::On, &mut out);
        assert!(!out.chars().any(char::is_control), "{out:?}");
    }

    #[test]
    fn a_short_block_says_what_it_left_out() {
        let text = (1..=20)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join("\n");
        let lines = short_block((Ink::Dim, "❯ "), Ink::Plain, &text, 40, 3);
        let texts: Vec<_> = lines.iter().map(Line::text).collect();
        assert_eq!(texts, ["❯ 1", "  2", "  3", "  … +17 lines"]);
        let lines = short_block((Ink::Dim, "❯ "), Ink::Plain, &"x".repeat(5000), 40, 2);
        assert_eq!(lines[2].text(), "  … 5000 characters in all");
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide(text in "\\PC{0,200}", columns in 2usize..60) {
            for row in wrap(&text, columns) {
                prop_assert!(width_of(&row) <= columns);
            }
        }

        #[test]
        fn nothing_but_blanks_is_lost(text in "[a-z 日\n]{0,200}", columns in 2usize..60) {
            let joined: String = wrap(&text, columns).collect();
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(bare(&joined), bare(&text));
        }
    }
}
