//! `biv search`

use clap::Args;

use super::context::CommandResult;
use super::log::speaker_name;
use super::output::Output;
use super::report::Report;
use super::ui;
use super::words::{BOLD, DIM, RESET};
use crate::engine::{Engine, SearchResult};
use crate::model::State;
use crate::tui::Opening;

/// Find words in all conversations, also of killed instances
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// An entry matches if it has all of them, in any order and case
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,
    /// The newest N matches
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub last: usize,
    /// Show them in the UI, where Enter opens the conversation at that place
    #[arg(long, conflicts_with = "last")]
    pub ui: bool,
}

pub(super) fn run(args: &SearchArgs, engine: &Engine, output: &Output) -> CommandResult {
    if args.words.iter().all(|word| word.trim().is_empty()) {
        return Err(Report::usage(
            "there is nothing to search for",
            "give one or more words",
        ));
    }
    if args.ui {
        return ui::open(output, Opening::Search(args.words.join(" ")));
    }
    let result = engine.search(&args.words, args.last)?;
    for unreadable in &result.unreadable {
        output.say(&format!("not searched: {unreadable}"));
    }
    Ok(output.result(&result, || described(&result)))
}

fn described(result: &SearchResult) -> String {
    if result.matches.is_empty() {
        return "Nothing was found.".to_owned();
    }
    let mut lines: Vec<String> = result
        .matches
        .iter()
        .map(|found| {
            let killed = match found.state {
                State::Killed => " (killed)",
                _ => "",
            };
            format!(
                "{DIM}{}{RESET} {BOLD}{}{RESET}{killed} turn {}, {}: {}",
                found.timestamp.local_minute(),
                found.title,
                found.turn,
                speaker_name(found.speaker),
                found.line
            )
        })
        .collect();
    if result.left_out > 0 {
        lines.push(format!(
            "{} older matches are not shown; `-n` shows more",
            result.left_out
        ));
    }
    lines.join("\n")
}
