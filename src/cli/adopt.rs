//! `biv adopt`

use std::path::PathBuf;

use clap::Args;

use super::context::CommandResult;
use super::new::{StartArgs, announce};
use super::output::Output;
use super::progress::StepLine;
use crate::engine::{Adoption, Engine};

/// Start an agent in an existing worktree
#[derive(Debug, Args)]
pub(super) struct AdoptArgs {
    /// The worktree, created by you or by another tool
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The title
    pub title: Option<String>,
    #[command(flatten)]
    pub start: StartArgs,
    /// The base that changes are counted against [default: new.base]
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
}

pub(super) fn run(args: AdoptArgs, engine: &Engine, output: &Output) -> CommandResult {
    let attach = args.start.attach;
    let shown = args.title.clone().unwrap_or_else(|| "adopt".to_owned());
    let mut instance = args
        .start
        .into_instance(args.title, args.directory.clone())?;
    instance.base = args.base;
    let mut progress = StepLine::new(output, &shown);
    let adoption = Adoption {
        directory: args.directory,
        instance,
    };
    let view = engine.adopt(adoption, &mut progress)?;
    drop(progress);
    announce(&view, attach, engine, output)
}
