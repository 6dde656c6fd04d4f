//! `biv send`

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::daemon::ensure_for;
use super::instance::InstanceArg;
use super::output::Output;
use super::progress::StepLine;
use super::prompt;
use crate::engine::Engine;

/// Type a prompt into an agent and submit it
#[derive(Debug, Args)]
pub(super) struct SendArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// The prompt, or `-` to read it from standard input
    #[arg(allow_hyphen_values = true)]
    pub prompt: String,
}

pub(super) fn run(args: &SendArgs, engine: &Engine, output: &Output) -> CommandResult {
    let prompt = prompt::given(&args.prompt)?;
    let given = &args.instance.instance;
    // One that is woken by it may need the daemon. What is wrong with it is told below.
    if let Ok(view) = engine.show(given) {
        ensure_for(&view, engine, output);
    }
    let mut progress = StepLine::new(output, given);
    engine.send(given, &prompt, &mut progress)?;
    drop(progress);
    Ok(output.result(&json!({ "sent": true, "bytes": prompt.len() }), String::new))
}
