//! `biv resume`

use clap::Args;
use serde_json::json;

use super::bulk::{All, end_changes, selected};
use super::context::CommandResult;
use super::daemon::ensure_for;
use super::instance::SomeInstances;
use super::output::Output;
use super::progress::{CountLine, StepLine};
use super::words;
use crate::engine::{Bulk, Engine, OnConflict, PromptOnResume, ResumeOptions, StateChange};
use crate::model::InstanceId;

/// Bring a paused instance back exactly as it was
#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    pub instances: SomeInstances,
    /// A prompt for the agent after it is resumed
    #[arg(long, conflicts_with = "no_prompt")]
    pub prompt: Option<String>,
    /// Send no prompt [default: resume.prompt]
    #[arg(long)]
    pub no_prompt: bool,
    /// What to do if the saved work conflicts with new commits of the branch
    #[arg(long, value_name = "HOW", value_enum, default_value = "stop")]
    pub on_conflict: HowOnConflict,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum HowOnConflict {
    /// Change nothing and list the paths (exit status 6)
    Stop,
    /// Restore the saved work on its old commit, on a new branch BRANCH-kept
    Keep,
    /// Write conflict markers; files in the way are renamed, and the new names are printed
    Markers,
}

pub(super) fn run(args: &ResumeArgs, engine: &Engine, output: &Output) -> CommandResult {
    let options = ResumeOptions {
        prompt: match (&args.prompt, args.no_prompt) {
            (Some(prompt), _) => PromptOnResume::This(prompt.clone()),
            (None, true) => PromptOnResume::Nothing,
            (None, false) => PromptOnResume::AsConfigured,
        },
        on_conflict: match args.on_conflict {
            HowOnConflict::Stop => OnConflict::Stop,
            HowOnConflict::Keep => OnConflict::Keep,
            HowOnConflict::Markers => OnConflict::Markers,
        },
    };
    if args.instances.group.all {
        return super::camp::resume_all(&options, engine, output);
    }
    let bulk = match args.instances.instances.as_slice() {
        [given] => {
            let mut progress = StepLine::new(output, given);
            Bulk::of(engine.resume(given, &options, &mut progress)?)
        }
        several => {
            let group = &args.instances.group;
            let meant = selected(engine, several, group, All::Living, output)?;
            let ids: Vec<InstanceId> = meant.into_iter().map(|(id, _)| id).collect();
            engine.resume_each(&ids, &options, &mut CountLine::new(output, "resumed"))
        }
    };
    let mut resumed = Vec::new();
    for asked in &bulk.done {
        let title = &asked.view().title;
        ensure_for(asked.view(), engine, output);
        match asked {
            StateChange::Done(view) => {
                let cut = view.cut_turn().map(|cut| format!("; {cut}"));
                output.say(&format!(
                    "Resumed `{title}`{}. Attach with: biv attach {}",
                    cut.unwrap_or_default(),
                    words::called(view)
                ));
            }
            StateChange::Already(_) => output.say(&format!("`{title}` is running already.")),
        }
        resumed.push(match asked {
            StateChange::Done(view) if output.wants_json() => engine.show(view.id.as_str())?,
            asked => asked.view().clone(),
        });
    }
    end_changes(&bulk, "resumed", "running", output)?;
    Ok(output.result(&json!({ "instances": resumed }), String::new))
}
