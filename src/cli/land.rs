//! `biv land`, `biv undo-land`

use clap::Args;
use serde_json::json;

use super::bulk::ids;
use super::context::CommandResult;
use super::instance::InstanceArgs;
use super::interrupts::Interrupts;
use super::output::Output;
use super::progress::StepLine;
use super::report::Report;
use super::words;
use crate::engine::{Consent, Engine, LandHow, LandOptions, Landed, Unlanded, short_commit};

/// Bring finished work onto its base branch
#[derive(Debug, Args)]
pub(super) struct LandArgs {
    #[command(flatten)]
    pub instances: InstanceArgs,
    /// The branch to land on [default: `land.into`, else the base]
    #[arg(long, value_name = "BRANCH")]
    pub into: Option<String>,
    /// Merge, by fast-forward where possible (this is the default)
    #[arg(long, group = "how")]
    pub merge: bool,
    /// Land everything as one commit
    #[arg(long, group = "how")]
    pub squash: bool,
    /// Put each commit on top of the branch
    #[arg(long, group = "how")]
    pub rebase: bool,
    /// The message of the commit that is made
    #[arg(short, long, value_name = "MESSAGE")]
    pub message: Option<String>,
    /// Land uncommitted work too, as a commit
    #[arg(long, conflicts_with = "keep")]
    pub commit: bool,
    /// A command that the result must pass [default: `land.check` of the repository]
    #[arg(long, value_name = "COMMAND")]
    pub check: Option<String>,
    /// Agree to the repository's check, now and from now on
    #[arg(long, conflicts_with = "check")]
    pub trust_check: bool,
    /// Run no check
    #[arg(long, conflicts_with_all = ["check", "trust_check"])]
    pub no_check: bool,
    /// Do not run the repository's set-up before the check
    #[arg(long)]
    pub no_setup: bool,
    /// Run no commit hooks, although `land.hooks` says so
    #[arg(long)]
    pub no_hooks: bool,
    /// On a conflict or a failed check tell the agent, up to N times
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub fix: u32,
    /// Do not end the instance
    #[arg(long)]
    pub keep: bool,
    /// Delete the branch also after a squash of several commits
    #[arg(long, conflicts_with = "keep")]
    pub delete_branch: bool,
    /// Only say what would happen; no check runs
    #[arg(long)]
    pub dry_run: bool,
}

/// Take a landing back while the branch is still there
#[derive(Debug, Args)]
pub(super) struct UndoLandArgs {
    /// Title, id, or a unique prefix of either
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
}

pub(super) fn run(args: &LandArgs, engine: &Engine, output: &Output) -> CommandResult {
    let ids = ids(engine, &args.instances.instances)?;
    let options = options(args);
    let interrupts = Interrupts::unanswered();
    // A check may run for long; on Ctrl+C it is ended first.
    interrupts.answer_always();
    let shown = match args.instances.instances.as_slice() {
        [one] => one,
        // Each in its turn.
        _ => "land",
    };
    let mut progress = StepLine::new(output, shown).interrupted_by(&interrupts);
    let bulk = match args.dry_run {
        true => engine.try_land_each(&ids, &options, Landed::told, &mut progress)?,
        false => engine.land_each(&ids, &options, args.fix, Landed::told, &mut progress)?,
    };
    drop(progress);
    if let Some(report) = Report::of_landings(&bulk) {
        return Err(report);
    }
    Ok(output.result(&json!({ "landed": bulk.done }), String::new))
}

pub(super) fn undo(args: &UndoLandArgs, engine: &Engine, output: &Output) -> CommandResult {
    let mut progress = StepLine::new(output, &args.instance);
    let undone: Unlanded = engine.undo_land(&args.instance, &mut progress)?;
    drop(progress);
    Ok(output.done(&undone, || {
        format!(
            "`{}` is at {} again; `{}` is {}.",
            undone.target,
            short_commit(&undone.commit),
            undone.instance.title,
            words::shown_state(&undone.instance, words::now())
        )
    }))
}

fn options(args: &LandArgs) -> LandOptions {
    let how = match (args.squash, args.rebase) {
        (true, _) => LandHow::Squash,
        (_, true) => LandHow::Rebase,
        _ => LandHow::Merge,
    };
    let check_consent = match (args.trust_check, args.no_check) {
        (true, _) => Consent::Given,
        (_, true) => Consent::Refused,
        _ => Consent::AsBefore,
    };
    LandOptions {
        into: args.into.clone(),
        how,
        message: args.message.clone(),
        commit: args.commit,
        check: args.check.clone(),
        check_consent,
        setup_consent: if args.no_setup {
            Consent::Refused
        } else {
            Consent::AsBefore
        },
        no_hooks: args.no_hooks,
        keep: args.keep,
        delete_branch: args.delete_branch,
    }
}
