//! The mouse: a click selects a row or a tab, the wheel scrolls what is under it.

use ratatui::layout::{Position, Rect};

use super::{looking, upkeep};
use crate::tui::dialog::Dialog;
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::layout::areas;
use crate::tui::message::UiRequest;
use crate::tui::state::{ListRow, State, Tab};
use crate::tui::view::{diff_places, first_file, tab_at};

pub(super) fn mouse(state: &mut State, mouse: Mouse, _calls: &mut Vec<UiRequest>) {
    let at = Position::new(mouse.column, mouse.row);
    if let Some(dialog) = &mut state.dialog {
        if let Dialog::Help { scroll } = dialog {
            match mouse.kind {
                MouseKind::WheelUp => *scroll = scroll.saturating_sub(2),
                MouseKind::WheelDown => *scroll += 2,
                MouseKind::Press => state.dialog = None,
            }
        }
        return;
    }
    let areas = areas(state.columns, state.rows, state.list_rows().len());
    match mouse.kind {
        MouseKind::Press if areas.list.contains(at) => {
            let row = state.top + usize::from((mouse.row - areas.list.y) / areas.row_height.max(1));
            let id = match state.list_rows().get(row) {
                Some(ListRow::Instance(view)) => Some(view.id.clone()),
                Some(ListRow::Repository(_) | ListRow::Host(_) | ListRow::Making(_)) | None => None,
            };
            if let Some(id) = id {
                upkeep::select(state, id);
            }
        }
        MouseKind::Press if areas.tabs.contains(at) => {
            if let Some(tab) = tab_at(mouse.column - areas.tabs.x, areas.tabs.width) {
                looking::select_tab(state, tab);
            }
        }
        MouseKind::Press if areas.page.contains(at) && state.tab == Tab::Diff => {
            click_diff(state, at, areas.page);
        }
        MouseKind::Press => state.toasts.retain(|toast| toast.until.is_none()),
        MouseKind::WheelUp if areas.page.contains(at) => looking::scroll(state, true, 3),
        MouseKind::WheelDown if areas.page.contains(at) => looking::scroll(state, false, 3),
        MouseKind::WheelUp => upkeep::step(state, -1),
        MouseKind::WheelDown => upkeep::step(state, 1),
    }
}

/// A click on a file goes to it, one on a line chooses it for a comment.
fn click_diff(state: &mut State, at: Position, area: Rect) {
    let Some((id, page)) = &state.page.diff else {
        return;
    };
    if state.selected.as_ref() != Some(id) || page.patch.files.is_empty() {
        return;
    }
    let files = page.patch.files.len();
    let (above, below) = diff_places(area, files);
    if above.contains(at) {
        let shown = state.review.unwrap_or(state.scroll);
        let current = page.file_at(shown).unwrap_or(0);
        let file = first_file(above, files, current) + usize::from(at.y - above.y);
        let last = at.y + 1 == above.bottom();
        if let Some(file) = page.patch.files.get(file).filter(|_| !last) {
            let row = page.row_of(file.line);
            looking::go_to_row(state, row);
        }
        return;
    }
    let row = state.scroll + usize::from(at.y.saturating_sub(below.y));
    if row < page.rows.len() {
        state.review = Some(row);
    }
}
