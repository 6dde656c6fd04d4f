//! `biv peek`

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use crate::engine::Engine;

/// Show the last lines of an agent's screen
#[derive(Debug, Args)]
pub(super) struct PeekArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// How many lines
    #[arg(short = 'n', long, default_value_t = 40)]
    pub lines: usize,
    /// With colours, as the terminal would get them
    #[arg(long)]
    pub ansi: bool,
}

pub(super) fn run(args: &PeekArgs, engine: &Engine, output: &Output) -> CommandResult {
    let text = engine.peek(&args.instance.instance, args.lines, args.ansi)?;
    if output.wants_json() {
        return Ok(output.json(&json!({ "lines": text.lines().collect::<Vec<_>>() })));
    }
    let end = if text.is_empty() { "" } else { "\n" };
    Ok(output.bytes(format!("{text}{end}").as_bytes()))
}
