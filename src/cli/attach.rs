//! `biv attach`

use std::process::ExitCode;

use clap::Args;

use super::context::CommandResult;
use super::daemon::ensure_if_asleep;
use super::instance::InstanceArg;
use super::output::Output;
use super::progress::StepLine;
use crate::engine::{Attached, AttachedTo, Engine};

/// Attach this terminal to an instance
#[derive(Debug, Args)]
pub(super) struct AttachArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
}

/// Open a shell of your own in an instance's worktree
#[derive(Debug, Args)]
pub(super) struct ShellArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
}

pub(super) fn run(args: &AttachArgs, engine: &Engine, output: &Output) -> CommandResult {
    ensure_if_asleep(&args.instance.instance, engine, output);
    let mut progress = StepLine::new(output, &args.instance.instance);
    let attached = engine.attach(&args.instance.instance, &mut progress)?;
    drop(progress);
    ended(&attached, engine, output)
}

pub(super) fn shell(args: &ShellArgs, engine: &Engine, output: &Output) -> CommandResult {
    ensure_if_asleep(&args.instance.instance, engine, output);
    let mut progress = StepLine::new(output, &args.instance.instance);
    let attached = engine.shell(&args.instance.instance, &mut progress)?;
    drop(progress);
    ended(&attached, engine, output)
}

/// Says how it ended.
fn ended(attached: &Attached, engine: &Engine, output: &Output) -> CommandResult {
    if output.wants_json() {
        return Ok(output.json(&engine.show(attached.id.as_str())?));
    }
    let title = &attached.title;
    output.say(&match (attached.detached, attached.to) {
        (true, AttachedTo::Agent) => {
            format!("Detached from `{title}`; the agent keeps running.")
        }
        (true, AttachedTo::Shell) => {
            format!("Detached from `{title}`; the shell keeps running.")
        }
        (false, AttachedTo::Agent) if attached.paused => format!("`{title}` was paused."),
        (false, AttachedTo::Agent) => format!("`{title}` has ended."),
        (false, AttachedTo::Shell) => format!("The shell of `{title}` has ended."),
    });
    Ok(ExitCode::SUCCESS)
}
