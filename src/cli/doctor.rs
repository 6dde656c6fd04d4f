//! `biv doctor`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::context::{CommandResult, engine};
use super::output::Output;
use crate::engine::{Finding, Health};

/// Check what biv depends on and owns
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Mend what can be mended without risk
    #[arg(long)]
    pub fix: bool,
}

pub(super) fn run(args: &DoctorArgs, output: &Output) -> CommandResult {
    // A configuration that cannot be read is a finding, not the end of the examination.
    let findings = match engine().and_then(|engine| engine.doctor(args.fix)) {
        Ok(findings) => findings,
        Err(error) => {
            let report = super::report::Report::from(error);
            let hint = report.hints.first().cloned().unwrap_or_default();
            vec![Finding::bad(
                "configuration",
                Health::Problem,
                report.message,
                hint,
            )]
        }
    };
    let healthy = findings
        .iter()
        .all(|finding| finding.health != Health::Problem || finding.mended);
    output.result(&json!({ "healthy": healthy, "findings": findings }), || {
        findings.iter().map(describe).collect::<Vec<_>>().join("\n")
    });
    Ok(if healthy {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn describe(finding: &Finding) -> String {
    let mark = match (finding.health, finding.mended) {
        (_, true) => "\x1b[32m✓ mended\x1b[0m",
        (Health::Good, _) => "\x1b[32m✓\x1b[0m",
        (Health::Warning, _) => "\x1b[33m!\x1b[0m",
        (Health::Problem, _) => "\x1b[31m✗\x1b[0m",
    };
    let mut text = format!("{mark} {}: {}", finding.check, finding.what);
    if let Some(hint) = finding.hint.as_ref().filter(|_| !finding.mended) {
        text.push_str("\n    hint: ");
        text.push_str(hint);
    }
    text
}
