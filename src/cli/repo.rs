//! `biv repo`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::context::CommandResult;
use super::new::current_dir;
use super::output::Output;
use crate::engine::Engine;

/// Say where a repository is now
#[derive(Debug, Args)]
pub(super) struct RepoArgs {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Let the instances of a repository follow it to another place
    Moved(MovedArgs),
}

#[derive(Debug, Args)]
pub(super) struct MovedArgs {
    /// Where it was, as `biv show` names it
    pub old: PathBuf,
    /// Where it is now
    #[arg(value_hint = clap::ValueHint::DirPath)]
    pub new: PathBuf,
}

pub(super) fn run(args: &RepoArgs, engine: &Engine, output: &Output) -> CommandResult {
    let Action::Moved(MovedArgs { old, new }) = &args.action;
    let here = current_dir()?;
    let moved = engine.repository_moved(&here.join(old), &here.join(new))?;
    let json = json!({
        "repository": { "id": moved.id, "from": moved.from, "to": moved.to },
        "instances": moved.instances,
    });
    Ok(output.done(&json, || {
        let titles: Vec<String> = moved
            .instances
            .iter()
            .map(|instance| format!("`{}`", instance.title))
            .collect();
        format!(
            "{} is now {}: {}",
            moved.from.display(),
            moved.to.display(),
            titles.join(", ")
        )
    }))
}
