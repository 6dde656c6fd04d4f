//! States, times and counts as text.

use crate::engine::CampView;
use std::path::Path;
use std::time::Duration;

use super::report::word;
use crate::config::brief_duration;
use crate::engine::InstanceView;
use crate::model::{
    Activity, DiffStat, PauseReason, QueueCounts, State, Timestamp, directory_name, printable_line,
};

const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const RED: &str = "\x1b[31m";
const CYAN: &str = "\x1b[36m";
pub(super) const DIM: &str = "\x1b[2m";
pub(super) const BOLD: &str = "\x1b[1m";
pub(super) const RESET: &str = "\x1b[0m";

/// State and activity as one text.
pub(super) fn shown_state(view: &InstanceView, now: Timestamp) -> String {
    let (color, text) = match (view.state, view.activity) {
        (State::Running, Some(Activity::Busy)) => (CYAN, "busy".to_owned()),
        (State::Running, Some(Activity::Idle)) => (GREEN, ready(view)),
        (State::Running, Some(Activity::Menu)) => (YELLOW, "in a menu".to_owned()),
        (State::Running, Some(Activity::Approval | Activity::Question)) => {
            (YELLOW, "needs you".to_owned())
        }
        (State::Running, Some(Activity::Blocked)) => (YELLOW, blocked(view, now)),
        (State::Running, _) => ("", "running".to_owned()),
        (State::Paused, _) => (DIM, paused(view, now)),
        (State::Pausing, _) => (CYAN, "PAUSING…".to_owned()),
        (State::Resuming, _) => (CYAN, "RESUMING…".to_owned()),
        (State::Interrupted, _) => (YELLOW, view.interruption(now)),
        (State::Away, _) => (DIM, away(view)),
        (State::Failed, _) => (
            RED,
            match view.exit_code {
                Some(code) => format!("failed ({code})"),
                None => "failed".to_owned(),
            },
        ),
        (state, _) => ("", state.name().to_owned()),
    };
    format!("{color}{text}{RESET}")
}

/// Where it is: `→ box`.
fn away(view: &InstanceView) -> String {
    match view.away.as_ref().and_then(|away| away.host.as_ref()) {
        Some(host) => format!("→ {}", printable_line(host)),
        None => "away".to_owned(),
    }
}

/// At rest, and what goes on behind the prompt: `ready · 1 shell`.
fn ready(view: &InstanceView) -> String {
    match &view.background {
        Some(work) => format!("ready · {}", printable_line(work)),
        None => "ready".to_owned(),
    }
}

/// With the time at which its usage limit resets.
fn blocked(view: &InstanceView, now: Timestamp) -> String {
    match view.blocked_until {
        Some(until) => format!("blocked until {}", until.local_clock(now)),
        None => "blocked".to_owned(),
    }
}

/// A mark for a sealed instance, and another one if its seal has refused something.
pub(super) fn seal_mark(view: &InstanceView) -> &'static str {
    match &view.seal {
        None => "",
        Some(seal) if seal.denied > 0 => " ◆!",
        Some(_) => " ◆",
    }
}

fn paused(view: &InstanceView, now: Timestamp) -> String {
    let reason = view
        .pause
        .as_ref()
        .map_or("user", |pause| pause.reason.name());
    let since = view
        .pause
        .as_ref()
        .map_or(view.updated_at, |pause| pause.at);
    format!("⏸ PAUSED {} ({reason})", brief_duration(since.until(now)))
}

/// How the branch stands to its base, as a sentence; empty where there is nothing to say.
pub(super) fn described_standing(view: &InstanceView) -> String {
    let mut parts = Vec::new();
    if let Some(standing) = &view.standing {
        let commits = |number| match number {
            1 => "1 commit".to_owned(),
            number => format!("{number} commits"),
        };
        let base = printable_line(&standing.base);
        if standing.merged {
            parts.push(format!("merged into {base}"));
        }
        if standing.ahead > 0 {
            parts.push(format!("{} ahead of {base}", commits(standing.ahead)));
        }
        if standing.behind > 0 {
            parts.push(format!("{} behind {base}", commits(standing.behind)));
        }
    }
    if view.dirty == Some(true) {
        parts.push("uncommitted work".to_owned());
    }
    parts.join(", ")
}

pub(super) fn shown_diff(diff: Option<DiffStat>) -> String {
    match diff {
        Some(DiffStat {
            added: 0,
            removed: 0,
            files: 0,
        })
        | None => String::new(),
        Some(DiffStat { added, removed, .. }) => {
            format!("{GREEN}+{added}{RESET} {RED}−{removed}{RESET}")
        }
    }
}

/// How many instances reached a state: `Paused 3 instances.`
pub(super) fn counted(done: &str, count: usize) -> String {
    let mut letters = done.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    let word: String = first.into_iter().chain(letters).collect();
    match count {
        1 => format!("{word} 1 instance."),
        _ => format!("{word} {count} instances."),
    }
}

/// Of those that `resume --all` leaves as they are; nothing where there are none.
pub(super) fn left_paused(left: &[&InstanceView]) -> Option<String> {
    let by_timer = |view: &&&InstanceView| {
        let pause = view.pause.as_ref();
        pause.is_some_and(|pause| pause.reason == PauseReason::Idle)
    };
    let by_timer = left.iter().filter(by_timer).count();
    match left {
        [] => None,
        [one] => {
            let why = match by_timer {
                0 => "it was not paused with the others",
                _ => "it was paused by the idle timer",
            };
            let called = called(one);
            Some(format!(
                "`{}` stays paused: {why}; `biv resume {called}` brings it back too.",
                one.title
            ))
        }
        several => {
            let timer = match by_timer {
                0 => String::new(),
                count => format!(" ({count} by the idle timer)"),
            };
            Some(format!(
                "{} instances stay paused: they were not paused with the others{timer}; \
                 `biv resume --state paused` brings back those too.",
                several.len()
            ))
        }
    }
}

/// `1 done, 1 failed, 1 under way, 2 waiting`, without what there is none of.
pub(super) fn shown_queue(counts: QueueCounts) -> String {
    let failed = format!("{RED}failed{RESET}");
    let parts = [
        (counts.done, "done"),
        (counts.failed, failed.as_str()),
        (counts.running, "under way"),
        (counts.waiting, "waiting"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    parts.join(", ")
}

pub(super) fn ago(at: Timestamp, now: Timestamp) -> String {
    let passed = at.until(now);
    if passed < Duration::from_secs(5) {
        "now".to_owned()
    } else {
        format!("{} ago", brief_duration(passed))
    }
}

/// The instance as a shell word: its title, or its id where the title cannot be typed as it is shown or would
/// be read as an option.
pub(super) fn called(view: &InstanceView) -> String {
    let title = &view.title;
    if title.to_string() == title.as_str() && !title.as_str().starts_with('-') {
        word(title)
    } else {
        match view.host.as_deref() {
            Some(host) => format!("{host}:{}", view.id),
            None => view.id.to_string(),
        }
    }
}

/// The title in a list: `repository/title` where another one of the list has the same title.
pub(super) fn listed_title(view: &InstanceView, all: &[InstanceView]) -> String {
    let twin = |other: &&InstanceView| other.title == view.title && other.id != view.id;
    match all.iter().find(twin) {
        Some(_) => printable_line(&format!("{}/{}", directory_name(&view.repo), view.title)),
        None => view.title.to_string(),
    }
}

/// A size on the disk, as powers of ten: `12 kB`, `3.4 MB`.
pub(super) fn shown_bytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The directory below the worktree in which the agent starts, if it is another one.
pub(super) fn shown_subdirectory(view: &InstanceView) -> String {
    let below = view.subdirectory.as_deref();
    below.map_or_else(String::new, |below| {
        printable_line(&below.display().to_string())
    })
}

/// A path with `~` for the home directory.
pub(super) fn tilde(path: &Path) -> String {
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    match home
        .as_deref()
        .and_then(|home| path.strip_prefix(home).ok())
    {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

pub(super) fn now() -> Timestamp {
    Timestamp::new(chrono::Utc::now())
}

/// Since when the whole camp is paused, in a sentence.
pub(super) fn camp_is_paused(camp: CampView) -> Option<String> {
    let since = camp.paused_at.filter(|_| camp.is_paused())?;
    Some(format!(
        "The camp is paused since {}: no queue is fed. `biv resume --all` ends it.",
        since.local_minute()
    ))
}
