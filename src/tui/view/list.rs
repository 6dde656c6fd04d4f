//! The list of instances.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::paint::{ends, styled};
use super::words::{icon, queued, reason, repository_name, shown_state, spinner, style, titled};
use crate::config::brief_duration;
use crate::engine::{HostListing, InstanceView};
use crate::model::{ChecksState, DiffStat, State as InstanceState, printable_line};
use crate::tui::state::{Job, ListRow, State, StatusKind};
use crate::tui::text::{columns, cut};

/// From this age on, the age of a host's answer is shown.
const SLOW: Duration = Duration::from_secs(20);

/// So many columns of a row are for the title and the marks before it, the word `blocked` and the spaces.
const TITLE: usize = 23;
/// A time of this day is no wider: `until 14:30`.
const CLOCK: usize = 11;

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
            ListRow::Host(host) => {
                let place = Rect {
                    y: y + height - 1,
                    height: 1,
                    ..area
                };
                host_heading(state, host, place, buffer);
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
    let (kind, mut words) = shown_state(state, view);
    // The title matters more than the time, which may have a date; the row below has room for it.
    let mut until = words
        .strip_prefix("blocked ")
        .filter(|until| columns(until) + TITLE > usize::from(area.width))
        .map(str::to_owned);
    if until.is_some() {
        words.truncate("blocked".len());
    }
    if area.height < 2
        && let Some(clock) = until.take_if(|until| columns(until) <= CLOCK)
    {
        words = clock;
    }
    let old = state.is_old(view);
    let state_style = if old { theme.dim } else { style(state, kind) };
    if old {
        words.push('?');
    }
    let bar = match (selected, marked) {
        (true, _) => styled("▌", theme.accent),
        (false, true) => styled("+", theme.marked),
        (false, false) => Span::raw(" "),
    };
    let title_style = match (selected, marked) {
        (true, _) => theme.selected,
        (false, true) => theme.marked,
        (false, false) if old => theme.dim,
        (false, false) => theme.text,
    };
    let words_width = columns(&words) + 1;
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
            state_style,
        ),
        styled(mark, theme.marked),
        styled(cut(&titled(view), room), title_style),
    ]);
    let right = Line::from(styled(format!("{words} "), state_style));
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
        None => until.unwrap_or_else(|| telling(state, view)),
    };
    let detail_style = match (view.asks.is_some(), view.turn_failed.is_some()) {
        (true, _) if !old => theme.needs_you,
        (false, true) if !old => theme.failed,
        _ => theme.dim,
    };
    let mut right = Vec::new();
    match (
        view.autoyes && view.state == InstanceState::Running,
        state.daemon.filter(|_| view.host.is_none()),
    ) {
        (true, Some(false)) if view.has_permission_hook() => {
            right.push(styled("autoyes: hook only ", theme.autoyes));
        }
        (true, Some(false)) => right.push(styled("autoyes: no daemon ", theme.failed)),
        (true, _) => right.push(styled("autoyes ", theme.autoyes)),
        (false, _) if view.autoyes_stopped.is_some() => {
            right.push(styled("autoyes stopped ", theme.failed));
        }
        (false, _) => {}
    }
    if view.pause.is_some() && kind == StatusKind::Paused {
        right.push(styled(format!("{} ", reason(view)), theme.dim));
    }
    if let Some(pull) = &view.pull_request {
        let failed = pull.standing.and_then(|it| it.checks) == Some(ChecksState::Failed);
        let style = if failed { theme.failed } else { theme.dim };
        right.push(styled(format!("{} ", pull.brief()), style));
    }
    right.extend(difference(state, view.diff));
    let right_width: usize = right.iter().map(|span| columns(&span.content)).sum();
    let room = usize::from(area.width).saturating_sub(right_width + 4);
    let left = Line::from(vec![
        bar,
        Span::raw("  "),
        styled(cut(&detail, room), detail_style),
    ]);
    ends(left, Line::from(right), below, buffer);
}

/// The name of a host; where it does not answer, or has not for a while, since when.
fn host_heading(state: &State, host: &HostListing, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let age = host.at.map(|at| at.until(state.now));
    // The name is there already: what was heard tells more.
    let error = host
        .error
        .as_deref()
        .map(|error| error.split_once(": ").map_or(error, |(_, heard)| heard));
    let told = match (error, age) {
        (Some(error), Some(age)) => format!(" · as {} ago: {error}", brief_duration(age)),
        (Some(error), None) => format!(" · {error}"),
        (None, Some(age)) if age > SLOW => format!(" · as {} ago", brief_duration(age)),
        (None, Some(_)) => String::new(),
        (None, None) => " · …".to_owned(),
    };
    let down = if host.error.is_some() { " down" } else { "" };
    let used = 1 + columns(host.name.as_str()) + columns(down);
    let told = cut(&told, usize::from(area.width).saturating_sub(used + 1));
    let line = Line::from(vec![
        styled(format!(" {}", host.name), theme.strong),
        styled(down, theme.failed),
        styled(told, theme.dim),
    ]);
    buffer.set_line(area.x, area.y, &line, area.width);
}

/// What an instance is about: what is open in it, a turn that failed or was cut off, its queue, what it said last, or at
/// least its branch.
fn telling(state: &State, view: &InstanceView) -> String {
    if let Some(matter) = view.open_matter() {
        return printable_line(matter);
    }
    if let Some(trouble) = view.turn_trouble() {
        return trouble;
    }
    if let Some(queue) = view.queue.filter(|queue| queue.is_open()) {
        return queued(queue);
    }
    if let Some(words) = state.words.get(&view.id) {
        return words.clone();
    }
    if let Some(line) = view.last_line.as_deref().filter(|_| view.host.is_some()) {
        return printable_line(line);
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
