//! `biv attach`

use std::process::ExitCode;

use clap::Args;

use super::context::CommandResult;
use super::daemon::ensure_for;
use super::instance::InstanceArg;
use super::output::Output;
use super::progress::StepLine;
use crate::engine::Engine;

/// Attach this terminal to an instance
#[derive(Debug, Args)]
pub(super) struct AttachArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
}

pub(super) fn run(args: &AttachArgs, engine: &Engine, output: &Output) -> CommandResult {
    let given = &args.instance.instance;
    // One that is woken by it may need the daemon. What is wrong with it is told below.
    if let Ok(view) = engine.show(given) {
        ensure_for(&view, engine, output);
    }
    let mut progress = StepLine::new(output, given);
    let attached = engine.attach(given, &mut progress)?;
    drop(progress);
    if output.wants_json() {
        return Ok(output.json(&engine.show(given)?));
    }
    output.say(&if attached.detached {
        format!("Left `{}`; the agent goes on.", attached.title)
    } else {
        format!("`{}` has ended.", attached.title)
    });
    Ok(ExitCode::SUCCESS)
}
