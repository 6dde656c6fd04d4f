//! `biv wait`

use std::time::{Duration, Instant};

use clap::Args;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use super::report::Report;
use super::words;
use crate::config::parse_duration;
use crate::daemon::{DaemonClient, SubscriptionEvent};
use crate::engine::{Engine, InstanceView};
use crate::model::{Activity, State};

/// How long an agent must stay idle, because a prompt may just have been sent.
const HOLD: Duration = Duration::from_millis(700);
/// How often the agent is looked at without a daemon.
const PROBE: Duration = Duration::from_millis(200);
const WATCHED_PROBE: Duration = Duration::from_secs(1);

/// Wait until an agent is idle, needs you, or has exited
#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// What to wait for
    #[arg(long = "for", value_enum)]
    pub wanted: Wanted,
    /// How long to wait at most [default: as long as it takes]
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Wanted {
    /// At its prompt
    Idle,
    /// A dialog, a question, or something that only you can resolve
    NeedsYou,
    /// Its program has ended
    Exited,
}

pub(super) fn run(args: &WaitArgs, engine: &Engine, output: &Output) -> CommandResult {
    let limit = match args.timeout.as_deref() {
        Some(text) => Some(parse_duration(text).ok_or_else(|| {
            Report::usage(format!("`{text}` is no duration"), "give 30s, 10m, 1h")
        })?),
        None => None,
    };
    let started = Instant::now();
    let mut bell = DaemonClient::connect(engine).and_then(|client| client.subscribe(true));
    let mut held: Option<Instant> = None;
    loop {
        let view = engine.show(&args.instance.instance)?;
        match judge(args.wanted, &view) {
            Judged::Reached => {
                let since = *held.get_or_insert_with(Instant::now);
                if args.wanted != Wanted::Idle || since.elapsed() >= HOLD {
                    return Ok(output.result(&view, || {
                        format!(
                            "{}: {}",
                            view.title,
                            words::shown_state(&view, words::now())
                        )
                    }));
                }
            }
            Judged::NotYet => held = None,
            Judged::Never => {
                return Err(Report {
                    exit: 4,
                    ..Report::failed(
                        "wrong_state",
                        format!("`{}` is {}", view.title, view.state.name()),
                        "`biv show` says more",
                    )
                });
            }
        }
        if limit.is_some_and(|limit| started.elapsed() >= limit) {
            return Err(Report::failed(
                "timeout",
                format!("`{}` {}", view.title, doing(&view)),
                "wait longer with --timeout",
            ));
        }
        let pause = if held.is_some() || bell.is_none() {
            PROBE
        } else {
            WATCHED_PROBE
        };
        let left = limit.map_or(pause, |limit| limit.saturating_sub(started.elapsed()));
        let pause = pause.min(left.max(Duration::from_millis(1)));
        match &mut bell {
            // Any event: looking is cheap.
            Some(bell_line) if held.is_none() => {
                if bell_line.next(pause) == SubscriptionEvent::End {
                    bell = None;
                }
            }
            _ => std::thread::sleep(pause),
        }
    }
}

enum Judged {
    Reached,
    NotYet,
    /// The agent has ended, so the condition cannot become true.
    Never,
}

fn judge(wanted: Wanted, view: &InstanceView) -> Judged {
    let over = matches!(
        view.state,
        State::Completed | State::Failed | State::Interrupted | State::Killed
    );
    let reached = match wanted {
        Wanted::Exited => over,
        Wanted::Idle => view.state == State::Running && view.activity == Some(Activity::Idle),
        Wanted::NeedsYou => {
            view.state == State::Running
                && matches!(
                    view.activity,
                    Some(Activity::Approval | Activity::Question | Activity::Blocked)
                )
        }
    };
    if reached {
        Judged::Reached
    } else if over {
        Judged::Never
    } else {
        Judged::NotYet
    }
}

fn doing(view: &InstanceView) -> String {
    let still = match (view.state, view.activity) {
        (State::Running, Some(activity)) => match activity {
            Activity::Busy => "is still busy",
            Activity::Idle => "is still idle",
            Activity::Approval => "still waits for an approval",
            Activity::Question => "still waits for an answer",
            Activity::Blocked => "is still blocked",
            Activity::Exited => "has ended",
            Activity::Unknown => "is still running, and what it does is not known",
        },
        (state, _) => return format!("is still {}", state.name()),
    };
    still.to_owned()
}
