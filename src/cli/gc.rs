//! `biv gc`

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::words::shown_bytes;
use crate::engine::{CollectAction, Collected, Collection, Engine, FreedCheckout, PutAway};
use crate::model::printable_line;

/// Free disk space that paused and killed instances hold
#[derive(Debug, Args)]
pub(super) struct GcArgs {
    /// Only show what would be done
    #[arg(long)]
    pub dry_run: bool,
}

pub(super) fn run(args: &GcArgs, engine: &Engine, output: &Output) -> CommandResult {
    let collection = engine.gc(args.dry_run)?;
    let json = json!({
        "dry_run": args.dry_run,
        "collected": collection.collected,
        "put_away": collection.put_away,
        "checkouts": collection.checkouts,
        "kept_checkouts": collection.kept_checkouts,
        "failed": collection.failed,
    });
    let describe = || describe_all(&collection, args.dry_run);
    let written = if args.dry_run {
        output.result(&json, describe)
    } else {
        output.done(&json, describe)
    };
    for failed in &collection.failed {
        output.say(&format!("{}: {}", failed.what, failed.error));
    }
    if collection.failed.is_empty() {
        Ok(written)
    } else {
        Ok(ExitCode::FAILURE)
    }
}

fn describe_all(collection: &Collection, dry_run: bool) -> String {
    let lines = collection.collected.iter();
    let mut lines: Vec<String> = lines
        .map(|collected| describe(collected, dry_run))
        .collect();
    let checkouts = collection.checkouts.iter();
    lines.extend(checkouts.map(|freed| describe_checkout(freed, dry_run)));
    if lines.is_empty() && collection.failed.is_empty() {
        lines.push("Nothing is old enough to be deleted.".to_owned());
    }
    let of_checks = collection.checkouts.iter().map(|one| one.freed_bytes);
    let collected = collection.collected.iter().map(|one| one.freed_bytes);
    let freed: u64 = collected.chain(of_checks).sum();
    if lines.len() > 1 && freed > 0 {
        let word = if dry_run { "To be freed" } else { "Freed" };
        lines.push(format!("{word}: {}", shown_bytes(freed)));
    }
    if let Some(PutAway { worktrees, bytes }) = collection.put_away.filter(|away| away.bytes > 0) {
        let noun = if worktrees == 1 {
            "worktree"
        } else {
            "worktrees"
        };
        let size = shown_bytes(bytes);
        lines.push(format!("Put away now: {worktrees} {noun}, {size}"));
    }
    if let Some(kept) = collection.kept_checkouts.filter(|kept| kept.bytes > 0) {
        let noun = if kept.worktrees == 1 {
            "checkout"
        } else {
            "checkouts"
        };
        let (number, size) = (kept.worktrees, shown_bytes(kept.bytes));
        lines.push(format!(
            "Kept for the checks of landings: {number} {noun}, {size}"
        ));
    }
    lines.join("\n")
}

fn describe_checkout(freed: &FreedCheckout, dry_run: bool) -> String {
    let of = match (&freed.repository, &freed.target) {
        (Some(repository), Some(target)) => {
            let repository = printable_line(&repository.to_string_lossy());
            format!("the checks on {target} of {repository}")
        }
        _ => "checks".to_owned(),
    };
    let path = printable_line(&freed.path.to_string_lossy());
    let word = if dry_run { "to be freed" } else { "freed" };
    let size = shown_bytes(freed.freed_bytes);
    // Writing into a string cannot fail.
    let mut text = format!("delete  the checkout for {of}: {path} ({size} {word})");
    for left in &freed.left {
        let path = printable_line(&left.path);
        write!(text, "\n        not freed: {path} ({})", left.why).ok();
    }
    text
}

fn describe(collected: &Collected, dry_run: bool) -> String {
    let action = match collected.action {
        CollectAction::Thin => "thin",
        CollectAction::Forget => "forget",
        CollectAction::Drop => "drop",
    };
    let title = collected
        .title
        .as_ref()
        .map_or_else(|| collected.instance.to_string(), ToString::to_string);
    // Writing into a string cannot fail.
    let mut text = format!("{action:<7} {title}: {}", collected.what);
    if collected.freed_bytes > 0 {
        let freed = if dry_run { "to be freed" } else { "freed" };
        write!(text, " ({} {freed})", shown_bytes(collected.freed_bytes)).ok();
    }
    for path in &collected.dropped {
        write!(text, "\n        deleted: {}", printable_line(path)).ok();
    }
    for left in &collected.left {
        let path = printable_line(&left.path);
        write!(text, "\n        not freed: {path} ({})", left.why).ok();
    }
    text
}
