//! The screen, from the state and nothing else.

mod card;
mod code;
mod conversation;
mod diff;
mod forms;
mod help;
mod list;
mod markdown;
mod page;
mod paint;
mod picker;
mod runs;
mod status;
mod tabs;
mod toasts;
mod welcome;
pub(super) mod words;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier};

use super::dialog::Dialog;
use super::layout::areas;
use super::state::{State, Tab};

pub(super) use conversation::arrange as arrange_conversation;
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
    // Toasts are between the page and the bar, so that they never hide what an agent asks.
    let toasts = toasts::height(state, screen);
    let page = Rect {
        height: areas.page.height.saturating_sub(toasts),
        ..areas.page
    };
    page::page(state, page, buffer);
    let above_status = Rect {
        height: screen.height.saturating_sub(1),
        ..screen
    };
    toasts::toasts(state, above_status, buffer);
    if state.dialog.is_some() {
        dim(state, above_status, buffer);
    }
    status::status(state, areas.status, buffer);
    let above_status = Rect {
        height: above_status.height.saturating_sub(toasts),
        ..above_status
    };
    match &state.dialog {
        Some(Dialog::Help { scroll }) => help::help(state, *scroll, above_status, buffer),
        Some(Dialog::Confirm(confirm)) => forms::confirm(state, confirm, above_status, buffer),
        Some(Dialog::New(form)) => cursor = forms::new(state, form, above_status, buffer),
        Some(Dialog::Send(form)) => cursor = forms::send(state, form, above_status, buffer),
        Some(Dialog::Comment(form)) => cursor = forms::comment(state, form, above_status, buffer),
        Some(Dialog::Rename(form)) => cursor = forms::rename(state, form, above_status, buffer),
        Some(Dialog::Words(form)) => cursor = forms::words(state, form, above_status, buffer),
        Some(Dialog::Pick(it)) => cursor = picker::picker(state, it, above_status, buffer),
        None => {}
    }
    cursor
}

/// What is behind a popup stays readable, without colours of its own.
fn dim(state: &State, area: Rect, buffer: &mut Buffer) {
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let cell = &mut buffer[(x, y)];
            cell.modifier = Modifier::empty();
            (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
            cell.set_style(state.theme.dim);
        }
    }
}

/// How far the tab can be scrolled, where that depends on its width.
pub(super) fn scroll_limit(state: &State) -> Option<usize> {
    let areas = areas(state.columns, state.rows, state.list_rows().len());
    let height = usize::from(areas.page.height);
    let lines = match state.tab {
        Tab::Preview | Tab::Shell => page::preview_lines(state, areas.page)?,
        Tab::Conversation => {
            let (id, page) = state.page.conversation.as_ref()?;
            (state.selected.as_ref() == Some(id)).then_some(page.lines.len())?
        }
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
