//! `biv restart`

use std::process::ExitCode;

use clap::Args;

use super::context::CommandResult;
use super::daemon::ensure_for;
use super::instance::InstanceArg;
use super::output::Output;
use super::progress::StepLine;
use super::report::Report;
use crate::engine::Engine;

/// Start a new conversation over the same files
#[derive(Debug, Args)]
pub(super) struct RestartArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

pub(super) fn run(args: &RestartArgs, engine: &Engine, output: &Output) -> CommandResult {
    let view = engine.show(&args.instance.instance)?;
    if !args.yes {
        if !output.can_ask() {
            return Err(Report::usage(
                "a restart needs confirmation, and there is no terminal to ask on",
                "`biv restart -y …`; the work is saved first, the conversation stays in the history",
            ));
        }
        let question = format!("Start `{}` afresh? Its conversation ends here.", view.title);
        if !output.confirm(&question) {
            output.say("Nothing was changed.");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let mut progress = StepLine::new(output, &view.title.to_string());
    let view = engine.restart(view.id.as_str(), &mut progress)?;
    drop(progress);
    ensure_for(&view, engine, output);
    Ok(output.done(&view, || {
        format!("Restarted `{}` as run {}", view.title, view.run_id)
    }))
}
