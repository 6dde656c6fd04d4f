//! `biv kill`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::bulk::{All, end, selected};
use super::context::CommandResult;
use super::instance::SomeInstances;
use super::output::Output;
use super::progress::{CountLine, StepLine};
use super::report::Report;
use crate::engine::{Bulk, Engine, KillOptions, Killed};
use crate::model::InstanceId;

/// End an instance; its work is saved first
#[derive(Debug, Args)]
pub(super) struct KillArgs {
    #[command(flatten)]
    pub instances: SomeInstances,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Delete the branch too, if biv made it
    #[arg(long)]
    pub delete_branch: bool,
}

pub(super) fn run(args: &KillArgs, engine: &Engine, output: &Output) -> CommandResult {
    // All are looked up first, so that a typing mistake in one kills nothing.
    let named = &args.instances.instances;
    let meant = selected(engine, named, &args.instances.group, All::Living, output)?;
    if !args.yes && !meant.is_empty() {
        let titles: Vec<String> = meant
            .iter()
            .map(|(_, title)| format!("`{title}`"))
            .collect();
        if !output.can_ask() {
            return Err(Report::usage(
                "killing needs confirmation, and there is no terminal to ask on",
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
    let bulk = match meant.as_slice() {
        [(id, title)] => {
            let mut progress = StepLine::new(output, &title.to_string());
            Bulk::of(engine.kill(id.as_str(), options, &mut progress)?)
        }
        several => {
            let ids: Vec<InstanceId> = several.iter().map(|(id, _)| id.clone()).collect();
            engine.kill_each(&ids, options, &mut CountLine::new(output, "killed"))
        }
    };
    let mut killed = Vec::new();
    for Killed { view, kept } in &bulk.done {
        let undo = if *kept {
            format!(" Bring it back with: biv undo-kill {}", view.id)
        } else {
            String::new()
        };
        output.say(&format!("Killed `{}`.{undo}", view.title));
        killed.push(match output.wants_json() {
            true => engine.with_changes(view.clone()),
            false => view.clone(),
        });
    }
    end(&bulk, "killed", output)?;
    Ok(output.result(&json!({ "instances": killed }), String::new))
}
