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
use crate::model::{InstanceId, printable_line};

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
    /// Free the disk at once; large ignored directories do not come back
    #[arg(long)]
    pub purge: bool,
}

pub(super) fn run(args: &KillArgs, engine: &Engine, output: &Output) -> CommandResult {
    // All are looked up first, so that a typing mistake in one kills nothing.
    let named = &args.instances.instances;
    let meant = selected(engine, named, &args.instances.group, All::Living, output)?;
    for (id, title) in &meant {
        if let Some(unmerged) = unmerged(id, engine, output) {
            output.say(&format!("`{title}` has {unmerged}."));
        }
    }
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
        let purged = match args.purge {
            true => engine.purge(&view.id)?,
            false => None,
        };
        let undo = if *kept {
            format!(" Bring it back with: biv undo-kill {}", view.id)
        } else {
            String::new()
        };
        let freed = purged.as_ref().map_or_else(String::new, |purged| {
            format!(" {} kB are freed.", purged.freed_bytes.div_ceil(1000))
        });
        output.say(&format!("Killed `{}`.{freed}{undo}", view.title));
        for path in purged.iter().flat_map(|purged| &purged.dropped) {
            output.say(&format!("  deleted: {}", printable_line(path)));
        }
        for left in purged.iter().flat_map(|purged| &purged.left) {
            let path = printable_line(&left.path);
            output.say(&format!("  not freed: {path} ({})", left.why));
        }
        killed.push(match output.wants_json() {
            true => engine.with_changes(view.clone()),
            false => view.clone(),
        });
    }
    end(&bulk, "killed", output)?;
    Ok(output.result(&json!({ "instances": killed }), String::new))
}

/// What the base of an instance does not have: commits, and uncommitted work. None if nothing.
fn unmerged(id: &InstanceId, engine: &Engine, output: &Output) -> Option<String> {
    if !output.prints_notes() {
        return None;
    }
    let view = engine.show(id.as_str()).ok()?;
    let mut parts = Vec::new();
    if let Some(standing) = view.standing.as_ref().filter(|standing| standing.ahead > 0) {
        let base = printable_line(&standing.base);
        parts.push(match standing.ahead {
            1 => format!("1 commit that {base} does not have"),
            count => format!("{count} commits that {base} does not have"),
        });
    }
    if view.dirty == Some(true) {
        parts.push("uncommitted work".to_owned());
    }
    (!parts.is_empty()).then(|| parts.join(" and "))
}
