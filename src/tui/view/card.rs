//! The card of a paused or interrupted instance: since when and why, its last action, its pending tasks.

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::paint::styled;
use super::words::{paused_for, reason};
use crate::engine::{InstanceView, WorkKept};
use crate::model::{State as InstanceState, printable_line};
use crate::tui::keys::Action;
use crate::tui::state::State;
use crate::tui::text::{cut, wrap};

const SHOWN_TASKS: usize = 3;
const LABEL: usize = 13;

pub(super) fn card(state: &State, view: &InstanceView, area: Rect) -> Vec<Line<'static>> {
    let theme = &state.theme;
    let width = usize::from(area.width);
    let room = width.saturating_sub(LABEL).max(10);
    let interrupted = state.shown(view).0 == InstanceState::Interrupted;
    let mut lines = vec![if interrupted {
        Line::from(vec![
            styled(
                view.interruption(state.now),
                theme.interrupted.add_modifier(Modifier::BOLD),
            ),
            styled(" (its tmux server went away)", theme.dim),
        ])
    } else {
        Line::from(vec![
            styled(
                format!("⏸ PAUSED {}", paused_for(state, view)),
                theme.paused.add_modifier(Modifier::BOLD),
            ),
            styled(format!(" ({})", reason(view)), theme.dim),
        ])
    }];
    let mut row = |label: &str, text: Vec<String>| {
        for (at, line) in text.into_iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            lines.push(Line::from(vec![
                styled(format!("{label:<LABEL$}"), theme.dim),
                Span::raw(line),
            ]));
        }
    };
    if interrupted && let Some(at) = view.interrupted_at {
        row("since", vec![at.local_minute()]);
    }
    if let Some(pause) = &view.pause {
        row("since", vec![pause.at.local_minute()]);
        if let Some(action) = &pause.last_action {
            let mut text = wrap(&printable_line(action), room);
            text.truncate(3);
            row("last action", text);
        }
        let tasks = &pause.pending_tasks;
        let mut shown: Vec<String> = tasks
            .iter()
            .take(SHOWN_TASKS)
            .map(|task| cut(&format!("· {}", printable_line(task)), room))
            .collect();
        if tasks.len() > SHOWN_TASKS {
            shown.push(format!("and {} more", tasks.len() - SHOWN_TASKS));
        }
        row("to do", shown);
        if !pause.stopped.is_empty() {
            let mut text = wrap(&printable_line(&pause.stopped.join("; ")), room);
            text.truncate(3);
            row("was stopped", text);
        }
        if let Some(draft) = &pause.draft {
            let mut text = wrap(&printable_line(draft), room);
            text.truncate(3);
            row("draft", text);
        }
        if pause.forced {
            row("note", wrap("stopped in the middle of its turn", room));
        }
    }
    if let Some(diff) = view.diff.filter(|diff| diff.files > 0) {
        let files = if diff.files == 1 { "file" } else { "files" };
        let words = format!(
            "+{} −{} in {} {files}",
            diff.added, diff.removed, diff.files
        );
        row("changes", vec![words]);
    }
    let kept = match view.kept {
        WorkKept::InPlace => "where it was",
        WorkKept::PutAway => "put away, whole",
        WorkKept::SnapshotOnly => "not on the disk; saved in git's objects",
        WorkKept::Gone => "gone, and nothing was saved",
    };
    // A host does not tell where it keeps the files.
    if view.host.is_none() {
        row("worktree", wrap(kept, room));
    }
    if area.height >= 8 {
        let key = |action| state.keymap.hint(action).unwrap_or_default();
        lines.push(Line::from(vec![
            styled(key(Action::Resume), theme.accent),
            styled(" resumes, ", theme.dim),
            styled(key(Action::Attach), theme.accent),
            styled(" resumes and attaches", theme.dim),
        ]));
    }
    lines
}
