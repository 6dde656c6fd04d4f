//! `biv autoyes`

use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::context::CommandResult;
use super::daemon::ensure;
use super::instance::InstanceArg;
use super::output::Output;
use super::report::Report;
use crate::config::parse_duration;
use crate::engine::{AutoyesOutcome, AutoyesState, Engine};

/// Let biv answer permission dialogs by a policy
#[derive(Debug, Args)]
pub(super) struct AutoyesArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// Turn it on or off; without it, show the current state
    pub switch: Option<Switch>,
    /// How long it stays on, such as 8h [default: autoyes.for of the policy]
    #[arg(long = "for", value_name = "DURATION")]
    pub lasts: Option<String>,
}

/// One look and at most one answer, as the daemon does it. For tests.
#[derive(Debug, Args)]
pub(super) struct AnswerOnceArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// Repeat until this many answers were given
    #[arg(long)]
    pub count: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

pub(super) fn run(args: &AutoyesArgs, engine: &Engine, output: &Output) -> CommandResult {
    let given = &args.instance.instance;
    let lasts = args.lasts.as_deref().map(|text| {
        parse_duration(text).ok_or_else(|| {
            Report::usage(
                format!("`{text}` is not a duration"),
                "write it like 30m or 8h",
            )
        })
    });
    let lasts = lasts.transpose()?;
    if lasts.is_some() && args.switch != Some(Switch::On) {
        return Err(Report::usage(
            "--for goes with `on`",
            "`biv autoyes INSTANCE on --for 8h`",
        ));
    }
    let state = match args.switch {
        Some(Switch::On) => {
            let state = engine.autoyes_on(given, lasts)?;
            // Only the daemon watches for dialogs.
            ensure(engine, output);
            state
        }
        Some(Switch::Off) => engine.autoyes_off(given)?,
        None => engine.autoyes(given)?,
    };
    for warning in &state.warnings {
        output.say(&format!("warning: {warning}"));
    }
    Ok(match args.switch {
        Some(_) => output.done(&state, || describe(&state)),
        None => output.result(&state, || describe(&state)),
    })
}

pub(super) fn answer_once(
    args: &AnswerOnceArgs,
    engine: &Engine,
    output: &Output,
) -> CommandResult {
    let given = &args.instance.instance;
    let Some(count) = args.count else {
        return Ok(output.json(&engine.answer_dialog(given, Duration::ZERO)?));
    };
    let (mut answered, mut stale, mut other) = (0, 0, 0);
    while answered < count {
        match engine.answer_dialog(given, Duration::ZERO)?.outcome {
            AutoyesOutcome::Accepted | AutoyesOutcome::Rejected => answered += 1,
            AutoyesOutcome::Stale => stale += 1,
            AutoyesOutcome::Off | AutoyesOutcome::Stopped => break,
            _ => other += 1,
        }
    }
    Ok(output.json(&json!({ "answered": answered, "stale": stale, "other": other })))
}

fn describe(state: &AutoyesState) -> String {
    match (state.autoyes, state.until) {
        (true, Some(until)) => format!(
            "Autoyes is on for `{}` until {}",
            state.title,
            until.local_minute()
        ),
        (true, None) => format!("Autoyes is on for `{}`", state.title),
        (false, _) => format!("Autoyes is off for `{}`", state.title),
    }
}
