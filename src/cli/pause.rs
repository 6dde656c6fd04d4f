//! `biv pause`

use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::bulk::{All, end_changes, selected};
use super::context::CommandResult;
use super::instance::SomeInstances;
use super::output::Output;
use super::progress::{CountLine, StepLine};
use super::report::Report;
use super::words;
use crate::config::{WorktreeOnPause, parse_duration};
use crate::engine::{Bulk, Engine, PauseOptions, StateChange};
use crate::model::{InstanceId, PauseReason};

/// Stop an agent at a safe moment and save everything
#[derive(Debug, Args)]
pub(super) struct PauseArgs {
    #[command(flatten)]
    pub instances: SomeInstances,
    /// Interrupt the agent's turn at once
    #[arg(long, conflicts_with = "wait")]
    pub now: bool,
    /// How long to wait for the turn to end, or `forever` [default: pause.wait]
    #[arg(long, value_name = "DURATION")]
    pub wait: Option<String>,
    /// Leave the worktree where it is
    #[arg(long, conflicts_with = "remove_worktree")]
    pub keep_worktree: bool,
    /// Delete the worktree at once; it is restored from git's objects
    #[arg(long)]
    pub remove_worktree: bool,
    /// The reason, for the record
    #[arg(long, value_name = "REASON", default_value = "user", value_parser = ["user", "user_interrupt", "idle", "resource", "error"])]
    pub reason: String,
    /// Cancel a pause that waits for the turn to end
    #[arg(long, conflicts_with_all = ["now", "wait", "all", "state"])]
    pub cancel: bool,
}

pub(super) fn run(args: &PauseArgs, engine: &Engine, output: &Output) -> CommandResult {
    if args.cancel {
        return cancel(args, engine, output);
    }
    let options = options(args, engine)?;
    if args.instances.group.all {
        return super::camp::pause_all(&options, engine, output);
    }
    let bulk = match args.instances.instances.as_slice() {
        [given] => {
            let mut progress = StepLine::new(output, given);
            Bulk::of(engine.pause(given, &options, &mut progress)?)
        }
        several => {
            let group = &args.instances.group;
            let meant = selected(engine, several, group, All::Running, output)?;
            let ids: Vec<InstanceId> = meant.into_iter().map(|(id, _)| id).collect();
            engine.pause_each(&ids, &options, &mut CountLine::new(output, "paused"))
        }
    };
    let mut paused = Vec::new();
    for asked in &bulk.done {
        tell(asked, output);
        paused.push(match output.wants_json() {
            true => engine.with_changes(asked.view().clone()),
            false => asked.view().clone(),
        });
    }
    end_changes(&bulk, "paused", "paused", output)?;
    Ok(output.result(&json!({ "instances": paused }), String::new))
}

fn tell(asked: &StateChange, output: &Output) {
    let title = &asked.view().title;
    match asked {
        StateChange::Done(view) => {
            if view.pause.as_ref().is_some_and(|pause| pause.forced) {
                output.say(&format!(
                    "warning: `{title}` was stopped in the middle of its turn"
                ));
            }
            output.say(&format!(
                "Paused `{title}`. Resume with: biv resume {}",
                words::called(view)
            ));
        }
        StateChange::Already(_) => output.say(&format!("`{title}` is paused already.")),
    }
}

fn cancel(args: &PauseArgs, engine: &Engine, output: &Output) -> CommandResult {
    let mut views = Vec::new();
    for given in &args.instances.instances {
        let view = engine.cancel_pause(given)?;
        output.say(&format!("The pause of `{}` was cancelled.", view.title));
        views.push(view);
    }
    Ok(output.result(&json!({ "instances": views }), String::new))
}

fn options(args: &PauseArgs, engine: &Engine) -> Result<PauseOptions, Report> {
    let settings = &engine.config().settings.pause;
    let wait = match (args.now, args.wait.as_deref()) {
        (true, _) => Some(Duration::ZERO),
        (false, None) => Some(settings.wait),
        (false, Some("forever")) => None,
        (false, Some(text)) => Some(parse_duration(text).ok_or_else(|| {
            Report::usage(
                format!("`{text}` is not a duration"),
                "write it like 30s or 10m, or `forever`",
            )
        })?),
    };
    let worktree = match (args.keep_worktree, args.remove_worktree) {
        (true, _) => WorktreeOnPause::Keep,
        (_, true) => WorktreeOnPause::Remove,
        _ => settings.worktree,
    };
    let reason = PauseReason::parse(&args.reason).unwrap_or(PauseReason::User);
    Ok(PauseOptions {
        wait,
        worktree,
        reason,
    })
}
