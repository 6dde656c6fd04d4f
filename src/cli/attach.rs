//! `biv attach`

use std::process::ExitCode;

use clap::Args;

use super::context::CommandResult;
use super::daemon::ensure_if_asleep;
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
    ensure_if_asleep(&args.instance.instance, engine, output);
    let mut progress = StepLine::new(output, &args.instance.instance);
    let attached = engine.attach(&args.instance.instance, &mut progress)?;
    drop(progress);
    if output.wants_json() {
        return Ok(output.json(&engine.show(&args.instance.instance)?));
    }
    output.say(&if attached.detached {
        format!(
            "Detached from `{}`; the agent keeps running.",
            attached.title
        )
    } else {
        format!("`{}` has ended.", attached.title)
    });
    Ok(ExitCode::SUCCESS)
}
