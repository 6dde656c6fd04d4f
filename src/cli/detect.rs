//! `biv detect`

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::context::CommandResult;
use super::output::Output;
use super::report::Report;
use crate::engine::Engine;

/// Show how a captured screen is read, and by which rule
#[derive(Debug, Args)]
pub(super) struct DetectArgs {
    /// The agent whose screen it is
    #[arg(short, long)]
    pub agent: String,
    /// The pane's title
    #[arg(long, value_name = "PANE_TITLE")]
    pub title: Option<String>,
    /// A capture, plain or with colours; standard input if it is `-` or not given
    pub file: Option<PathBuf>,
}

pub(super) fn run(args: &DetectArgs, engine: &Engine, output: &Output) -> CommandResult {
    let capture = read_capture(args.file.as_deref())?;
    let verdict = engine.detect(&args.agent, &capture, args.title.as_deref())?;
    let json = json!({
        "activity": verdict.activity,
        "rule": verdict.rule,
        "dialog": verdict.dialog,
    });
    Ok(output.result(&json, || {
        let rule = verdict.rule.as_deref().unwrap_or("no rule matched");
        format!("{} ({rule})", verdict.activity.name())
    }))
}

pub(super) fn read_capture(file: Option<&std::path::Path>) -> Result<String, Report> {
    let mut bytes = Vec::new();
    let read = match file.filter(|file| file.as_os_str() != "-") {
        Some(file) => std::fs::read(file).map(|content| bytes = content),
        None => std::io::stdin().read_to_end(&mut bytes).map(|_| ()),
    };
    read.map_err(|error| {
        Report::failed(
            "no_capture",
            format!("the capture cannot be read: {error}"),
            "`tmux capture-pane -p` makes one",
        )
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
