//! `biv import`

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::context::CommandResult;
use super::output::Output;
use super::progress::StepLine;
use super::words;
use crate::engine::{Engine, ImportReport};
use crate::model::printable_line;

/// Import the sessions of another tool
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The tool to import from
    #[arg(value_enum)]
    pub from: Source,
    /// Its state file [default: its usual place]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only show what would be imported
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Source {
    ClaudeSquad,
}

pub(super) fn run(args: &ImportArgs, engine: &Engine, output: &Output) -> CommandResult {
    let Source::ClaudeSquad = args.from;
    let mut progress = StepLine::new(output, "import");
    let report = engine.import_claude_squad(args.file.as_deref(), args.dry_run, &mut progress)?;
    drop(progress);
    let describe = || describe(&report, args.dry_run);
    Ok(if args.dry_run {
        output.result(&report, describe)
    } else {
        output.done(&report, describe)
    })
}

fn describe(report: &ImportReport, dry_run: bool) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    for view in &report.instances {
        writeln!(
            text,
            "Took over `{}`. Resume with: biv resume {}",
            view.title,
            words::called(view)
        )
        .ok();
    }
    for title in &report.could {
        writeln!(text, "Would take over `{}`.", printable_line(title)).ok();
    }
    for note in &report.notes {
        let title = printable_line(&note.title);
        writeln!(text, "note: `{title}`: {}", printable_line(&note.note)).ok();
    }
    for left in &report.left {
        let title = printable_line(&left.title);
        writeln!(text, "left: `{title}`: {}", printable_line(&left.reason)).ok();
    }
    if text.is_empty() {
        text.push_str(if dry_run {
            "There is nothing to take over.\n"
        } else {
            "There was nothing to take over.\n"
        });
    }
    text
}
