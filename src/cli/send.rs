//! `biv send`

use std::io::Read;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use super::progress::StepLine;
use super::report::Report;
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
    let prompt = if args.prompt == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| {
                Report::failed(
                    "no_prompt",
                    format!("the prompt cannot be read: {error}"),
                    "give UTF-8 text on standard input",
                )
            })?;
        text.strip_suffix('\n').unwrap_or(&text).to_owned()
    } else {
        args.prompt.clone()
    };
    let mut progress = StepLine::new(output, &args.instance.instance);
    engine.send(&args.instance.instance, &prompt, &mut progress)?;
    drop(progress);
    Ok(output.result(&json!({ "sent": true, "bytes": prompt.len() }), String::new))
}
