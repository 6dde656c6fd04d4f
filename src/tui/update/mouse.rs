//! The mouse: a click selects a row or a tab, the wheel scrolls what is under it.

use ratatui::layout::Position;

use super::{looking, upkeep};
use crate::tui::dialog::Dialog;
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::layout::areas;
use crate::tui::message::UiRequest;
use crate::tui::state::{ListRow, State};
use crate::tui::view::tab_at;

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
                Some(ListRow::Repository(_) | ListRow::Making(_)) | None => None,
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
        MouseKind::Press => state.toasts.retain(|toast| toast.until.is_none()),
        MouseKind::WheelUp if areas.page.contains(at) => looking::scroll(state, true, 3),
        MouseKind::WheelDown if areas.page.contains(at) => looking::scroll(state, false, 3),
        MouseKind::WheelUp => upkeep::step(state, -1),
        MouseKind::WheelDown => upkeep::step(state, 1),
    }
}
