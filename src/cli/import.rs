//! `biv import`

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use super::context::CommandResult;
use super::new::current_dir;
use super::output::Output;
use super::progress::StepLine;
use super::report::Report;
use super::words;
use crate::engine::{Arrived, Engine, ImportOptions, ImportReport};
use crate::model::printable_line;

/// Import an instance, or the sessions of another tool
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// A file that `biv export` wrote (`-`: standard input), or `claude-squad`; with --from the instance
    #[arg(value_name = "FILE|claude-squad", required_unless_present = "remote")]
    pub what: Option<PathBuf>,
    /// Where `biv export --to` has put it: a git remote, a directory, or a host
    #[arg(long = "from", value_name = "REMOTE")]
    pub remote: Option<String>,
    /// The repository that it arrives in [default: the one you are in]
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// Where its worktree will be [default: a place of this home]
    #[arg(long, value_name = "DIR")]
    pub at: Option<PathBuf>,
    /// Its title here [default: the one that it had]
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// The name of its branch here [default: the one that it had]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Accept repositories inside of its worktree, whose settings git follows
    #[arg(long)]
    pub with_nested: bool,
    /// The private key for an encrypted export [default: your own ssh key]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// claude-squad: its state file [default: its usual place]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// claude-squad: only show what would be imported
    #[arg(long)]
    pub dry_run: bool,
}

/// The tool whose sessions can be imported.
const CLAUDE_SQUAD: &str = "claude-squad";

impl ImportArgs {
    fn of_another_tool(&self) -> bool {
        self.remote.is_none() && self.what.as_ref().is_some_and(|what| what == CLAUDE_SQUAD)
    }

    /// Whether nothing is written.
    pub(super) fn only_looks(&self) -> bool {
        self.dry_run && self.of_another_tool()
    }
}

pub(super) fn run(args: &ImportArgs, engine: &Engine, output: &Output) -> CommandResult {
    if args.of_another_tool() {
        return run_claude_squad(args, engine, output);
    }
    if args.dry_run || args.file.is_some() {
        return Err(Report::usage(
            "--dry-run and --file go with `claude-squad` only",
            "`biv import FILE`",
        ));
    }
    let options = ImportOptions {
        repository: match &args.repo {
            Some(directory) => directory.clone(),
            None => current_dir()?,
        },
        at: args.at.clone(),
        title: args.title.clone(),
        branch: args.branch.clone(),
        nested: args.with_nested,
        key: args.key.clone(),
        id: None,
    };
    let mut progress = StepLine::new(output, "import");
    let arrived = match (&args.remote, &args.what) {
        (Some(remote), what) => {
            let remote = engine.remote_for_import(&options.repository, remote)?;
            let instance = what.as_ref().map(|what| what.to_string_lossy());
            engine.import_from(&remote, instance.as_deref(), &options, &mut progress)?
        }
        (None, Some(file)) => engine.import_file(file, &options, &mut progress)?,
        (None, None) => {
            return Err(Report::usage(
                "it is not said what is imported",
                "`biv import FILE`, or `biv import --from REMOTE`",
            ));
        }
    };
    drop(progress);
    Ok(output.done(&arrived, || arrival(&arrived)))
}

fn arrival(arrived: &Arrived) -> String {
    let view = &arrived.instance;
    let mut text = String::new();
    // Writing into a string cannot fail.
    for note in &arrived.notes {
        writeln!(text, "note: {}", printable_line(note)).ok();
    }
    writeln!(
        text,
        "Imported `{}`; it equals its manifest. Resume with: biv resume {}",
        view.title,
        words::called(view)
    )
    .ok();
    text
}

fn run_claude_squad(args: &ImportArgs, engine: &Engine, output: &Output) -> CommandResult {
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
