//! Rows without the lines that agents draw around them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::row::{Row, is_drawn};
use super::super::screen::Screen;
use super::spec::Frame;

/// A row of a dialog, with and without its border.
#[derive(Debug, Clone)]
pub(super) struct Framed<'s> {
    pub row: &'s Row,
    /// Without its border; the indentation inside it stays.
    pub text: &'s str,
}

impl Framed<'_> {
    /// Without what is to the right of this column. A row that continues across the column stays whole.
    pub(super) fn within(self, edge: usize, frame: Frame) -> Self {
        let text = self.row.text();
        match before(text, edge) {
            Some(inside) => Self {
                row: self.row,
                text: strip(inside, frame),
            },
            None => self,
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(super) fn indent(&self) -> usize {
        self.text.chars().take_while(|c| c.is_whitespace()).count()
    }

    /// A separator line: no letter, no digit.
    pub(super) fn is_line(&self) -> bool {
        is_drawn(self.text)
    }
}

/// The part of a row before this column, if two empty columns follow it.
fn before(text: &str, edge: usize) -> Option<&str> {
    let mut column = 0;
    let (end, _) = text.char_indices().find(|(_, character)| {
        let reached = column >= edge;
        column += character.width().unwrap_or(0);
        reached
    })?;
    let (inside, beyond) = text.split_at(end);
    let apart = inside.width() == edge && beyond.chars().take(2).all(|next| next == ' ');
    apart.then_some(inside)
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

/// The text inside the border. Rows without one stay as they are.
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
