//! Mistakes in the command line, in the form of all errors: what is wrong, and a hint.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};

use super::common::{ColorWhen, Common};
use super::output::Output;
use super::prompt_words::command_at;
use super::report::Report;

/// Where clap would name `--help` alone.
const HELP: &str = "For more information, try";

/// Prints it, on standard output where that is to be JSON.
pub(super) fn print(
    mut error: clap::Error,
    command: &clap::Command,
    words: &[OsString],
) -> ExitCode {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && matches!(word.as_str(), "ui" | "tui")
    {
        let tip = vec!["`biv` without a command opens the terminal UI".into()];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tip));
    }
    let json = words.iter().any(|word| word == "--json");
    let output = Output::new(&Common {
        json,
        quiet: false,
        verbose: false,
        color: ColorWhen::Auto,
        via: None,
        columns: None,
    });
    let help = help_hint(command, words);
    if json {
        let text = error.render().to_string();
        let tip = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("tip: "));
        let hint = tip.unwrap_or(&help);
        return output.fail(&Report::usage(message(&text), hint));
    }
    let text = error.render().ansi().to_string();
    let text = text.find(HELP).map_or(text.as_str(), |at| &text[..at]);
    let text = text.replace("tip:", "hint:");
    output.say(&format!("{}\n  hint: {help}", text.trim_end()));
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// What is wrong, in one line: `the following required arguments were not provided: <PROMPT>`.
fn message(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let line = lines.join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

fn help_hint(command: &clap::Command, words: &[OsString]) -> String {
    let named = command_at(command, words).and_then(|at| words.get(at)?.to_str());
    match named.and_then(|name| command.find_subcommand(name)) {
        Some(sub) if !sub.is_hide_set() => {
            format!("`biv help {}` explains it, with examples", sub.get_name())
        }
        _ => "`biv --help` lists all commands".to_owned(),
    }
}
