//! `biv` without a command: the terminal UI

use std::process::ExitCode;

use super::context::{CommandResult, engine};
use super::new::current_dir;
use super::output::Output;
use super::report::Report;
use crate::tui::{self, Opening};

pub(super) fn run(output: &Output) -> CommandResult {
    open(output, Opening::List)
}

/// Opens the UI, with this first.
pub(super) fn open(output: &Output, opening: Opening) -> CommandResult {
    if output.wants_json() {
        return Err(Report::usage(
            "the terminal UI has nothing to say in JSON",
            "`biv list --json` lists your instances",
        ));
    }
    let options = tui::Options {
        directory: current_dir()?,
        no_color: !output.is_coloured(),
        opening,
    };
    let ending = tui::run(engine()?, options)?;
    if let Some(words) = ending.under_way() {
        output.say(&words);
        ending.finish();
    } else if let Some(signal) = ending.signal() {
        return Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)));
    }
    Ok(ExitCode::SUCCESS)
}
