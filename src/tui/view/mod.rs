//! The screen, from the state and nothing else.

mod card;
mod code;
mod conversation;
mod diff;
mod forms;
mod help;
mod list;
mod page;
mod paint;
mod runs;
mod status;
mod tabs;
mod toasts;
mod welcome;
pub(super) mod words;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::dialog::Dialog;
use super::layout::areas;
use super::state::{State, Tab};

pub(super) use diff::{diff_places, first_file};
pub(super) use tabs::tab_at;

/// Draws everything; returns the cursor position while something is being typed.
pub(super) fn draw(state: &State, buffer: &mut Buffer) -> Option<Position> {
    let screen = buffer.area;
    if screen.width < 8 || screen.height < 2 {
        return None;
    }
    let areas = areas(screen.width, screen.height, state.list_rows().len());
    let mut cursor = list::head(state, areas.list_head, buffer);
    list::rows(state, areas.list, areas.row_height, buffer);
    rules(state, areas.rule, areas.divider, buffer);
    tabs::tabs(state, areas.tabs, buffer);
    page::page(state, areas.page, buffer);
    status::status(state, areas.status, buffer);
    let above_status = Rect {
        height: screen.height.saturating_sub(1),
        ..screen
    };
    match &state.dialog {
        Some(Dialog::Help { scroll }) => help::help(state, *scroll, screen, buffer),
        Some(Dialog::Confirm(confirm)) => forms::confirm(state, confirm, above_status, buffer),
        Some(Dialog::New(form)) => cursor = forms::new(state, form, above_status, buffer),
        Some(Dialog::Send(form)) => cursor = forms::send(state, form, above_status, buffer),
        Some(Dialog::Comment(form)) => cursor = forms::comment(state, form, above_status, buffer),
        None => {}
    }
    toasts::toasts(state, above_status, buffer);
    cursor
}

/// How far the tab can be scrolled, where that depends on its width.
pub(super) fn scroll_limit(state: &State) -> Option<usize> {
    let areas = areas(state.columns, state.rows, state.list_rows().len());
    let height = usize::from(areas.page.height);
    let lines = match state.tab {
        Tab::Preview => page::preview_lines(state, areas.page)?,
        Tab::Conversation => conversation::lines(state, areas.page.width)?.len(),
        Tab::Diff | Tab::Runs => return None,
    };
    Some(lines.saturating_sub(height))
}

fn rules(state: &State, rule: Rect, divider: Rect, buffer: &mut Buffer) {
    let style = state.theme.line;
    for y in rule.top()..rule.bottom() {
        for x in rule.left()..rule.right() {
            buffer[(x, y)].set_symbol("─").set_style(style);
        }
    }
    for y in divider.top()..divider.bottom() {
        let symbol = if rule.height > 0 && y == rule.y {
            "┼"
        } else {
            "│"
        };
        buffer[(divider.x, y)].set_symbol(symbol).set_style(style);
    }
}
