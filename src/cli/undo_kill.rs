//! `biv undo-kill`

use clap::Args;

use super::context::CommandResult;
use super::output::Output;
use super::words;
use crate::engine::{Engine, Restored};

/// Bring a killed instance back as paused
#[derive(Debug, Args)]
pub(super) struct UndoKillArgs {
    /// Title, id, or a unique prefix of either
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
}

pub(super) fn run(args: &UndoKillArgs, engine: &Engine, output: &Output) -> CommandResult {
    let Restored { view, formerly } = engine.undo_kill(&args.instance)?;
    if let Some(title) = formerly {
        output.say(&format!(
            "another instance is called `{title}` now; this one is called `{}`",
            view.title
        ));
    }
    Ok(output.done(&view, || {
        format!(
            "`{}` is back, paused. Go on with: biv resume {}",
            view.title,
            words::called(&view)
        )
    }))
}
