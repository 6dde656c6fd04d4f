//! `biv repo`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::context::CommandResult;
use super::new::current_dir;
use super::output::Output;
use crate::engine::Engine;

/// Update the path of a repository that was moved
#[derive(Debug, Args)]
pub(super) struct RepoArgs {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Move the instances of a repository to its new path
    Moved(MovedArgs),
}

#[derive(Debug, Args)]
pub(super) struct MovedArgs {
    /// The old path, as `biv show` prints it
    pub old: PathBuf,
    /// The new path
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
