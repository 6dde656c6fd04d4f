//! The status bar: the number of instances of each kind, running jobs, and key hints.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::diff::review_keys;
use super::paint::{ends, hints, line_width, styled};
use super::words::{icon, spinner, style};
use crate::model::{Activity, State as InstanceState, printable_line, told_usage};
use crate::tui::dialog::Dialog;
use crate::tui::keys::Action;
use crate::tui::state::{State, StatusKind, Verb};
use crate::tui::text::{columns, cut};
use crate::tui::theme::Theme;

/// A shorter text about a running job is not shown.
const SHORTEST: usize = 12;
/// So many hints are worth shorter counts.
const ENOUGH: usize = 4;

pub(super) fn status(state: &State, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let theme = &state.theme;
    let mut left = counts(state, true);
    let right = if let Some(keys) = popup_keys(state) {
        fitting(theme, keys, width.saturating_sub(2))
    } else if let Some(job) = state.jobs.last() {
        let more = match state.jobs.len() {
            1 => String::new(),
            count => format!(" (+{})", count - 1),
        };
        let step = if job.step.is_empty() {
            String::new()
        } else {
            format!(": {}", job.step)
        };
        // One for all instances has no title.
        let what = format!("{} {}", job.verb.words(), printable_line(&job.title));
        let words = format!("{} {}{step}{more} ", spinner(state), what.trim_end());
        with_keys(state, &words, width)
    } else if !state.pending.is_empty() {
        let keys: Vec<String> = state.pending.iter().map(ToString::to_string).collect();
        Line::from(styled(format!("{} … ", keys.join(" ")), theme.accent))
    } else {
        // Where few hints would be left, the counts are shortened.
        let keys = pairs(state);
        let full = fitting(
            theme,
            keys.clone(),
            width.saturating_sub(line_width(&left) + 2),
        );
        let wanted = line_width(&hints(theme, &keys[..keys.len().min(ENOUGH)]));
        if line_width(&full) < wanted {
            left = counts(state, false);
            fitting(theme, keys, width.saturating_sub(line_width(&left) + 2))
        } else {
            full
        }
    };
    if line_width(&left) + line_width(&right) + 1 > width {
        left = counts(state, false);
    }
    let used = used_today(state);
    if line_width(&left) + columns(&used) + line_width(&right) + 3 <= width {
        left.spans.push(styled(used, theme.dim));
    }
    if line_width(&left) + line_width(&right) + 1 > width && popup_keys(state).is_some() {
        left = Line::default();
    }
    if line_width(&left) + line_width(&right) + 1 > width
        && !state.instances.is_empty()
        && state.jobs.is_empty()
    {
        ends(left, Line::default(), area, buffer);
    } else {
        ends(left, right, area, buffer);
    }
}

/// As many hints as fit. The last two and the first have priority.
fn fitting(theme: &Theme, mut pairs: Vec<(String, &str)>, room: usize) -> Line<'static> {
    loop {
        let mut line = hints(theme, &pairs);
        line.spans.push(Span::raw(" "));
        if line_width(&line) <= room || pairs.is_empty() {
            return line;
        }
        let last = pairs.len() - 1;
        pairs.remove(match pairs.len() {
            4.. => last - 2,
            3 => 1,
            _ => 0,
        });
    }
}

/// In the filter, where every letter is typed.
const FILTER_KEYS: &[(&str, &str)] = &[
    ("enter", "keep the filter"),
    ("↑↓", "choose"),
    ("esc", "show all"),
];

/// The keys of an open popup or of the filter, which are the only ones that mean something.
fn popup_keys(state: &State) -> Option<Vec<(String, &'static str)>> {
    let Some(dialog) = &state.dialog else {
        return state.filtering.then(|| owned(FILTER_KEYS));
    };
    let keys: &[(&str, &'static str)] = match dialog {
        Dialog::Help { .. } => &[("↑↓", "scroll"), ("any other key", "closes")],
        Dialog::Confirm(_) => &[("y", "yes"), ("n", "no"), ("esc", "back")],
        Dialog::New(_) => &[
            ("enter", "start it"),
            ("tab", "next field"),
            ("←→", "choose"),
            ("esc", "back"),
        ],
        Dialog::Send(form) if form.queue.is_some() => &[("enter", "queue it"), ("esc", "back")],
        Dialog::Send(_) => &[
            ("enter", "send"),
            ("alt-enter", "new line"),
            ("esc", "back"),
        ],
        Dialog::Comment(_) => &[
            ("enter", "keep it"),
            ("alt-enter", "new line"),
            ("esc", "back"),
        ],
        Dialog::Rename(_) => &[("enter", "rename"), ("esc", "back")],
        Dialog::Words(_) => &[("enter", "answer"), ("esc", "back")],
        Dialog::Pick(picker) => picker.keys(),
    };
    Some(owned(keys))
}

fn owned(keys: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    let keys = keys.iter();
    keys.map(|(key, what)| ((*key).to_owned(), *what)).collect()
}

/// Running jobs with key hints. The last hints have priority.
fn with_keys(state: &State, words: &str, width: usize) -> Line<'static> {
    let theme = &state.theme;
    let room = width.saturating_sub(line_width(&counts(state, false)) + 2);
    let sending = state.jobs.iter().any(|job| job.verb == Verb::Send);
    let mut pairs = pairs(state);
    let leading = pairs.len().saturating_sub(2);
    if sending {
        pairs.insert(leading, ("esc".to_owned(), "take it back"));
    }
    let told = columns(words);
    let kept = 2 + usize::from(sending);
    while pairs.len() > kept && told + line_width(&hints(theme, &pairs)) + 2 > room {
        pairs.remove(0);
    }
    let keys = hints(theme, &pairs);
    let left = room.saturating_sub(line_width(&keys) + 2);
    if left < SHORTEST {
        return Line::from(styled(cut(words, room.max(width / 2)), theme.busy));
    }
    let mut line = Line::from(styled(cut(words, left), theme.busy));
    line.spans.push(Span::raw(" "));
    line.spans.extend(keys.spans);
    line.spans.push(Span::raw(" "));
    line
}

/// What the agents have used today; empty where none tells it.
fn used_today(state: &State) -> String {
    // Only the killed ones are listed.
    if state.showing_killed {
        return String::new();
    }
    let mut used = state.used_by_killed;
    for listed in state.instances.iter().filter_map(|view| view.usage) {
        used.add(listed.today);
    }
    match used.tokens.total() {
        0 => String::new(),
        _ => format!("  {} today", told_usage(used)),
    }
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
            (StatusKind::NeedsYou, true) if count > 1 => {
                format!("{} {count} need you", icon(state, kind))
            }
            (_, true) => format!("{} {count} {}", icon(state, kind), kind.name()),
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

/// The keys that mean something now, the general ones last.
fn pairs(state: &State) -> Vec<(String, &'static str)> {
    match &state.page.diff {
        Some((_, page)) if state.review.is_some() => {
            let mut keys = vec![("↑↓".to_owned(), "line")];
            keys.extend(review_keys(page));
            keys
        }
        _ => instance_keys(state),
    }
}

fn instance_keys(state: &State) -> Vec<(String, &'static str)> {
    let mut wanted: Vec<(Action, &'static str)> = Vec::new();
    match state.current().map(|view| state.shown(view).0) {
        None if state.showing_killed => wanted.push((Action::Killed, "the others")),
        None => wanted.push((Action::New, "new")),
        Some(InstanceState::Running) if state.current().is_some_and(|view| view.asks.is_some()) => {
            wanted.extend(yes_and_no(state));
            wanted.extend([
                (Action::Attach, "attach"),
                (Action::NextThatNeedsYou, "next"),
            ]);
        }
        Some(InstanceState::Killed) => wanted.extend([
            (Action::Resume, "bring back"),
            (Action::NextTab, "tabs"),
            (Action::Killed, "the others"),
        ]),
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
    let mut pairs: Vec<(String, &str)> = wanted
        .into_iter()
        .filter_map(|(action, what)| Some((state.keymap.hint(action)?, what)))
        .collect();
    let at = match is_question(state) {
        true => 0,
        false => yes_and_no(state).len().min(pairs.len()),
    };
    pairs.splice(at..at, choices(state));
    pairs
}

/// The keys that allow, deny or decline what is asked.
fn yes_and_no(state: &State) -> Vec<(Action, &'static str)> {
    let Some(asks) = state.current().and_then(|view| view.asks.as_ref()) else {
        return Vec::new();
    };
    let question = is_question(state);
    let yes = (asks.takes_yes && !question).then_some((Action::Allow, "allow"));
    let word = if question { "decline" } else { "deny" };
    let no = asks.takes_no.then_some((Action::Deny, word));
    yes.into_iter().chain(no).collect()
}

/// The numbers of the choices, and the one that takes the user's own words.
fn choices(state: &State) -> Vec<(String, &'static str)> {
    let mut keys = Vec::new();
    let Some(asks) = state.current().and_then(|view| view.asks.as_ref()) else {
        return keys;
    };
    let first = asks.numbered_from;
    let last = (first + asks.choices.len()).saturating_sub(1).min(9);
    if last > first {
        keys.push((format!("{first}–{last}"), "choose"));
    }
    let own = asks.own_words.filter(|own| *own <= 9);
    keys.extend(own.map(|own| (own.to_string(), "own words")));
    keys
}

/// A question has choices of its own, and no yes or no.
fn is_question(state: &State) -> bool {
    let activity = state.current().and_then(|view| view.activity);
    activity == Some(Activity::Question)
}
