//! The help: all keys, from the table of actions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{frame, lines, styled};
use crate::tui::keys::TABLE;
use crate::tui::state::State;

const KEYS: usize = 15;

pub(super) fn help(state: &State, scroll: usize, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let mut columns: Vec<Vec<Line<'static>>> = Vec::new();
    for (subject, rows) in TABLE {
        let mut part = vec![Line::from(styled(*subject, theme.strong))];
        for row in *rows {
            let keys = state.keymap.all(row.action);
            if !keys.is_empty() {
                part.push(entry(state, &keys, row.words));
            }
        }
        if *subject == "The rest" {
            part.push(entry(state, "ctrl-c", "pause the selected; again: quit"));
            part.push(entry(state, "ctrl-q", "leave an attached agent"));
            part.push(entry(state, "esc", "back"));
        }
        part.push(Line::default());
        columns.push(part);
    }
    // Two columns where there is room: actions on instances, and navigation.
    let two = area.width >= 100;
    let (left, right) = if two {
        let rest = columns.pop().unwrap_or_default();
        let looking = columns.pop().unwrap_or_default();
        let mut left: Vec<Line<'static>> = columns.concat();
        let mut right = looking;
        right.extend(rest);
        left.pop();
        right.pop();
        (left, right)
    } else {
        (columns.concat(), Vec::new())
    };
    let count = left.len().max(right.len());
    let height = u16::try_from(count + 3).unwrap_or(u16::MAX);
    let width = if two { 100 } else { 56 };
    let inside = frame(theme, "Keys", (width, height), area, buffer);
    let body = Rect {
        height: inside.height.saturating_sub(1),
        ..inside
    };
    let scroll = scroll.min(count.saturating_sub(usize::from(body.height)));
    let half = Rect {
        width: if two { body.width / 2 } else { body.width },
        ..body
    };
    lines(left.into_iter().skip(scroll), half, buffer);
    if two {
        let half = Rect {
            x: half.right(),
            width: body.width - half.width,
            ..body
        };
        lines(right.into_iter().skip(scroll), half, buffer);
    }
    let more = if count > usize::from(body.height) {
        "↑↓ more · "
    } else {
        ""
    };
    let words = format!("{more}any key closes · [keys] in the configuration changes them");
    let line = Line::from(styled(words, theme.dim));
    if inside.height > 1 {
        buffer.set_line(inside.x, inside.bottom() - 1, &line, inside.width);
    }
}

fn entry(state: &State, keys: &str, words: &'static str) -> Line<'static> {
    Line::from(vec![
        styled(format!("  {keys:<KEYS$}"), state.theme.accent),
        Span::raw(words),
    ])
}
