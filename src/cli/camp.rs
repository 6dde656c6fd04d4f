//! `biv pause --all` and `biv resume --all`

use super::context::CommandResult;
use super::daemon::ensure_for;
use super::output::Output;
use super::report::Report;
use crate::engine::{Camp, Engine, PauseOptions, ResumeOptions};

pub(super) fn pause_all(options: &PauseOptions, engine: &Engine, output: &Output) -> CommandResult {
    let camp = engine.pause_all(options)?;
    tell(&camp, "paused", output)
}

pub(super) fn resume_all(
    options: &ResumeOptions,
    engine: &Engine,
    output: &Output,
) -> CommandResult {
    let camp = engine.resume_all(options)?;
    for view in &camp.instances {
        ensure_for(view, engine, output);
    }
    tell(&camp, "running", output)
}

fn tell(camp: &Camp, state: &str, output: &Output) -> CommandResult {
    if camp.already {
        output.say(&format!("The camp is {state} already."));
    }
    for view in &camp.instances {
        output.say(&format!("`{}` is {}", view.title, view.state.name()));
    }
    if let Some(report) = Report::not_all(camp, state) {
        return Err(report);
    }
    Ok(output.result(camp, String::new))
}
