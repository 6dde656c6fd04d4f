//! `biv diff`

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use crate::engine::{DiffOutput, Engine, open_pager};

/// Show what an instance changed, committed or not
#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// Only the files and the number of lines
    #[arg(long)]
    pub stat: bool,
}

pub(super) fn run(args: &DiffArgs, engine: &Engine, output: &Output) -> CommandResult {
    let what = if args.stat {
        DiffOutput::Stat
    } else {
        DiffOutput::Patch
    };
    let coloured = output.is_coloured() && !output.wants_json();
    let diff = engine.diff(&args.instance.instance, what, coloured)?;
    if output.wants_json() {
        let stat = engine.show(&args.instance.instance)?.diff;
        let text = String::from_utf8_lossy(&diff);
        return Ok(output.json(&json!({ "diff": text, "stat": stat })));
    }
    if std::io::stdout().is_terminal() && open_pager(&diff) {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(output.bytes(&diff))
}
