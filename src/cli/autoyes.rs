//! `biv autoyes`

use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::bulk::{All, end, selected};
use super::context::CommandResult;
use super::daemon::ensure;
use super::instance::{Group, InstanceArg};
use super::output::Output;
use super::report::Report;
use crate::config::parse_duration;
use crate::engine::{AutoyesOutcome, AutoyesState, Engine, Silent};
use crate::model::{InstanceId, printable_line};

/// Let biv answer permission dialogs by a policy
#[derive(Debug, Args)]
#[command(
    override_usage = "biv autoyes [OPTIONS] <INSTANCE>... [on|off]\n       \
                            biv autoyes [OPTIONS] --all|--state <STATE> [on|off]"
)]
pub(super) struct AutoyesArgs {
    /// Titles, ids or unique prefixes, and last `on` or `off`; without that, show the current state
    #[arg(id = "instances", value_name = "INSTANCE", required_unless_present_any = ["all", "state"])]
    pub words: Vec<String>,
    #[command(flatten)]
    pub group: Group,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    On,
    Off,
}

impl AutoyesArgs {
    /// The named instances, and the switch.
    pub(super) fn parts(&self) -> (&[String], Option<Switch>) {
        let alone = usize::from(!self.group.is_given());
        let switch = match self.words.last().map(String::as_str) {
            Some("on") => Some(Switch::On),
            Some("off") => Some(Switch::Off),
            _ => None,
        };
        match self.words.split_last() {
            Some((_, named)) if named.len() >= alone && switch.is_some() => (named, switch),
            _ => (&self.words, None),
        }
    }
}

pub(super) fn run(args: &AutoyesArgs, engine: &Engine, output: &Output) -> CommandResult {
    let (named, switch) = args.parts();
    let lasts = args.lasts.as_deref().map(|text| {
        parse_duration(text).ok_or_else(|| {
            Report::usage(
                format!("`{text}` is not a duration"),
                "write it like 30m or 8h",
            )
        })
    });
    let lasts = lasts.transpose()?;
    if lasts.is_some() && switch != Some(Switch::On) {
        return Err(Report::usage(
            "--for goes with `on`",
            "`biv autoyes INSTANCE on --for 8h`",
        ));
    }
    if args.group.is_given() && !named.is_empty() {
        return Err(Report::usage(
            "--all and --state go without named instances",
            "`biv autoyes --all off`",
        ));
    }
    let meant = selected(engine, named, &args.group, All::Living, output)?;
    let ids: Vec<InstanceId> = meant.into_iter().map(|(id, _)| id).collect();
    let act = |id: &InstanceId| match switch {
        Some(Switch::On) => engine.autoyes_on(id.as_str(), lasts),
        Some(Switch::Off) => engine.autoyes_off(id.as_str()),
        None => engine.autoyes(id.as_str()),
    };
    let states = match ids.as_slice() {
        [id] => vec![act(id)?],
        several => {
            let bulk = engine.for_each(several, &mut Silent, |id, _| act(id));
            let done = if switch.is_some() {
                "switched"
            } else {
                "shown"
            };
            end(&bulk, done, output)?;
            bulk.done
        }
    };
    if switch == Some(Switch::On) && !states.is_empty() {
        // Only the daemon watches for dialogs.
        ensure(engine, output);
    }
    let mut warned: Vec<&String> = Vec::new();
    for warning in states.iter().flat_map(|state| &state.warnings) {
        if !warned.contains(&warning) {
            output.say(&format!("warning: {warning}"));
            warned.push(warning);
        }
    }
    let describe = || {
        let lines: Vec<String> = states.iter().map(describe).collect();
        lines.join("\n")
    };
    let value = match states.as_slice() {
        [one] if !args.group.is_given() => json!(one),
        several => json!({ "instances": several }),
    };
    Ok(match switch {
        Some(_) => output.done(&value, describe),
        None => output.result(&value, describe),
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
        (false, _) => match &state.stopped {
            Some(reason) => format!(
                "Autoyes has stopped for `{}`: {}",
                state.title,
                printable_line(reason)
            ),
            None => format!("Autoyes is off for `{}`", state.title),
        },
    }
}
