//! `biv review`

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::context::CommandResult;
use super::daemon::{ensure, ensure_if_asleep};
use super::instance::InstanceArg;
use super::output::Output;
use super::progress::StepLine;
use super::report::Report;
use super::ui;
use crate::engine::Engine;
use crate::tui::Opening;

/// More is no review of a person.
const LARGEST: u64 = 1 << 20;

/// Comment on lines of the changes, and send all as one prompt
///
/// Without a file the terminal UI opens at the diff of the instance.
#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// A file with comments (`FILE:LINE: TEXT`), or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}

pub(super) fn run(args: &ReviewArgs, engine: &Engine, output: &Output) -> CommandResult {
    let given = &args.instance.instance;
    let Some(from) = &args.from else {
        if output.wants_json() || !is_terminal() {
            return Err(Report::usage(
                "a review in the UI needs a terminal",
                "`--from FILE` sends the comments of a file, `--from -` those of standard input",
            ));
        }
        return ui::open(output, Opening::Review(engine.review(given)?.instance));
    };
    let text = read(from)?;
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

fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
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
