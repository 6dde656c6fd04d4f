//! `biv events`

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;
use super::words::{BOLD, DIM, RESET};
use crate::config::parse_duration;
use crate::daemon::{DaemonClient, SubscriptionEvent};
use crate::engine::Engine;
use crate::model::{Timestamp, printable_line};

/// How often the file is read without a daemon.
const PROBE: Duration = Duration::from_millis(200);
/// How often the file is read with a daemon, which may have ended.
const WATCHED_PROBE: Duration = Duration::from_secs(2);

/// Show what has happened, or follow it with -f
#[derive(Debug, Args)]
pub(super) struct EventsArgs {
    /// Keep printing new events; without --since, only events from now on
    #[arg(short, long)]
    pub follow: bool,
    /// Only what happened since this time (RFC 3339) or in this last while (10m, 2h)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
}

pub(super) fn run(args: &EventsArgs, engine: &Engine, output: &Output) -> CommandResult {
    let since = args.since.as_deref().map(moment).transpose()?;
    // The events are read from the file; the daemon only says when there are new ones.
    let mut waker = args
        .follow
        .then(|| DaemonClient::connect(engine)?.subscribe(false))
        .flatten();
    let mut events = if args.follow && since.is_none() {
        engine.events_from_now()?
    } else {
        engine.events_from_start()?
    };
    loop {
        let lines = events.next()?;
        if lines.is_empty() {
            if !args.follow {
                return Ok(ExitCode::SUCCESS);
            }
            match &mut waker {
                Some(subscription) => {
                    if subscription.next(WATCHED_PROBE) == SubscriptionEvent::End {
                        waker = None;
                    }
                }
                None => std::thread::sleep(PROBE),
            }
            continue;
        }
        let text: String = lines
            .iter()
            .filter_map(|line| shown(line, since, output))
            .collect();
        if !text.is_empty()
            && let Some(end) = output.stream(&text)
        {
            return Ok(end);
        }
    }
}

/// Parses a time: a moment, or how long ago.
fn moment(text: &str) -> Result<Timestamp, Report> {
    let ago = parse_duration(text).and_then(|ago| {
        let ago = chrono::Duration::from_std(ago).ok()?;
        Some(Timestamp::new(chrono::Utc::now() - ago))
    });
    ago.or_else(|| Timestamp::parse(text)).ok_or_else(|| {
        Report::usage(
            format!("`{text}` is no time"),
            "give 10m, 2h, or a time such as 2026-11-14T18:02:00Z",
        )
    })
}

/// The line as it is printed; None where it is too old. Events of a newer version are shown too.
fn shown(line: &str, since: Option<Timestamp>, output: &Output) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| event.get(key).and_then(serde_json::Value::as_str);
    let at = text("at").and_then(Timestamp::parse);
    if since.is_some_and(|since| at.is_none_or(|at| at < since)) {
        return None;
    }
    if output.wants_json() {
        return Some(format!("{line}\n"));
    }
    let time = at.map_or_else(String::new, |at| at.local_second());
    let title = text("title").map(printable_line).unwrap_or_default();
    let kind = text("type").map(printable_line).unwrap_or_default();
    let data = event
        .get("data")
        .and_then(serde_json::Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| match value.as_str() {
            Some(value) => format!("{name}={value}"),
            None => format!("{name}={value}"),
        })
        .collect::<Vec<_>>()
        .join(" ");
    Some(format!(
        "{DIM}{time}{RESET} {kind} {BOLD}{title}{RESET} {}\n",
        printable_line(&data)
    ))
}
