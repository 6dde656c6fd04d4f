//! A popup with a list.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::paint::{ends, frame, lines, styled};
use crate::model::printable_line;
use crate::tui::picker::{Content, PickRow, Picker};
use crate::tui::state::State;
use crate::tui::text::{columns, cut, cut_around, wrap};

const WIDEST: u16 = 100;
const LONGEST: usize = 18;
/// The widest first column.
const LEAD: usize = 22;

pub(super) fn picker(
    state: &State,
    picker: &Picker,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = &state.theme;
    let rows = picker.rows(&state.keymap);
    let typed = u16::from(picker.input.is_some()) * 2;
    let width = area.width.saturating_sub(4).clamp(1, WIDEST);
    let notes = notes(picker);
    let count = rows.len().clamp(1, LONGEST) + usize::from(!notes.is_empty());
    let height = u16::try_from(count + 2).unwrap_or(u16::MAX) + typed;
    let title = cut(
        &printable_line(&picker.title()),
        usize::from(width).saturating_sub(6),
    );
    let inside = frame(theme, &title, (width, height), area, buffer);
    let mut cursor = None;
    if let Some(input) = &picker.input {
        let (text, (row, column)) = input.rows(usize::from(inside.width).saturating_sub(3));
        let text = text.get(row).cloned().unwrap_or_default();
        let line = Line::from(vec![styled("> ", theme.accent), Span::raw(text)]);
        buffer.set_line(inside.x, inside.y, &line, inside.width);
        let column = inside.x + 2 + u16::try_from(column).unwrap_or(0);
        cursor = Some(Position::new(
            column.min(inside.right().saturating_sub(1)),
            inside.y,
        ));
    }
    let foot = u16::from(!notes.is_empty());
    let body = Rect {
        y: inside.y + typed.min(inside.height),
        height: inside.height.saturating_sub(typed + foot),
        ..inside
    };
    if rows.is_empty() {
        let words = wrap(picker.nothing(), usize::from(body.width)).into_iter();
        let words = words.map(|line| Line::from(styled(line, theme.dim)));
        lines(words, body, buffer);
        return cursor;
    }
    let visible = usize::from(body.height).max(1);
    let top = (picker.at + 1).saturating_sub(visible);
    let lead = rows.iter().map(|row| columns(&row.lead)).max().unwrap_or(0);
    let lead = lead.min(LEAD).min(usize::from(body.width) / 3);
    for ((at, row), y) in rows
        .iter()
        .enumerate()
        .skip(top)
        .zip(body.top()..body.bottom())
    {
        let place = Rect {
            y,
            height: 1,
            ..body
        };
        draw_row(state, row, lead, at == picker.at, place, buffer);
    }
    if foot > 0 {
        let line = Line::from(styled(cut(&notes, usize::from(inside.width)), theme.dim));
        buffer.set_line(inside.x, inside.bottom() - 1, &line, inside.width);
    }
    cursor
}

/// What the rows do not say.
fn notes(picker: &Picker) -> String {
    match &picker.content {
        Content::Search {
            found: Some(found), ..
        } if found.left_out > 0 => format!("… and {} older ones", found.left_out),
        Content::Search {
            found: Some(found), ..
        } => found.unreadable.join("; "),
        Content::Queue {
            queue: Some(queue), ..
        } => match (&queue.stopped, &queue.held_by) {
            (Some(reason), _) => format!("stopped: {}", printable_line(reason)),
            (None, Some(reason)) => format!("waits: {}", printable_line(reason)),
            (None, None) => String::new(),
        },
        _ => String::new(),
    }
}

fn draw_row(
    state: &State,
    row: &PickRow,
    lead: usize,
    chosen: bool,
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = &state.theme;
    let width = usize::from(area.width);
    let first = cut(&row.lead, lead);
    let pad = " ".repeat(lead.saturating_sub(columns(&first)) + 2);
    let tail = cut(&row.tail, width / 3);
    let room = width.saturating_sub(lead + columns(&tail) + 5);
    let style = if chosen { theme.selected } else { theme.text };
    let bar = if chosen { "▌" } else { " " };
    let left = Line::from(vec![
        styled(bar, theme.accent),
        styled(first, theme.accent),
        Span::raw(pad),
        styled(cut_around(&row.text, row.before, room), style),
    ]);
    ends(left, Line::from(styled(tail, theme.dim)), area, buffer);
}
