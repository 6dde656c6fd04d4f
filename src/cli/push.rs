//! `biv push`

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::instance::InstanceArgs;
use super::output::Output;
use crate::engine::Engine;

/// Push the branch of an instance to its remote
#[derive(Debug, Args)]
pub(super) struct PushArgs {
    #[command(flatten)]
    pub instances: InstanceArgs,
}

pub(super) fn run(args: &PushArgs, engine: &Engine, output: &Output) -> CommandResult {
    // All are looked up first, so that a typing mistake in one pushes nothing.
    let mut pushed = Vec::new();
    for (id, _) in engine.find_each(&args.instances.instances)? {
        let done = engine.push(id.as_str())?;
        output.say(&format!(
            "Pushed `{}`: {} to {}.",
            done.title, done.branch, done.remote
        ));
        pushed.push(json!({
            "id": id,
            "title": done.title,
            "branch": done.branch,
            "remote": done.remote,
        }));
    }
    Ok(output.result(&json!({ "pushed": pushed }), String::new))
}
