//! `biv wait`

use std::time::{Duration, Instant};

use clap::Args;

use super::bulk::{All, selected};
use super::context::CommandResult;
use super::instance::SomeInstances;
use super::output::Output;
use super::report::Report;
use super::words;
use crate::config::parse_duration;
use crate::daemon::{DaemonClient, SubscriptionEvent};
use crate::engine::{Engine, InstanceView};
use crate::model::{Activity, InstanceId, State};

/// How long an agent must stay idle, because a prompt may just have been sent.
const HOLD: Duration = Duration::from_millis(700);
/// How often the agent is looked at without a daemon.
const PROBE: Duration = Duration::from_millis(200);
const WATCHED_PROBE: Duration = Duration::from_secs(1);

/// Wait until agents are idle, need you, or have exited
#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    #[command(flatten)]
    pub instances: SomeInstances,
    /// What to wait for
    #[arg(long = "for", value_enum)]
    pub wanted: Wanted,
    /// Wait for one of several instances instead of all
    #[arg(long)]
    pub any: bool,
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

impl Wanted {
    /// What is said of one for which it was waited in vain.
    fn missed(self) -> &'static str {
        match self {
            Self::Idle => "was not idle",
            Self::NeedsYou => "did not need you",
            Self::Exited => "had not exited",
        }
    }
}

/// One instance that is waited for.
struct Awaited {
    id: InstanceId,
    /// Since when it is as wanted.
    held: Option<Instant>,
    outcome: Option<Outcome>,
}

enum Outcome {
    Reached(InstanceView),
    Never(InstanceView),
}

pub(super) fn run(args: &WaitArgs, engine: &Engine, output: &Output) -> CommandResult {
    let limit = match args.timeout.as_deref() {
        Some(text) => Some(parse_duration(text).ok_or_else(|| {
            Report::usage(format!("`{text}` is no duration"), "give 30s, 10m, 1h")
        })?),
        None => None,
    };
    let group = &args.instances.group;
    let ids = match args.instances.instances.as_slice() {
        // Killed ones too: they have exited.
        [given] => vec![engine.show(given)?.id],
        several => {
            let meant = selected(engine, several, group, All::Running, output)?;
            meant.into_iter().map(|(id, _)| id).collect()
        }
    };
    let alone = args.instances.instances.len() == 1;
    let mut awaited: Vec<Awaited> = ids
        .into_iter()
        .map(|id| Awaited {
            id,
            held: None,
            outcome: None,
        })
        .collect();
    let started = Instant::now();
    let mut bell = DaemonClient::connect(engine).and_then(|client| client.subscribe(true));
    loop {
        let over = limit.is_some_and(|limit| started.elapsed() >= limit);
        let mut open: Vec<InstanceView> = Vec::new();
        for one in awaited.iter_mut().filter(|one| one.outcome.is_none()) {
            let view = engine.show(one.id.as_str())?;
            let judged = match judge(args.wanted, &view) {
                // A plain command shows no prompt that is known.
                Judged::NotYet if args.wanted == Wanted::Idle && may_be_quiet(&view) => {
                    match engine.is_quiet(&view.id)? {
                        true => Judged::Reached,
                        false => Judged::NotYet,
                    }
                }
                judged => judged,
            };
            match judged {
                Judged::Reached => {
                    let since = *one.held.get_or_insert_with(Instant::now);
                    if args.wanted != Wanted::Idle || since.elapsed() >= HOLD {
                        one.outcome = Some(Outcome::Reached(view));
                        continue;
                    }
                }
                Judged::NotYet => one.held = None,
                Judged::Never => {
                    one.outcome = Some(Outcome::Never(view));
                    continue;
                }
            }
            open.push(view);
        }
        let reached = awaited
            .iter()
            .filter(|one| matches!(one.outcome, Some(Outcome::Reached(_))))
            .count();
        if open.is_empty() || over || (args.any && reached > 0) {
            return ended(args, alone, &awaited, &open, output);
        }
        let holding = awaited
            .iter()
            .any(|one| one.outcome.is_none() && one.held.is_some());
        let pause = if holding || bell.is_none() {
            PROBE
        } else {
            WATCHED_PROBE
        };
        let left = limit.map_or(pause, |limit| limit.saturating_sub(started.elapsed()));
        let pause = pause.min(left.max(Duration::from_millis(1)));
        match &mut bell {
            // Any event: looking is cheap.
            Some(bell_line) if !holding => {
                if bell_line.next(pause) == SubscriptionEvent::End {
                    bell = None;
                }
            }
            _ => std::thread::sleep(pause),
        }
    }
}

/// The result: those that are as wanted, and an error for those that are not.
fn ended(
    args: &WaitArgs,
    alone: bool,
    awaited: &[Awaited],
    open: &[InstanceView],
    output: &Output,
) -> CommandResult {
    let (mut reached, mut failures) = (Vec::new(), Vec::new());
    let mut never = false;
    for one in awaited {
        match &one.outcome {
            Some(Outcome::Reached(view)) => reached.push(view),
            Some(Outcome::Never(view)) => {
                never = true;
                failures.push((&view.title, format!("it is {}", view.state.name())));
            }
            None => {
                if let Some(view) = open.iter().find(|view| view.id == one.id) {
                    failures.push((&view.title, format!("it {}", doing(view))));
                }
            }
        }
    }
    if failures.is_empty() || (args.any && !reached.is_empty()) {
        let line = |view: &&InstanceView| {
            let state = words::shown_state(view, words::now());
            format!("{}: {state}", view.title)
        };
        let value = match reached.as_slice() {
            [one] if alone => serde_json::json!(one),
            several => serde_json::json!({ "instances": several }),
        };
        return Ok(output.result(&value, || {
            reached.iter().map(line).collect::<Vec<_>>().join("\n")
        }));
    }
    let (code, exit, hint) = if never {
        ("wrong_state", 4, "`biv show` says more")
    } else {
        (
            "timeout",
            1,
            "`biv peek` shows its screen; `--timeout` sets how long to wait, without it there is no limit",
        )
    };
    let missed = match (args.timeout.as_deref(), never) {
        (Some(limit), false) => format!("{} within {limit}", args.wanted.missed()),
        _ => args.wanted.missed().to_owned(),
    };
    if let ([(title, reason)], true) = (failures.as_slice(), alone) {
        let report = Report::failed(code, format!("`{title}` {missed}: {reason}"), hint);
        return Err(Report { exit, ..report });
    }
    let report = Report::some_failed("waited for", reached.len(), &failures);
    Err(report.map_or_else(
        || Report::failed(code, "nothing was waited for", hint),
        |report| Report {
            code,
            exit,
            message: format!("{} of {} {missed}", failures.len(), awaited.len()),
            hints: vec![hint.to_owned()],
            ..report
        },
    ))
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
            view.state == State::Running && view.activity.is_some_and(Activity::needs_you)
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

fn may_be_quiet(view: &InstanceView) -> bool {
    view.state == State::Running && view.activity == Some(Activity::Unknown)
}

fn doing(view: &InstanceView) -> String {
    let still = match (view.state, view.activity) {
        (State::Running, Some(activity)) => match activity {
            Activity::Busy => "is still busy",
            Activity::Idle => "is still idle",
            Activity::Approval => "still waits for an approval",
            Activity::Question => "still waits for an answer",
            Activity::Blocked => "is still blocked",
            Activity::Menu => "still has a menu open",
            Activity::Exited => "has ended",
            Activity::Unknown => "is still running, and what it does is not known",
        },
        (state, _) => return format!("is still {}", state.name()),
    };
    still.to_owned()
}
