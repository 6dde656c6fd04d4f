//! `biv gc`

use std::fmt::Write;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use crate::engine::{CollectAction, Collected, Engine};

/// Free disk space that paused and killed instances hold
#[derive(Debug, Args)]
pub(super) struct GcArgs {
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
}

pub(super) fn run(args: &GcArgs, engine: &Engine, output: &Output) -> CommandResult {
    let collected = engine.gc(args.dry_run)?;
    let json = json!({ "dry_run": args.dry_run, "collected": collected });
    let describe = || {
        if collected.is_empty() {
            return "Nothing is old enough to be let go.".to_owned();
        }
        collected
            .iter()
            .map(describe_one)
            .collect::<Vec<_>>()
            .join("\n")
    };
    Ok(if args.dry_run {
        output.result(&json, describe)
    } else {
        output.done(&json, describe)
    })
}

fn describe_one(collected: &Collected) -> String {
    let action = match collected.action {
        CollectAction::Thin => "thin",
        CollectAction::Forget => "forget",
        CollectAction::Drop => "drop",
    };
    let title = collected
        .title
        .as_ref()
        .map_or_else(|| collected.instance.to_string(), ToString::to_string);
    let mut text = format!("{action:<7} {title}: {}", collected.what);
    if collected.freed_bytes > 0 {
        write!(text, " ({} kB freed)", collected.freed_bytes / 1000).ok();
    }
    for path in &collected.dropped {
        write!(text, "\n        let go: {}", path.display()).ok();
    }
    text
}
