//! `biv pr`

use clap::Args;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use crate::engine::{Engine, PullRequestOptions};
use crate::model::printable_line;

/// Push the branch of an instance and open a pull request
#[derive(Debug, Args)]
pub(super) struct PullRequestArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// Open it as a draft
    #[arg(long)]
    pub draft: bool,
    /// Take title and text from the commits [default: from the prompt]
    #[arg(long)]
    pub fill: bool,
}

pub(super) fn run(args: &PullRequestArgs, engine: &Engine, output: &Output) -> CommandResult {
    let options = PullRequestOptions {
        draft: args.draft,
        fill: args.fill,
    };
    let view = engine.pull_request(&args.instance.instance, options)?;
    Ok(output.done(&view, || {
        let url = view.url.as_deref().map(printable_line);
        match (view.opened, url) {
            (true, url) => format!("Opened for `{}`: {}", view.title, url.unwrap_or_default()),
            (false, Some(url)) => format!(
                "Pushed {} to {}. Open the pull request at: {url}",
                view.branch, view.remote
            ),
            (false, None) => format!(
                "Pushed {} to {}. Neither `gh` nor `glab` is installed to open a pull request.",
                view.branch, view.remote
            ),
        }
    }))
}
