//! `biv compact`

use clap::Args;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use super::words;
use crate::engine::{Compaction, Engine};

/// Summarise the older part of a conversation
///
/// The last entries stay as they are (`compact.keep`), and nothing is lost: the summarised entries stay
/// in an archive beside the conversation.
#[derive(Debug, Args)]
pub(super) struct CompactArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
}

pub(super) fn run(args: &CompactArgs, engine: &Engine, output: &Output) -> CommandResult {
    let compaction = engine.compact(&args.instance.instance)?;
    if let Some(note) = &compaction.note {
        output.say(&format!("{note}; the built-in summary was used instead"));
    }
    Ok(output.done(&compaction, || describe(&compaction)))
}

fn describe(compaction: &Compaction) -> String {
    let keep = compaction.keep;
    match &compaction.archive {
        None => format!("Nothing to sum up: the last {keep} entries always stay."),
        Some(archive) => format!(
            "Summed up {} entries; the last {keep} stay. The whole of it is in {}",
            compaction.summarised,
            words::tilde(archive)
        ),
    }
}
