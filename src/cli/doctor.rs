//! `biv doctor`

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::context::{CommandResult, engine};
use super::output::Output;
use super::report::Report;
use crate::engine::{Finding, Health};

/// Check what biv depends on and owns
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Repair what can be repaired without risk
    #[arg(long)]
    pub fix: bool,
    /// Write what a bug report needs to FILE, without titles, prompts, paths and secrets
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
}

pub(super) fn run(args: &DoctorArgs, output: &Output) -> CommandResult {
    // A configuration that cannot be read is a finding; the other checks still run.
    let findings = match engine().and_then(|engine| engine.doctor(args.fix)) {
        Ok(findings) => findings,
        Err(error) => {
            let report = Report::from(error);
            let hint = report.hints.first().cloned().unwrap_or_default();
            vec![Finding::bad(
                "configuration",
                Health::Problem,
                report.message,
                hint,
            )]
        }
    };
    if let Some(file) = &args.bundle {
        return write_bundle(file, &findings, output);
    }
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

fn write_bundle(file: &Path, findings: &[Finding], output: &Output) -> CommandResult {
    let text = engine()?.bundle(findings)?;
    let mut options = std::fs::OpenOptions::new();
    // Never overwrites an existing file.
    options.write(true).create_new(true).mode(0o600);
    options
        .open(file)
        .and_then(|mut new| new.write_all(text.as_bytes()))
        .map_err(|error| {
            Report::failed(
                "bundle",
                format!("{} cannot be written: {error}", file.display()),
                "give the name of a new file in a directory that you can write to",
            )
        })?;
    Ok(output.done(&json!({ "bundle": file }), || {
        format!("Wrote {}. Read it before you send it.", file.display())
    }))
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
