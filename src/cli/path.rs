//! `biv path`

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use crate::engine::Engine;

/// Print the directory of an instance's worktree
#[derive(Debug, Args)]
pub(super) struct PathArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
}

pub(super) fn run(args: &PathArgs, engine: &Engine, output: &Output) -> CommandResult {
    use std::os::unix::ffi::OsStrExt;
    let path = engine.worktree_path(&args.instance.instance)?;
    if output.wants_json() {
        return Ok(output.json(&json!({ "path": path })));
    }
    // As it is: a script changes into it.
    Ok(output.bytes(&[path.as_os_str().as_bytes(), b"\n"].concat()))
}
