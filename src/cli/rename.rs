//! `biv rename`

use clap::Args;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use crate::engine::Engine;

/// Give an instance another title
#[derive(Debug, Args)]
pub(super) struct RenameArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// The new title; branch and worktree keep their names
    pub title: String,
}

pub(super) fn run(args: &RenameArgs, engine: &Engine, output: &Output) -> CommandResult {
    let renamed = engine.rename(&args.instance.instance, &args.title)?;
    Ok(output.done(&renamed, || {
        format!("`{}` is `{}` now.", renamed.formerly, renamed.title)
    }))
}
