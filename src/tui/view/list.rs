//! The list of instances.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::paint::{ends, styled};
use super::tabs::queued;
use super::words::{icon, reason, repository_name, shown_state, spinner, style};
use crate::engine::InstanceView;
use crate::model::{DiffStat, State as InstanceState, printable_line};
use crate::tui::state::{Job, ListRow, State, StatusKind};
use crate::tui::text::cut;

/// The heading: the count, the filter and the marks.
pub(super) fn head(state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let theme = &state.theme;
    if area.height == 0 {
        return None;
    }
    let right = match (state.marks.len(), state.daemon) {
        (0, Some(true)) => Line::from(vec![
            styled("•", theme.ready),
            styled(" daemon ", theme.dim),
        ]),
        (0, Some(false)) => Line::from(styled("no daemon ", theme.dim)),
        (0, None) => Line::default(),
        (count, _) => Line::from(styled(format!("{count} marked "), theme.marked)),
    };
    if state.filtering || !state.filter.is_empty() {
        let (rows, (row, column)) = state.filter.rows(usize::from(area.width).saturating_sub(6));
        let text = rows.get(row).cloned().unwrap_or_default();
        let left = Line::from(vec![styled(" / ", theme.accent), Span::raw(text)]);
        ends(left, right, area, buffer);
        let column = area.x + 3 + u16::try_from(column).unwrap_or(0);
        return state
            .filtering
            .then(|| Position::new(column.min(area.right().saturating_sub(1)), area.y));
    }
    let count = state.visible().len();
    let name = if state.showing_killed {
        " killed"
    } else {
        " bivouac"
    };
    let mut left = vec![styled(name, theme.strong)];
    if let Some(scope) = &state.scope {
        left.push(styled(
            format!(" · {}", repository_name(scope)),
            theme.accent,
        ));
    }
    if count > 0 {
        left.push(styled(format!(" · {count}"), theme.dim));
    }
    if !state.unreadable.is_empty() {
        let words = format!(" · {} unreadable", state.unreadable.len());
        left.push(styled(words, theme.failed));
    }
    ends(Line::from(left), right, area, buffer);
    None
}

pub(super) fn rows(state: &State, area: Rect, height: u16, buffer: &mut Buffer) {
    let rows = state.list_rows();
    let mut y = area.y;
    for row in rows.iter().skip(state.top) {
        if y + height > area.bottom() {
            break;
        }
        let place = Rect { y, height, ..area };
        match row {
            ListRow::Repository(path) => {
                let name = cut(&repository_name(path), usize::from(area.width) - 2);
                let line = Line::from(styled(format!(" {name}"), state.theme.dim));
                // With two rows per instance, the heading is in the lower row.
                buffer.set_line(area.x, y + height - 1, &line, area.width);
            }
            ListRow::Instance(view) => instance(state, view, place, buffer),
            ListRow::Making(job) => making(state, job, place, buffer),
        }
        y += height;
    }
    let nothing = match (rows.is_empty(), state.loaded, state.instances.is_empty()) {
        (false, ..) => return,
        (true, false, _) => " …",
        (true, true, true) if state.showing_killed => " none is killed",
        (true, true, true) => " no instances",
        (true, true, false) => " nothing matches",
    };
    if area.height > 0 {
        buffer.set_line(
            area.x,
            area.y,
            &Line::from(styled(nothing, state.theme.dim)),
            area.width,
        );
    }
}

fn instance(state: &State, view: &InstanceView, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let selected = state.selected.as_ref() == Some(&view.id);
    let marked = state.marks.contains(&view.id);
    let (kind, words) = shown_state(state, view);
    let bar = match (selected, marked) {
        (true, _) => styled("▌", theme.accent),
        (false, true) => styled("+", theme.marked),
        (false, false) => Span::raw(" "),
    };
    let title_style = match (selected, marked) {
        (true, _) => theme.selected,
        (false, true) => theme.marked,
        (false, false) => theme.text,
    };
    let words_width = words.width() + 1;
    let room = usize::from(area.width).saturating_sub(words_width + 4);
    let mark = if marked && selected { "+" } else { " " };
    let left = Line::from(vec![
        bar,
        // The text of a paused or interrupted instance has its own icon.
        styled(
            if matches!(kind, StatusKind::Paused | StatusKind::Interrupted) {
                " "
            } else {
                icon(state, kind)
            },
            style(state, kind),
        ),
        styled(mark, theme.marked),
        styled(cut(&view.title.to_string(), room), title_style),
    ]);
    let right = Line::from(styled(format!("{words} "), style(state, kind)));
    ends(left, right, Rect { height: 1, ..area }, buffer);
    if area.height < 2 {
        return;
    }
    let below = Rect {
        y: area.y + 1,
        height: 1,
        ..area
    };
    let bar = if selected {
        styled("▌", theme.accent)
    } else {
        Span::raw(" ")
    };
    let detail = match state.job_of(&view.id).filter(|job| !job.step.is_empty()) {
        Some(job) => job.step.clone(),
        None if view.asks.is_some() => asked(view),
        None => telling(state, view),
    };
    let detail_style = if view.asks.is_some() {
        theme.needs_you
    } else {
        theme.dim
    };
    let mut right = Vec::new();
    match (
        view.autoyes && view.state == InstanceState::Running,
        state.daemon,
    ) {
        (true, Some(false)) => right.push(styled("autoyes: no daemon ", theme.failed)),
        (true, _) => right.push(styled("autoyes ", theme.autoyes)),
        (false, _) => {}
    }
    if view.pause.is_some() && kind == StatusKind::Paused {
        right.push(styled(format!("{} ", reason(view)), theme.dim));
    }
    right.extend(difference(state, view.diff));
    let right_width: usize = right.iter().map(Span::width).sum();
    let room = usize::from(area.width).saturating_sub(right_width + 4);
    let left = Line::from(vec![
        bar,
        Span::raw("  "),
        styled(cut(&detail, room), detail_style),
    ]);
    ends(left, Line::from(right), below, buffer);
}

/// What an instance is about: its queue, what it said last, or at least its branch.
fn telling(state: &State, view: &InstanceView) -> String {
    if let Some(queue) = view.queue.filter(|queue| queue.is_open()) {
        return queued(queue);
    }
    if let Some(words) = state.words.get(&view.id) {
        return words.clone();
    }
    let branch = view.branch.as_deref();
    branch.map_or_else(|| "detached".to_owned(), printable_line)
}

fn asked(view: &InstanceView) -> String {
    let text = view.asks.as_ref().map_or("", |asks| asks.text.as_str());
    format!("asks: {text}")
}

/// Added and removed lines; empty where there are none.
pub(super) fn difference(state: &State, diff: Option<DiffStat>) -> Vec<Span<'static>> {
    match diff {
        Some(DiffStat {
            files,
            added,
            removed,
        }) if files + added + removed > 0 => vec![
            styled(format!("+{added}"), state.theme.added),
            styled(format!(" −{removed} "), state.theme.removed),
        ],
        Some(_) | None => Vec::new(),
    }
}

fn making(state: &State, job: &Job, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let left = Line::from(vec![
        Span::raw(" "),
        styled(spinner(state), theme.busy),
        Span::raw(" "),
        styled(crate::model::printable_line(&job.title), theme.text),
    ]);
    let right = Line::from(styled("CREATING… ", theme.busy));
    ends(left, right, Rect { height: 1, ..area }, buffer);
    if area.height > 1 {
        let line = Line::from(styled(format!("   {}", job.step), theme.dim));
        buffer.set_line(area.x, area.y + 1, &line, area.width);
    }
}
