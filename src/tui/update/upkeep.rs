//! Restores the invariants after every message: a visible instance is selected, and the content of its tab is
//! requested.

use std::time::Duration;

use crate::model::InstanceId;
use crate::tui::diff::Shape;
use crate::tui::fleet::host_of;
use crate::tui::layout::areas;
use crate::tui::message::{PageKind, Pane, UiRequest};
use crate::tui::state::{ListRow, State, StatusKind, Tab, ToastKind, kind};

/// How often the content of the visible tab is read, whatever was reported: an edit by the user is not.
const AGAIN: Duration = Duration::from_secs(1);
/// Reading takes at most this part of the time.
const SHARE: u32 = 15;
/// What was saved and what has ended do not change by themselves.
const AT_REST: Duration = Duration::from_secs(10);
/// From this width on, both versions of a line stand side by side.
const SIDE_BY_SIDE: u16 = 140;

pub(super) fn upkeep(state: &mut State, requests: &mut Vec<UiRequest>) {
    if state.dialog.is_none() && !state.refused.is_empty() {
        state.dialog = Some(state.refused.remove(0));
    }
    keep_selection(state);
    keep_on_screen(state);
    arrange(state);
    if state.tab == Tab::Conversation {
        let areas = areas(state.columns, state.rows, state.list_rows().len());
        crate::tui::view::arrange_conversation(state, areas.page.width);
        seek(state, usize::from(areas.page.height));
    }
    limit_scroll(state);
    watch(state, requests);
    read(state, requests);
}

/// Goes to the place in the conversation that was asked for, once it is there.
fn seek(state: &mut State, height: usize) {
    let Some(seek) = &state.seek else { return };
    if state.selected.as_ref() != Some(&seek.id) {
        if state.loaded {
            state.seek = None;
        }
        return;
    }
    let Some((id, page)) = &state.page.conversation else {
        return;
    };
    if *id != seek.id {
        return;
    }
    let at = page.entries.iter().position(|it| it.timestamp == seek.at);
    if let Some(start) = at.and_then(|at| page.starts.get(at)) {
        // A line of what was said before it is seen too.
        state.scroll = (page.lines.len() + 1).saturating_sub(start + height);
    }
    state.seek = None;
}

/// Moves the selection among the visible instances.
pub(super) fn step(state: &mut State, by: isize) {
    let visible = state.visible();
    let last = visible.len().saturating_sub(1);
    let at = visible
        .iter()
        .position(|view| Some(&view.id) == state.selected.as_ref())
        .unwrap_or(0);
    let wanted = at.saturating_add_signed(by).min(last);
    if let Some(id) = visible.get(wanted).map(|view| view.id.clone()) {
        select(state, id);
    }
}

/// Selects the next instance below that needs the user; from the last one, the first.
pub(super) fn next_that_needs_you(state: &mut State) {
    let visible = state.visible();
    let at = visible
        .iter()
        .position(|view| Some(&view.id) == state.selected.as_ref())
        .unwrap_or(0);
    let (above, below) = visible.split_at((at + 1).min(visible.len()));
    let next = below
        .iter()
        .chain(above)
        .find(|view| kind(state.shown(view)) == StatusKind::NeedsYou)
        .map(|view| view.id.clone());
    match next {
        Some(id) => select(state, id),
        None => state.toast(ToastKind::Note, "None needs you.".to_owned()),
    }
}

pub(super) fn select(state: &mut State, id: InstanceId) {
    if state.selected.as_ref() != Some(&id) {
        state.selected = Some(id);
        state.scroll = 0;
    }
}

/// Selects a neighbour of an instance that is gone or filtered out.
fn keep_selection(state: &mut State) {
    let visible = state.visible();
    let at = visible
        .iter()
        .position(|view| Some(&view.id) == state.selected.as_ref());
    match at {
        Some(at) => state.position = at,
        None => {
            // While a list is awaited, what is to be selected in it is kept.
            if !state.loaded && state.seek.is_some() {
                return;
            }
            let nearest = state.position.min(visible.len().saturating_sub(1));
            let id = visible.get(nearest).map(|view| view.id.clone());
            if state.selected != id {
                state.selected = id;
                state.scroll = 0;
            }
        }
    }
}

fn keep_on_screen(state: &mut State) {
    let rows = state.list_rows();
    let areas = areas(state.columns, state.rows, rows.len());
    let height = usize::from(areas.list.height / areas.row_height.max(1)).max(1);
    let at = rows.iter().position(
        |row| matches!(row, ListRow::Instance(view) if Some(&view.id) == state.selected.as_ref()),
    );
    let count = rows.len();
    let mut top = state.top.min(count.saturating_sub(height));
    if let Some(at) = at {
        // The heading above the first instance is shown too.
        let from = if at == 1 { 0 } else { at };
        top = top.min(from).max((at + 1).saturating_sub(height));
    }
    state.top = top;
}

/// Limits scrolling to the content.
fn limit_scroll(state: &mut State) {
    let Some(id) = state.selected.as_ref() else {
        state.scroll = 0;
        return;
    };
    let end = match state.tab {
        // The number of lines depends on the width: the view knows it.
        Tab::Preview | Tab::Conversation | Tab::Shell => usize::MAX,
        Tab::Diff => state
            .page
            .diff
            .as_ref()
            .filter(|(of, _)| of == id)
            .map_or(0, |(_, page)| page.rows.len().saturating_sub(1)),
        Tab::Runs => state
            .page
            .runs
            .as_ref()
            .map_or(0, |(_, history)| history.runs.len().saturating_sub(1)),
    };
    let kept = crate::tui::view::scroll_limit(state).unwrap_or(end);
    state.scroll = state.scroll.min(kept);
}

/// Arranges the rows of the diff for the size of the screen, and keeps the cursor on it.
fn arrange(state: &mut State) {
    if state.tab != Tab::Diff {
        state.review = None;
        return;
    }
    let areas = areas(state.columns, state.rows, state.list_rows().len());
    let shape = Shape {
        width: usize::from(areas.page.width),
        wrap: state.wrap,
        side_by_side: state
            .side_by_side
            .unwrap_or(areas.page.width >= SIDE_BY_SIDE),
    };
    let Some((id, page)) = &mut state.page.diff else {
        state.review = None;
        return;
    };
    let first = page.line_of(state.scroll);
    if page.arrange(shape)
        && let Some(first) = first
    {
        state.scroll = page.row_of(first);
    }
    let current = state.selected.as_ref() == Some(id);
    if !current || page.rows.is_empty() {
        state.review = None;
        return;
    }
    if let Some(line) = state.seek_line.take() {
        state.review = state.review.map(|_| page.row_of(line));
    }
    if let Some(row) = &mut state.review {
        *row = (*row).min(page.rows.len() - 1);
        let (_, below) = crate::tui::view::diff_places(areas.page, page.patch.files.len());
        let height = usize::from(below.height).max(1);
        state.scroll = state
            .scroll
            .min(*row)
            .max((*row + 1).saturating_sub(height));
    }
}

/// Requests the screen of the selected instance with its history.
fn watch(state: &mut State, requests: &mut Vec<UiRequest>) {
    let pane = state.tab.pane();
    let host = state.current().and_then(host_of);
    // A host shows the screens of its agents only.
    let shown = pane.filter(|pane| host.is_none() || *pane == Pane::Agent);
    let id = state.selected.clone().filter(|_| shown.is_some());
    let wanted = (id, shown.unwrap_or(Pane::Agent), state.lines_above());
    if state.watched.as_ref() != Some(&wanted) {
        requests.push(UiRequest::Watch {
            host: host.filter(|_| wanted.0.is_some()),
            id: wanted.0.clone(),
            pane: wanted.1,
            above: wanted.2,
        });
        state.watched = Some(wanted);
    }
}

/// Requests the content of the tab if it may have changed.
fn read(state: &mut State, requests: &mut Vec<UiRequest>) {
    let what = match state.tab {
        Tab::Preview | Tab::Shell => return,
        // A killed instance has no worktree to compare.
        Tab::Diff if state.showing_killed => return,
        Tab::Diff => PageKind::Diff,
        Tab::Conversation => PageKind::Conversation,
        Tab::Runs => PageKind::Runs,
    };
    let Some(view) = state.current() else { return };
    let stamp = (
        view.id.clone(),
        state.tab,
        view.last_active_at.max(view.updated_at),
        view.state,
    );
    // A slow host keeps nobody waiting but those who look at it.
    let busy = |of: &InstanceId| *of == view.id || state.host_of(of).is_none();
    if state.reading.as_ref().is_some_and(busy) {
        return;
    }
    if let Some((known, at)) = &state.read
        && (&known.0, known.1) == (&stamp.0, stamp.1)
    {
        // Only files change without a word of the agent.
        let silent = state.tab != Tab::Diff || kind(state.shown(view)).is_at_rest();
        let resting = *known == stamp && silent;
        let least = if resting { AT_REST } else { AGAIN };
        if at.until(state.now) < least.max(state.read_took * SHARE) {
            return;
        }
    }
    let (id, host) = (view.id.clone(), host_of(view));
    state.reading = Some(id.clone());
    state.read = Some((stamp, state.now));
    requests.push(UiRequest::Read { id, host, what });
}
