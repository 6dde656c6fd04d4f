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
use crate::model::printable_line;

/// So much of a prompt is shown.
const SHOWN: usize = 60;

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
    let prompt = engine.first_prompt(view.id.as_str())?;
    if !args.yes {
        if !output.can_ask() {
            return Err(Report::usage(
                "a restart needs confirmation, and there is no terminal to ask on",
                "`biv restart -y …`; the work is saved first, the conversation stays in the history",
            ));
        }
        let again = prompt.as_deref().map_or_else(String::new, |prompt| {
            format!(" It gets its first prompt again: {}", shortened(prompt))
        });
        let question = format!(
            "Start `{}` afresh? Its conversation ends here.{again}",
            view.title
        );
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
        let again = match &prompt {
            Some(_) => "; its first prompt was sent again",
            None => "",
        };
        format!("Restarted `{}` as run {}{again}", view.title, view.run_id)
    }))
}

/// The beginning of a prompt, in one line.
fn shortened(prompt: &str) -> String {
    let line = printable_line(prompt);
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
