//! `biv kill`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::instance::InstanceArgs;
use super::output::Output;
use super::progress::StepLine;
use super::report::Report;
use crate::engine::{Engine, KillOptions, Killed};

/// End an instance; its work is saved first
#[derive(Debug, Args)]
pub(super) struct KillArgs {
    #[command(flatten)]
    pub instances: InstanceArgs,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Delete the branch too, if biv made it
    #[arg(long)]
    pub delete_branch: bool,
}

pub(super) fn run(args: &KillArgs, engine: &Engine, output: &Output) -> CommandResult {
    // All of them are looked up first: a typing mistake in the last one must not cost the first.
    let mut views = Vec::new();
    for given in &args.instances.instances {
        views.push(engine.show(given)?);
    }
    if !args.yes {
        let titles: Vec<String> = views
            .iter()
            .map(|view| format!("`{}`", view.title))
            .collect();
        if !output.can_ask() {
            return Err(Report::usage(
                "killing needs a yes, and nobody can be asked here",
                "`biv kill -y …`; `biv undo-kill` brings it back",
            ));
        }
        if !output.confirm(&format!("Kill {}?", titles.join(", "))) {
            output.say("Nothing was changed.");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let options = KillOptions {
        delete_branch: args.delete_branch,
    };
    let mut killed = Vec::new();
    for view in views {
        let mut progress = StepLine::new(output, &view.title.to_string());
        let Killed { view, kept } = engine.kill(view.id.as_str(), options, &mut progress)?;
        drop(progress);
        let undo = if kept {
            format!(" Bring it back with: biv undo-kill {}", view.id)
        } else {
            String::new()
        };
        output.say(&format!("Killed `{}`.{undo}", view.title));
        killed.push(view);
    }
    if output.wants_json() {
        killed = killed
            .into_iter()
            .map(|view| engine.with_changes(view))
            .collect();
    }
    Ok(output.result(&json!({ "instances": killed }), String::new))
}
