//! `biv demo`

use clap::Args;

use super::main::CommandResult;
use super::output::Output;
use super::report::Report;

/// See the whole cycle in a throw-away repository, without account or network
#[derive(Debug, Args)]
pub(super) struct DemoArgs {}

pub(super) fn run(_: &DemoArgs, _: &Output) -> CommandResult {
    Err(Report::usage("not yet", "wait"))
}
