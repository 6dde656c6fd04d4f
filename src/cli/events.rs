//! `biv events`

use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use clap::Args;

use super::context::CommandResult;
use super::everywhere::WhereArgs;
use super::output::Output;
use super::report::Report;
use super::words::{BOLD, DIM, RESET};
use crate::config::parse_duration;
use crate::daemon::{DaemonClient, SubscriptionEvent};
use crate::engine::{Engine, HostEvents, HostName};
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
    #[command(flatten)]
    pub place: WhereArgs,
}

pub(super) fn run(args: &EventsArgs, engine: &Engine, output: &Output) -> CommandResult {
    let since = args.since.as_deref().map(moment).transpose()?;
    let which = args.place.hosts()?;
    if args.follow {
        let hosts = which.map(|which| engine.meant_hosts(&which));
        return follow(args, hosts.unwrap_or_default(), since, engine, output);
    }
    let mut lines = Vec::new();
    if args.place.here() {
        let mut events = engine.events_from_start()?;
        loop {
            match events.next()? {
                some if some.is_empty() => break,
                some => lines.extend(some),
            }
        }
    }
    let hosts = which.map(|which| engine.events_of_hosts(&which, args.since.as_deref()));
    let mut from_hosts = false;
    for HostEvents { host, lines: sent } in hosts.into_iter().flatten() {
        match sent {
            Ok(sent) => {
                from_hosts |= !sent.is_empty();
                lines.extend(sent);
            }
            Err(error) => output.say(&format!("{host}: {error}; its events are missing")),
        }
    }
    if from_hosts {
        lines.sort_by_cached_key(|line| time_of(line));
    }
    Ok(print(&lines, since, output).unwrap_or(ExitCode::SUCCESS))
}

/// Prints what happens here and on hosts, each of which is followed in a thread of its own.
fn follow(
    args: &EventsArgs,
    hosts: Vec<HostName>,
    since: Option<Timestamp>,
    engine: &Engine,
    output: &Output,
) -> CommandResult {
    // The events are read from the file; the daemon only says when there are new ones.
    let mut waker = DaemonClient::connect(engine).and_then(|client| client.subscribe(false));
    let patience = match hosts.is_empty() {
        true => WATCHED_PROBE,
        false => PROBE,
    };
    let mut events = match since {
        None => engine.events_from_now()?,
        Some(_) => engine.events_from_start()?,
    };
    let (sender, receiver) = mpsc::channel();
    for host in hosts {
        let sender = sender.clone();
        let engine = engine.reopened()?;
        let asked = args.since.clone();
        // It ends with this process.
        std::thread::spawn(move || {
            engine.follow_host(&host, asked.as_deref(), &|line| sender.send(line).is_ok());
        });
    }
    loop {
        let mut lines = match args.place.here() {
            true => events.next()?,
            false => Vec::new(),
        };
        for line in receiver.try_iter() {
            match line {
                Ok(line) => lines.push(line),
                Err(lost) => output.say(&lost),
            }
        }
        if lines.is_empty() {
            match &mut waker {
                Some(subscription) => {
                    if subscription.next(patience) == SubscriptionEvent::End {
                        waker = None;
                    }
                }
                None => std::thread::sleep(PROBE),
            }
        } else if let Some(end) = print(&lines, since, output) {
            return Ok(end);
        }
    }
}

fn print(lines: &[String], since: Option<Timestamp>, output: &Output) -> Option<ExitCode> {
    let text: String = lines
        .iter()
        .filter_map(|line| shown(line, since, output))
        .collect();
    match text.is_empty() {
        true => None,
        false => output.stream(&text),
    }
}

/// For the order of events of several machines.
fn time_of(line: &str) -> Option<Timestamp> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    event.get("at")?.as_str().and_then(Timestamp::parse)
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
    let title = match text("host") {
        Some(host) => format!("{host}:{title}"),
        None => title,
    };
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
