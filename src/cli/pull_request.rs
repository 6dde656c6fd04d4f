//! `biv pr`

use clap::Args;

use super::context::CommandResult;
use super::daemon::ensure;
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
    /// Queue a prompt for each failed check and each review comment
    #[arg(long)]
    pub watch: bool,
    /// Stop watching; nothing is pushed or opened
    #[arg(long, conflicts_with_all = ["watch", "draft", "fill"])]
    pub no_watch: bool,
}

pub(super) fn run(args: &PullRequestArgs, engine: &Engine, output: &Output) -> CommandResult {
    let options = PullRequestOptions {
        draft: args.draft,
        fill: args.fill,
        watch: args.watch,
    };
    let given = &args.instance.instance;
    if args.no_watch {
        let view = engine.unwatch_pull_request(given)?;
        return Ok(output.done(&view, || {
            format!(
                "The pull request of `{}` is not watched any more.",
                view.title
            )
        }));
    }
    let view = engine.pull_request(given, options)?;
    if view.watched {
        // Only the daemon asks the forge, and sends queued prompts.
        ensure(engine, output);
    }
    Ok(output.done(&view, || {
        let url = view.url.as_deref().map(printable_line);
        match (view.opened, url) {
            (true, url) => {
                let verb = if view.existing {
                    "There is one"
                } else {
                    "Opened"
                };
                let watched = if view.watched {
                    "\nFailed checks and review comments become prompts."
                } else {
                    ""
                };
                let url = url.unwrap_or_default();
                format!("{verb} for `{}`: {url}{watched}", view.title)
            }
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
