//! The content of the current tab.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use super::paint::{lines, styled};
use super::{card, conversation, diff, runs, welcome};
use crate::engine::InstanceView;
use crate::model::{State as InstanceState, printable_line};
use crate::tui::keys::Action;
use crate::tui::message::Pane;
use crate::tui::state::{Screen, State, Tab};
use crate::tui::text::{agent_screen, columns, screen, wrap};

pub(super) fn page(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let Some(view) = state.current() else {
        welcome::welcome(state, area, buffer);
        return;
    };
    if let Some((id, tab, trouble)) = &state.page.trouble
        && *id == view.id
        && *tab == state.tab
        && !is_known(state, view)
    {
        let words = wrap(trouble, usize::from(area.width));
        let words = words
            .into_iter()
            .map(|line| Line::from(styled(line, state.theme.failed)));
        lines(words, area, buffer);
        return;
    }
    match state.tab {
        Tab::Preview => preview(state, view, area, buffer),
        Tab::Shell => shell(state, view, area, buffer),
        Tab::Diff if state.showing_killed => {
            let words =
                "A killed instance has no worktree; brought back, it has its changes again.";
            let words = wrap(words, usize::from(area.width)).into_iter();
            let words = words.map(|line| Line::from(styled(line, state.theme.dim)));
            lines(words, area, buffer);
        }
        Tab::Diff => diff::diff(state, view, area, buffer),
        Tab::Conversation => conversation::conversation(state, area, buffer),
        Tab::Runs => runs::runs(state, view, area, buffer),
    }
}

/// Whether a screen of an instance on a host was read before: it stays when the host goes away.
fn is_known(state: &State, view: &InstanceView) -> bool {
    let seen = state.page.screen.as_ref().map(|it| &it.id);
    state.tab == Tab::Preview && state.is_old(view) && seen == Some(&view.id)
}

/// Says that what is shown of an instance is only the last known.
fn host_is_down(state: &State, view: &InstanceView, area: Rect) -> Vec<Line<'static>> {
    let host = view.host.as_deref().and_then(|host| state.host(host));
    let Some(host) = host.filter(|host| !host.reachable) else {
        return Vec::new();
    };
    let error = host.error.as_deref().unwrap_or("it does not answer");
    let words = format!("{}: {error}. This was the last that is known.", host.name);
    let words = wrap(&words, usize::from(area.width)).into_iter();
    words
        .map(|line| Line::from(styled(line, state.theme.failed)))
        .collect()
}

/// The lines above the screen of an agent that does not run.
fn preface(state: &State, view: &InstanceView, area: Rect) -> Vec<Line<'static>> {
    match state.shown(view).0 {
        InstanceState::Paused | InstanceState::Interrupted => card::card(state, view, area),
        InstanceState::Completed | InstanceState::Failed => ended(state, view),
        InstanceState::Pausing
        | InstanceState::Resuming
        | InstanceState::Restarting
        | InstanceState::Killing
        | InstanceState::Landing
        | InstanceState::Creating => under_way(state, view),
        InstanceState::Away => vec![Line::from(styled(
            match view.away.as_ref().and_then(|away| away.host.as_ref()) {
                Some(host) => format!("→ on the host {host}"),
                None => "→ on another machine".to_owned(),
            },
            state.theme.strong,
        ))],
        InstanceState::Killed => vec![Line::from(vec![
            styled("† killed ", state.theme.strong),
            styled(
                state.keymap.hint(Action::Resume).unwrap_or_default(),
                state.theme.accent,
            ),
            styled(" brings it back, paused", state.theme.dim),
        ])],
        InstanceState::Running => autoyes_stopped(state, view, area),
    }
}

/// Why nothing is answered any more.
fn autoyes_stopped(state: &State, view: &InstanceView, area: Rect) -> Vec<Line<'static>> {
    let Some(reason) = view.autoyes_stopped.as_deref().filter(|_| !view.autoyes) else {
        return Vec::new();
    };
    let key = state.keymap.hint(Action::Autoyes).unwrap_or_default();
    let reason = printable_line(reason);
    let words = format!("Autoyes has stopped: {reason}. {key} switches it on again.");
    let words = wrap(&words, usize::from(area.width)).into_iter();
    words
        .map(|line| Line::from(styled(line, state.theme.failed)))
        .collect()
}

fn preview(state: &State, view: &InstanceView, area: Rect, buffer: &mut Buffer) {
    let mut above = host_is_down(state, view, area);
    above.extend(preface(state, view, area));
    let seen = seen(state, view, area);
    let paused = matches!(
        state.shown(view).0,
        InstanceState::Paused | InstanceState::Interrupted
    );
    if state.scroll > 0 {
        above.clear();
    }
    if !above.is_empty() && !seen.is_empty() {
        above.push(Line::default());
        if paused {
            above.push(Line::from(styled("its last screen", state.theme.dim)));
        }
    }
    let taken = u16::try_from(above.len())
        .unwrap_or(u16::MAX)
        .min(area.height);
    let rest = Rect {
        y: area.y + taken,
        height: area.height - taken,
        ..area
    };
    lines(above, area, buffer);
    terminal(state, &seen, rest, buffer);
    if paused {
        buffer.set_style(rest, state.theme.dim.add_modifier(Modifier::DIM));
    }
}

/// The shell in the worktree, or how it is opened.
fn shell(state: &State, view: &InstanceView, area: Rect, buffer: &mut Buffer) {
    let open = state
        .page
        .screen
        .as_ref()
        .is_some_and(|it| it.id == view.id && it.pane == Pane::Shell && it.live);
    if open {
        let seen = seen(state, view, area);
        return terminal(state, &seen, area, buffer);
    }
    let key = state.keymap.hint(Action::Attach).unwrap_or_default();
    let worktree = printable_line(&view.worktree.display().to_string());
    let place = match &view.host {
        Some(host) => format!("in {worktree} on {host}"),
        None => format!("in {worktree}"),
    };
    let words = [
        format!("{key} opens a shell of your own {place}"),
        "The agent does not see it; ctrl-q comes back here, and the shell stays open.".to_owned(),
    ];
    let words = words
        .iter()
        .flat_map(|it| wrap(it, usize::from(area.width)));
    lines(
        words.map(|line| Line::from(styled(line, state.theme.dim))),
        area,
        buffer,
    );
}

/// The lines of a terminal, as far as they are scrolled.
fn terminal(state: &State, seen: &[Line<'static>], area: Rect, buffer: &mut Buffer) {
    // Aligned to the bottom: the newest lines are last.
    let height = usize::from(area.height);
    let end = seen.len().saturating_sub(state.scroll);
    let start = end.saturating_sub(height);
    lines(seen[start..end].iter().cloned(), area, buffer);
    if state.scroll > 0 && area.height > 1 {
        let words = format!(" ↑ {} lines · esc back ", state.scroll);
        let width = u16::try_from(columns(&words)).unwrap_or(0).min(area.width);
        let line = Line::from(styled(
            words,
            state.theme.accent.add_modifier(Modifier::REVERSED),
        ));
        buffer.set_line(area.right() - width, area.y, &line, width);
    }
}

fn seen(state: &State, view: &InstanceView, area: Rect) -> Vec<Line<'static>> {
    match &state.page.screen {
        Some(seen) if seen.id == view.id && state.tab.pane() == Some(seen.pane) => {
            drawn(seen, area, state.theme.coloured)
        }
        Some(_) | None => Vec::new(),
    }
}

/// The number of lines of the selected instance's screen.
pub(super) fn preview_lines(state: &State, area: Rect) -> Option<usize> {
    let view = state.current()?;
    let seen = state.page.screen.as_ref()?;
    // Before the history has arrived, its length is not known.
    let shown = seen.id == view.id && state.tab.pane() == Some(seen.pane);
    if !shown || seen.above < state.lines_above() {
        return None;
    }
    Some(drawn(seen, area, false).len())
}

fn drawn(seen: &Screen, area: Rect, coloured: bool) -> Vec<Line<'static>> {
    let width = usize::from(area.width);
    match seen.pane {
        Pane::Agent => agent_screen(&seen.text, width, coloured),
        Pane::Shell => screen(&seen.text, width, coloured),
    }
}

fn ended(state: &State, view: &InstanceView) -> Vec<Line<'static>> {
    let theme = &state.theme;
    let (kind, _) = super::words::shown_state(state, view);
    let words = match (view.state, view.exit_code) {
        (InstanceState::Completed, _) => "The agent has ended.".to_owned(),
        (_, Some(code)) => format!("The agent ended with exit status {code}."),
        (_, None) => "The agent has failed.".to_owned(),
    };
    let key = |action| state.keymap.hint(action).unwrap_or_default();
    vec![
        Line::from(styled(
            words,
            super::words::style(state, kind).add_modifier(Modifier::BOLD),
        )),
        Line::from(vec![
            styled(key(Action::Resume), theme.accent),
            styled(" goes on where it was, ", theme.dim),
            styled(key(Action::Restart), theme.accent),
            styled(" starts afresh", theme.dim),
        ]),
    ]
}

fn under_way(state: &State, view: &InstanceView) -> Vec<Line<'static>> {
    let theme = &state.theme;
    let (_, words) = super::words::shown_state(state, view);
    let mut line = vec![styled(
        format!("{} {words} ", super::words::spinner(state)),
        theme.busy.add_modifier(Modifier::BOLD),
    )];
    if let Some(job) = state.job_of(&view.id) {
        line.push(styled(job.step.clone(), theme.dim));
    }
    let mut lines = vec![Line::from(line)];
    if state.shown(view).0 == InstanceState::Pausing
        && let Some(key) = state.keymap.hint(Action::TogglePause)
    {
        lines.push(Line::from(vec![
            styled(key, theme.accent),
            styled(" takes it back while it waits for the agent", theme.dim),
        ]));
    }
    lines
}
