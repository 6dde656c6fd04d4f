//! `biv queue`

use std::fmt::Write;

use clap::Args;

use super::context::CommandResult;
use super::daemon::ensure;
use super::instance::InstanceArg;
use super::output::Output;
use super::prompt;
use super::words::{DIM, RESET, shown_queue};
use crate::engine::{Engine, QueueView};
use crate::model::{QueueState, printable_line};

/// How many characters of a prompt are shown.
const SHOWN: usize = 70;

/// Queue prompts that are sent one turn after another
#[derive(Debug, Args)]
pub(super) struct QueueArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// Prompts to put at the end, or `-` to read one from standard input
    #[arg(value_name = "PROMPT", allow_hyphen_values = true)]
    pub prompts: Vec<String>,
    /// Remove waiting prompts, and let a stopped queue continue
    #[arg(long)]
    pub clear: bool,
}

pub(super) fn run(args: &QueueArgs, engine: &Engine, output: &Output) -> CommandResult {
    let given = &args.instance.instance;
    let mut view = None;
    if args.clear {
        view = Some(engine.clear_queue(given)?);
    }
    if !args.prompts.is_empty() {
        let prompts = args
            .prompts
            .iter()
            .map(|prompt| prompt::given(prompt))
            .collect::<Result<_, _>>()?;
        view = Some(engine.enqueue(given, prompts)?);
        // Only the daemon sends queued prompts.
        ensure(engine, output);
    }
    let view = match view {
        Some(view) => view,
        None => engine.queue(given)?,
    };
    if let Some(camp) = view.camp {
        super::camp::mention(camp, output);
    }
    if args.clear || !args.prompts.is_empty() {
        return Ok(output.done(&view, || describe(&view)));
    }
    Ok(output.result(&view, || describe(&view)))
}

fn describe(view: &QueueView) -> String {
    if view.entries.is_empty() {
        return format!("Nothing is queued for `{}`.", view.title);
    }
    let mut text = shown_queue(view.counts);
    text.push('\n');
    for entry in &view.entries {
        let mark = match entry.state {
            QueueState::Done => "✓",
            QueueState::Sending | QueueState::Running => "●",
            QueueState::Waiting => "○",
            QueueState::Failed => "✗",
        };
        let prompt: String = printable_line(&entry.prompt).chars().take(SHOWN).collect();
        // Writing into a string cannot fail.
        writeln!(text, "  {mark} {:>3}  {prompt}", entry.number).ok();
        if let Some(error) = &entry.error {
            writeln!(text, "         {DIM}{}{RESET}", printable_line(error)).ok();
        }
    }
    if let Some(reason) = &view.stopped {
        writeln!(
            text,
            "It has stopped: {}. Add a prompt or clear the queue to continue.",
            printable_line(reason)
        )
        .ok();
    }
    text
}
