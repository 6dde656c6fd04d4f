//! `biv search`

use clap::Args;

use super::context::CommandResult;
use super::log::speaker_name;
use super::output::Output;
use super::report::Report;
use super::table::terminal_width;
use super::ui;
use super::words::{BOLD, DIM, RESET};
use crate::engine::{Engine, SearchMatch, SearchResult};
use crate::model::{State, columns, cut_around};
use crate::tui::Opening;

/// What is shown of a line at least, however narrow the terminal is.
const NARROWEST: usize = 30;

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
    let width = terminal_width();
    let shown = |found| match_line(found, width);
    let mut lines: Vec<String> = result.matches.iter().map(shown).collect();
    if result.left_out > 0 {
        lines.push(format!(
            "{} older matches are not shown; `-n` shows more",
            result.left_out
        ));
    }
    lines.join("\n")
}

/// One match on one row of a terminal: agents write a paragraph as one line. Whole where there is no terminal.
fn match_line(found: &SearchMatch, width: Option<usize>) -> String {
    let when = found.timestamp.local_minute();
    let title = &found.title;
    let killed = match found.state {
        State::Killed => " (killed)",
        _ => "",
    };
    let said = format!("turn {}, {}: ", found.turn, speaker_name(found.speaker));
    let line = match width {
        Some(width) => {
            let taken = columns(&format!("{when} {title}{killed} {said}"));
            let room = width.saturating_sub(taken).max(NARROWEST);
            &cut_around(&found.line, found.column, room)
        }
        None => &found.line,
    };
    format!("{DIM}{when}{RESET} {BOLD}{title}{RESET}{killed} {said}{line}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Speaker;
    use crate::model::{InstanceId, Timestamp, Title};

    #[test]
    fn a_terminal_shows_the_words_though_they_stand_far_in_a_paragraph() {
        let line = format!("{}the tent is up. And so on.", "word ".repeat(100));
        let found = SearchMatch {
            id: InstanceId::random(),
            title: Title::new("one").unwrap(),
            state: State::Killed,
            turn: 3,
            timestamp: Timestamp::from_epoch(1_000).unwrap(),
            speaker: Speaker::Assistant,
            column: line.find("tent").unwrap(),
            line: line.clone(),
        };
        for width in [80, 120] {
            let coloured = match_line(&found, Some(width));
            let shown = [DIM, BOLD, RESET]
                .iter()
                .fold(coloured, |text, code| text.replace(code, ""));
            assert!(columns(&shown) <= width, "{shown}");
            assert!(shown.contains("tent"), "{shown}");
        }
        assert!(match_line(&found, Some(10)).contains("tent"));
        assert!(match_line(&found, None).ends_with(&line));
    }
}
