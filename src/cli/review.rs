//! `biv review`

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::context::CommandResult;
use super::daemon::{ensure, ensure_if_asleep};
use super::instance::InstanceArg;
use super::output::Output;
use super::progress::StepLine;
use super::report::Report;
use crate::engine::Engine;

/// More is no review of a person.
const LARGEST: u64 = 1 << 20;

/// Send review comments on lines, as one prompt
#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// A file with comments (`FILE:LINE: TEXT`), or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
}

pub(super) fn run(args: &ReviewArgs, engine: &Engine, output: &Output) -> CommandResult {
    let given = &args.instance.instance;
    let text = read(&args.from)?;
    ensure_if_asleep(given, engine, output);
    let mut progress = StepLine::new(output, given);
    let reviewed = engine.send_review_file(given, &text, &mut progress)?;
    drop(progress);
    for place in &reviewed.without_hunk {
        output.say(&format!(
            "{place} is not among the changes: sent without them"
        ));
    }
    if reviewed.queued {
        // Only the daemon sends queued prompts.
        ensure(engine, output);
        output.say(&format!(
            "`{given}` is busy: it gets the review next. `biv queue {given}` shows it"
        ));
    }
    Ok(output.result(&reviewed, String::new))
}

fn read(path: &Path) -> Result<String, Report> {
    let unreadable = |why: String| {
        Report::failed(
            "no_review",
            format!("the review {} cannot be read: {why}", path.display()),
            "give UTF-8 text of at most 1 MB, or `-` for standard input",
        )
    };
    let mut source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(|error| unreadable(error.to_string()))?)
    };
    let mut text = String::new();
    let read = source.by_ref().take(LARGEST + 1).read_to_string(&mut text);
    match read {
        Err(error) => Err(unreadable(error.to_string())),
        Ok(length) if length as u64 > LARGEST => Err(unreadable("it is too large".to_owned())),
        Ok(_) => Ok(text),
    }
}
