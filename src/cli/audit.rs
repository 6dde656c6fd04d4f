//! `biv audit`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use crate::engine::{AuditLine, Engine};
use crate::model::printable_line;

/// Show what autoyes has decided, and why
///
/// Each line of the log holds a hash of the one before it, which finds accidental damage: a line
/// that was edited, cut off or lost. Then the exit status is 1. It does not protect the log against
/// a program that means to change it.
#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// Only decisions on this instance
    pub instance: Option<String>,
}

pub(super) fn run(args: &AuditArgs, engine: &Engine, output: &Output) -> CommandResult {
    let audit = engine.audit(args.instance.as_deref())?;
    let json = json!({
        "entries": audit.lines,
        "intact": audit.broken_at.is_none(),
        "broken_at": audit.broken_at,
    });
    let status = output.result(&json, || {
        let mut lines: Vec<String> = audit.lines.iter().map(describe).collect();
        if let Some(line) = audit.broken_at {
            lines.push(format!(
                "the log is damaged at line {line} or before it: a line was edited, cut off or lost"
            ));
        }
        if lines.is_empty() {
            lines.push("Nothing was decided yet.".to_owned());
        }
        lines.join("\n")
    });
    Ok(if audit.broken_at.is_none() {
        status
    } else {
        ExitCode::FAILURE
    })
}

fn describe(line: &AuditLine) -> String {
    let entry = &line.entry;
    let about = entry
        .command
        .clone()
        .unwrap_or_else(|| entry.paths.join(", "));
    format!(
        "{} {} {:<7} {:<8} {}{} ({})",
        entry.at.local_second(),
        entry.title,
        entry.decision,
        entry.outcome,
        entry
            .tool
            .as_deref()
            .map(|tool| format!("{tool}: "))
            .unwrap_or_default(),
        printable_line(&about),
        entry.rule.as_deref().unwrap_or(&entry.reason),
    )
}
