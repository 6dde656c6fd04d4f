//! `biv seal`

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::aside;
use super::context::CommandResult;
use super::new::current_dir;
use super::output::Output;
use crate::engine::{Engine, SealTrial};

/// Try what a sealed agent could do
#[derive(Debug, Args)]
pub(super) struct SealArgs {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Run a command in the seal of this directory and say what was refused
    ///
    /// The exit status is that of the command. Refused connections are listed. A file that is refused
    /// is known to the command alone, which reports `Permission denied` or `No such file`.
    Try(TryArgs),
}

#[derive(Debug, Args)]
pub(super) struct TryArgs {
    /// Grant the files and hosts of this agent too [default: that of the instance of the worktree]
    #[arg(short, long)]
    pub agent: Option<String>,
    /// The worktree, or any directory [default: the current one]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<String>,
}

pub(super) fn run(args: &SealArgs, engine: &Engine, output: &Output) -> CommandResult {
    let Action::Try(asked) = &args.action;
    let here = current_dir()?;
    let directory = asked
        .dir
        .as_ref()
        .map_or(here.clone(), |dir| here.join(dir));
    let tried = aside::foreground(output, || {
        engine.try_seal(&SealTrial {
            directory: &directory,
            command: &asked.command,
            agent: asked.agent.as_deref(),
        })
    })?;
    if output.wants_json() {
        output.result(&tried, String::new);
        return Ok(tried.status);
    }
    for denied in &tried.denied {
        output.say(&format!("refused: a connection to {denied} (seal.hosts)"));
    }
    if let Some(why) = &tried.branch {
        output.say(&format!("read-only: {why}"));
    }
    for layer in &tried.missing {
        output.say(&format!("missing: {} ({})", layer.name(), layer.without()));
    }
    Ok(tried.status)
}
