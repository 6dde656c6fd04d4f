//! `biv audit`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use crate::engine::{AuditLine, Engine};
use crate::model::printable_line;

/// Show what autoyes has decided, and why
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
                "the log was changed: line {line} does not follow from the one before it"
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
