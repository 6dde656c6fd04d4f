//! The status bar: the number of instances of each kind, running jobs, and key hints.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::paint::{ends, hints, styled};
use super::words::{icon, kind_name, spinner, style};
use crate::model::{State as InstanceState, printable_line};
use crate::tui::keys::Action;
use crate::tui::state::{State, StatusKind, Verb};
use crate::tui::text::cut;

/// A shorter text about a running job is not shown.
const SHORTEST: usize = 12;

pub(super) fn status(state: &State, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let theme = &state.theme;
    let mut left = counts(state, true);
    let full = left.width();
    let right = if let Some(job) = state.jobs.last() {
        let more = match state.jobs.len() {
            1 => String::new(),
            count => format!(" (+{})", count - 1),
        };
        let step = if job.step.is_empty() {
            String::new()
        } else {
            format!(": {}", job.step)
        };
        let words = format!(
            "{} {} {}{step}{more} ",
            spinner(state),
            job.verb.words(),
            printable_line(&job.title)
        );
        with_keys(state, &words, width)
    } else if !state.pending.is_empty() {
        let keys: Vec<String> = state.pending.iter().map(ToString::to_string).collect();
        Line::from(styled(format!("{} … ", keys.join(" ")), theme.accent))
    } else {
        // As many hints as fit; the last two have priority.
        let mut pairs = pairs(state);
        loop {
            let mut line = hints(theme, &pairs);
            line.spans.push(Span::raw(" "));
            if line.width() + full + 2 <= width || pairs.len() <= 2 {
                break line;
            }
            pairs.remove(pairs.len() - 3);
        }
    };
    if full + right.width() + 1 > width {
        left = counts(state, false);
    }
    if left.width() + right.width() + 1 > width
        && !state.instances.is_empty()
        && state.jobs.is_empty()
    {
        ends(left, Line::default(), area, buffer);
    } else {
        ends(left, right, area, buffer);
    }
}

/// Running jobs with key hints. The last hints have priority.
fn with_keys(state: &State, words: &str, width: usize) -> Line<'static> {
    let theme = &state.theme;
    let room = width.saturating_sub(counts(state, false).width() + 2);
    let sending = state.jobs.iter().any(|job| job.verb == Verb::Send);
    let mut pairs = pairs(state);
    let leading = pairs.len().saturating_sub(2);
    if sending {
        pairs.insert(leading, ("esc".to_owned(), "take it back"));
    }
    let told = Line::from(words.to_owned()).width();
    let kept = 2 + usize::from(sending);
    while pairs.len() > kept && told + hints(theme, &pairs).width() + 2 > room {
        pairs.remove(0);
    }
    let keys = hints(theme, &pairs);
    let left = room.saturating_sub(keys.width() + 2);
    if left < SHORTEST {
        return Line::from(styled(cut(words, room.max(width / 2)), theme.busy));
    }
    let mut line = Line::from(styled(cut(words, left), theme.busy));
    line.spans.push(Span::raw(" "));
    line.spans.extend(keys.spans);
    line.spans.push(Span::raw(" "));
    line
}

fn counts(state: &State, named: bool) -> Line<'static> {
    let mut spans = vec![Span::raw(" ")];
    if state.camp_paused {
        let words = if named { "⏸ CAMP PAUSED" } else { "⏸ CAMP" };
        spans.push(styled(
            words,
            state.theme.paused.add_modifier(Modifier::BOLD),
        ));
    }
    for (kind, count) in state.counts() {
        if spans.len() > 1 {
            spans.push(Span::raw(if named { "  " } else { " " }));
        }
        let words = match (kind, named) {
            (StatusKind::Paused, true) => format!("⏸ {count} PAUSED"),
            (_, true) => format!("{} {count} {}", icon(state, kind), kind_name(kind)),
            (_, false) => format!("{}{count}", icon(state, kind)),
        };
        spans.push(styled(words, style(state, kind)));
    }
    let pausing = state
        .instances
        .iter()
        .any(|view| state.shown(view).0 == InstanceState::Pausing);
    if pausing && named {
        spans.push(styled("  PAUSING…", state.theme.busy));
    }
    Line::from(spans)
}

/// The keys for the selected instance, the general ones last.
fn pairs(state: &State) -> Vec<(String, &'static str)> {
    let mut wanted: Vec<(Action, &'static str)> = Vec::new();
    match state.current().map(|view| state.shown(view).0) {
        None => wanted.push((Action::New, "new")),
        Some(InstanceState::Running) if state.current().is_some_and(|view| view.asks.is_some()) => {
            wanted.extend([
                (Action::Allow, "allow"),
                (Action::Deny, "deny"),
                (Action::Attach, "attach"),
                (Action::NextThatNeedsYou, "next"),
            ]);
        }
        Some(InstanceState::Running) => wanted.extend([
            (Action::Attach, "attach"),
            (Action::New, "new"),
            (Action::Pause, "pause"),
            (Action::Send, "send"),
            (Action::NextTab, "tabs"),
        ]),
        Some(InstanceState::Pausing) => wanted.push((Action::TogglePause, "take it back")),
        Some(InstanceState::Paused | InstanceState::Interrupted) => wanted.extend([
            (Action::Resume, "resume"),
            (Action::New, "new"),
            (Action::Attach, "resume and attach"),
            (Action::NextTab, "tabs"),
        ]),
        Some(InstanceState::Completed | InstanceState::Failed) => wanted.extend([
            (Action::Resume, "resume"),
            (Action::Restart, "restart"),
            (Action::Kill, "kill"),
            (Action::NextTab, "tabs"),
        ]),
        Some(_) => wanted.push((Action::New, "new")),
    }
    wanted.extend([(Action::Help, "help"), (Action::Quit, "quit")]);
    wanted
        .into_iter()
        .filter_map(|(action, what)| Some((state.keymap.hint(action)?, what)))
        .collect()
}
