//! Actions that change only what is shown.

use super::upkeep;
use crate::tui::layout::areas;
use crate::tui::message::UiRequest;
use crate::tui::state::{State, Tab};

/// Columns of one step sideways.
const SIDEWAYS: usize = 16;
const FARTHEST: usize = 4_000;

pub(super) fn mark(state: &mut State) {
    let Some(id) = state.current().map(|view| view.id.clone()) else {
        return;
    };
    if !state.marks.remove(&id) {
        state.marks.insert(id);
    }
    upkeep::step(state, 1);
}

pub(super) fn turn_tab(state: &mut State, by: usize) {
    let at = Tab::ALL
        .iter()
        .position(|tab| *tab == state.tab)
        .unwrap_or(0);
    if let Some(tab) = Tab::ALL.get((at + by) % Tab::ALL.len()) {
        select_tab(state, *tab);
    }
}

pub(super) fn select_tab(state: &mut State, tab: Tab) {
    if state.tab != tab {
        state.tab = tab;
        state.scroll = 0;
        state.shift = 0;
    }
}

/// Up is back in time in a preview and a conversation, and towards the top in other tabs.
pub(super) fn scroll(state: &mut State, up: bool, by: usize) {
    let from_end = matches!(state.tab, Tab::Preview | Tab::Conversation | Tab::Shell);
    state.scroll = if up == from_end {
        state.scroll.saturating_add(by)
    } else {
        state.scroll.saturating_sub(by)
    };
}

pub(super) fn page_height(state: &State) -> usize {
    let areas = areas(state.columns, state.rows, state.list_rows().len());
    usize::from(areas.page.height.saturating_sub(1)).max(1)
}

pub(super) fn file(state: &mut State, forward: bool) {
    if state.tab != Tab::Diff {
        select_tab(state, Tab::Diff);
        return;
    }
    let Some((_, page)) = &state.page.diff else {
        return;
    };
    let at = state.review.unwrap_or(state.scroll);
    let current = page.file_at(at).unwrap_or(0);
    let row = |file: usize| {
        page.patch
            .files
            .get(file)
            .map(|file| page.row_of(file.line))
    };
    let wanted = match forward {
        true => (current + 1).min(page.patch.files.len().saturating_sub(1)),
        // Within a file, back goes to its start.
        false if row(current).is_some_and(|row| row < at) => current,
        false => current.saturating_sub(1),
    };
    if let Some(row) = row(wanted) {
        go_to_row(state, row);
    }
}

pub(super) fn go_to_row(state: &mut State, row: usize) {
    state.scroll = row;
    state.review = state.review.map(|_| row);
}

/// Scrolls the diff sideways; a wrapped one has nothing there.
pub(super) fn scroll_sideways(state: &mut State, right: bool) {
    state.wrap = false;
    state.shift = match right {
        true => state.shift.saturating_add(SIDEWAYS).min(FARTHEST),
        false => state.shift.saturating_sub(SIDEWAYS),
    };
}

pub(super) fn turn_wrap(state: &mut State) {
    state.wrap = !state.wrap;
    state.shift = 0;
}

/// Side by side or below each other, whatever the width would give.
pub(super) fn turn_side(state: &mut State) {
    let shape = state.page.diff.as_ref().and_then(|(_, page)| page.shape());
    state.side_by_side = Some(!shape.is_some_and(|shape| shape.side_by_side));
}

/// Shows the killed instances instead of the others, or the others again.
pub(super) fn turn_killed(state: &mut State, requests: &mut Vec<UiRequest>) {
    state.showing_killed = !state.showing_killed;
    state.instances.clear();
    state.marks.clear();
    state.loaded = false;
    requests.push(UiRequest::ShowKilled(state.showing_killed));
}

/// Cycles through all repositories and each single one.
pub(super) fn turn_scope(state: &mut State) {
    let repositories: Vec<_> = state
        .repositories()
        .iter()
        .map(|path| path.to_path_buf())
        .collect();
    let next = match &state.scope {
        None => state
            .current()
            .map(|view| view.repo.clone())
            .or_else(|| repositories.first().cloned()),
        Some(scope) => {
            let at = repositories.iter().position(|path| path == scope);
            at.and_then(|at| repositories.get(at + 1).cloned())
        }
    };
    state.scope = next;
}
