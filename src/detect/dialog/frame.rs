//! Rows without the lines that agents draw around them.

use super::super::screen::{Row, Screen};
use super::spec::Frame;

/// A row of a dialog, with and without its frame.
#[derive(Debug, Clone)]
pub(super) struct Framed<'s> {
    pub row: &'s Row,
    /// Without its frame; the indentation inside it stays.
    pub text: &'s str,
}

impl Framed<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(super) fn indent(&self) -> usize {
        self.text.chars().take_while(|c| c.is_whitespace()).count()
    }

    /// Only a line, drawn to separate: no letter, no digit.
    pub(super) fn is_line(&self) -> bool {
        let text = self.text.trim();
        !text.is_empty()
            && text
                .chars()
                .all(|c| ('\u{2500}'..='\u{259f}').contains(&c) || c == ' ')
    }
}

pub(super) fn rows(screen: &Screen, frame: Frame) -> Vec<Framed<'_>> {
    screen
        .rows()
        .iter()
        .map(|row| Framed {
            row,
            text: strip(row.text(), frame),
        })
        .collect()
}

/// The text inside the frame; rows that are not framed stay as they are.
pub(super) fn strip(text: &str, frame: Frame) -> &str {
    match frame {
        Frame::None => text,
        Frame::Box => text
            .trim()
            .strip_prefix('│')
            .and_then(|inner| inner.strip_suffix('│'))
            .map_or(text, |inner| {
                inner.strip_prefix(' ').unwrap_or(inner).trim_end()
            }),
        Frame::Bar => text.trim_start().strip_prefix('┃').map_or(text, |inner| {
            inner.trim_end().trim_end_matches('┃').trim_end()
        }),
    }
}
