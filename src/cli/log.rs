//! `biv log`

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::context::CommandResult;
use super::output::Output;
use super::words::{BOLD, DIM, RESET};
use crate::engine::{ConversationEntry, Engine, Log, LogFrom, Speaker};
use crate::model::printable;

/// How often the conversation is read while following.
const PROBE: Duration = Duration::from_millis(300);
/// How many lines of a tool's output are shown without `-v`.
const SHOWN_OUTPUT: usize = 10;

/// Show the conversation of an instance
#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Title, id, or a unique prefix of either; killed ones too
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
    /// Keep printing new entries
    #[arg(short, long)]
    pub follow: bool,
    /// Only the last N entries
    #[arg(short = 'n', long, value_name = "N")]
    pub last: Option<usize>,
}

pub(super) fn run(args: &LogArgs, engine: &Engine, output: &Output) -> CommandResult {
    let from = args.last.map_or(LogFrom::Start, LogFrom::Last);
    let mut log = engine.log(&args.instance, from)?;
    let mut last_goes = false;
    loop {
        if let Some(stale) = log.take_stale() {
            output.say(&format!("this may not be all: {stale}"));
        }
        if let Some(end) = print_all(&mut log, output)? {
            return Ok(end);
        }
        if !args.follow || last_goes {
            break;
        }
        std::thread::sleep(PROBE);
        last_goes = !log.refresh()?;
    }
    if log.skipped() > 0 {
        output.say(&format!("{} lines could not be read", log.skipped()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints all entries so far; an exit status if standard output was closed.
pub(super) fn print_all(
    log: &mut Log<'_>,
    output: &Output,
) -> Result<Option<ExitCode>, super::report::Report> {
    loop {
        let entries = log.next()?;
        if entries.is_empty() {
            return Ok(None);
        }
        let text: String = entries.iter().map(|entry| line(entry, output)).collect();
        if let Some(end) = output.stream(&text) {
            return Ok(Some(end));
        }
    }
}

fn line(entry: &ConversationEntry, output: &Output) -> String {
    if output.wants_json() {
        let mut line = serde_json::to_string(entry).unwrap_or_default();
        line.push('\n');
        return line;
    }
    let lines = if output.is_verbose() {
        usize::MAX
    } else {
        SHOWN_OUTPUT
    };
    describe_entry(entry, lines)
}

pub(super) fn speaker_name(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::User => "you",
        Speaker::Assistant => "agent",
        Speaker::System => "note",
        Speaker::Tool => "tool",
    }
}

/// An entry as text: time and speaker, and below it the indented content.
fn describe_entry(entry: &ConversationEntry, shown: usize) -> String {
    let who = match entry.speaker {
        Speaker::User if entry.text("source") == Some("biv") => "you (biv send)".to_owned(),
        Speaker::User | Speaker::Assistant => speaker_name(entry.speaker).to_owned(),
        Speaker::System if entry.is_summary() => "summary".to_owned(),
        Speaker::System => speaker_name(entry.speaker).to_owned(),
        Speaker::Tool => entry.tool_line(),
    };
    let failed = if entry.has_failed() { " (failed)" } else { "" };
    let mut text = format!(
        "{DIM}{}{RESET} {BOLD}{who}{RESET}{failed}\n",
        entry.timestamp.local_second()
    );
    let content = printable(entry.content.trim_end());
    // The subject of a tool is in the heading.
    let repeated = entry
        .text("subject")
        .is_some_and(|subject| subject == entry.content);
    if !repeated {
        let limit = if entry.speaker == Speaker::Tool {
            shown
        } else {
            usize::MAX
        };
        let lines: Vec<&str> = content.lines().collect();
        for line in lines.iter().take(limit) {
            // Writing into a string cannot fail.
            writeln!(text, "    {line}").ok();
        }
        if let Some(more) = lines.len().checked_sub(limit).filter(|more| *more > 0) {
            writeln!(text, "    {DIM}… +{more} lines{RESET}").ok();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    #[test]
    fn what_a_transcript_holds_cannot_steer_the_terminal() {
        let at = Timestamp::from_epoch(1_800_000_000).unwrap();
        let hostile = "a\x1b]0;pwned\x07\u{202e}b\r\nc";
        let entry = ConversationEntry::new(at, Speaker::Tool, hostile)
            .with("tool", hostile)
            .with("subject", hostile);
        for entry in [
            entry.clone(),
            ConversationEntry {
                speaker: Speaker::User,
                ..entry
            },
        ] {
            let text = describe_entry(&entry.with("subject", "x\x1b[2J"), 1);
            let text = text.replace(DIM, "").replace(BOLD, "").replace(RESET, "");
            assert!(
                !text.contains(['\x1b', '\x07', '\r', '\u{202e}']),
                "{text:?}"
            );
        }
    }

    #[test]
    fn long_outputs_are_shortened_and_words_are_not() {
        let at = Timestamp::from_epoch(1_800_000_000).unwrap();
        let many = "line\n".repeat(20);
        let lines = |speaker| {
            describe_entry(&ConversationEntry::new(at, speaker, many.clone()), 3)
                .lines()
                .count()
        };
        assert_eq!(lines(Speaker::Tool), 5);
        assert_eq!(lines(Speaker::Assistant), 21);
    }
}
