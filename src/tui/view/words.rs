//! States and times as text, the same as on the command line.

use std::path::Path;

use ratatui::style::Style;

use crate::config::brief_duration;
use crate::engine::InstanceView;
use crate::model::{Activity, QueueCounts, State as InstanceState};
use crate::tui::state::{State, StatusKind, kind};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

pub(in crate::tui) fn spinner(state: &State) -> &'static str {
    SPINNER[state.frame % SPINNER.len()]
}

pub(super) fn icon(state: &State, kind: StatusKind) -> &'static str {
    match kind {
        StatusKind::NeedsYou => "◆",
        StatusKind::Busy | StatusKind::Moving => spinner(state),
        StatusKind::Ready => "●",
        StatusKind::Running => "○",
        StatusKind::Paused => "⏸",
        StatusKind::Interrupted => "⚡",
        StatusKind::Failed => "✗",
        StatusKind::Completed => "✓",
        StatusKind::Away => "→",
        StatusKind::Killed => "†",
    }
}

pub(super) fn style(state: &State, kind: StatusKind) -> Style {
    let theme = &state.theme;
    match kind {
        StatusKind::NeedsYou => theme.needs_you,
        StatusKind::Busy | StatusKind::Moving => theme.busy,
        StatusKind::Ready => theme.ready,
        StatusKind::Running => theme.text,
        StatusKind::Paused => theme.paused,
        StatusKind::Interrupted => theme.interrupted,
        StatusKind::Failed => theme.failed,
        StatusKind::Completed | StatusKind::Away | StatusKind::Killed => theme.dim,
    }
}

/// State and activity as one text.
pub(super) fn shown_state(state: &State, view: &InstanceView) -> (StatusKind, String) {
    let shown = state.shown(view);
    let words = match shown {
        (InstanceState::Running, Some(Activity::Blocked)) => match view.blocked_until {
            Some(until) => format!("blocked until {}", until.local_clock(state.now)),
            None => "blocked".to_owned(),
        },
        (InstanceState::Running, Some(Activity::Question)) => "question".to_owned(),
        (InstanceState::Running, Some(Activity::Menu)) => "in a menu".to_owned(),
        (InstanceState::Running, Some(Activity::Idle)) => match &view.background {
            Some(work) => format!("ready · {}", crate::model::printable_line(work)),
            None => "ready".to_owned(),
        },
        (InstanceState::Paused, _) => format!("⏸ PAUSED {}", paused_for(state, view)),
        (InstanceState::Interrupted, _) => view.interruption(state.now),
        (InstanceState::Away, _) => match view.away.as_ref().and_then(|away| away.host.as_ref()) {
            Some(host) => crate::model::printable_line(host),
            None => "away".to_owned(),
        },
        (InstanceState::Pausing, _) => "PAUSING…".to_owned(),
        (InstanceState::Resuming, _) => "RESUMING…".to_owned(),
        (InstanceState::Creating, _) => "CREATING…".to_owned(),
        (InstanceState::Restarting, _) => "RESTARTING…".to_owned(),
        (InstanceState::Killing, _) => "KILLING…".to_owned(),
        (InstanceState::Landing, _) => "LANDING…".to_owned(),
        (InstanceState::Failed, _) => match view.exit_code {
            Some(code) => format!("failed ({code})"),
            None => "failed".to_owned(),
        },
        other => kind(other).name().to_owned(),
    };
    (kind(shown), words)
}

pub(super) fn paused_for(state: &State, view: &InstanceView) -> String {
    let since = view
        .pause
        .as_ref()
        .map_or(view.updated_at, |pause| pause.at);
    brief_duration(since.until(state.now))
}

pub(super) fn reason(view: &InstanceView) -> &'static str {
    view.pause
        .as_ref()
        .map_or("user", |pause| pause.reason.name())
}

pub(super) fn repository_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    crate::model::printable_line(&name.to_string_lossy())
}

/// As it is called on the command line.
pub(super) fn titled(view: &InstanceView) -> String {
    match &view.host {
        Some(host) => format!("{host}:{}", view.title),
        None => view.title.to_string(),
    }
}

/// The progress of a queue, without what there is none of: `queue: turn 2 ✓1 ○2`
pub(super) fn queued(queue: QueueCounts) -> String {
    let turn = queue.done + queue.failed + queue.running.max(1);
    let counts = [
        ("✓", queue.done),
        ("●", queue.running),
        ("○", queue.waiting),
        ("✗", queue.failed),
    ];
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(mark, count)| format!("{mark}{count}"))
        .collect();
    format!("queue: turn {turn} {}", counts.join(" "))
}
