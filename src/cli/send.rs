//! `biv send`

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::daemon::ensure_if_asleep;
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
    ensure_if_asleep(&args.instance.instance, engine, output);
    let mut progress = StepLine::new(output, &args.instance.instance);
    engine.send(&args.instance.instance, &prompt, &mut progress)?;
    drop(progress);
    Ok(output.result(&json!({ "sent": true, "bytes": prompt.len() }), String::new))
}
