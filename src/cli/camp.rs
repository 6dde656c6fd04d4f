//! `biv pause --all` and `biv resume --all`

use super::context::CommandResult;
use super::daemon::ensure_for;
use super::output::Output;
use super::progress::CountLine;
use super::report::Report;
use super::words;
use super::words::camp_is_paused;
use crate::engine::{Camp, CampView, Engine, PauseOptions, ResumeOptions};
use crate::model::State;

pub(super) fn pause_all(options: &PauseOptions, engine: &Engine, output: &Output) -> CommandResult {
    let camp = engine.pause_all(options, &mut CountLine::new(output, "paused"))?;
    for view in &camp.instances {
        if view.pause.as_ref().is_some_and(|pause| pause.forced) {
            output.say(&format!(
                "warning: `{}` was stopped in the middle of its turn",
                view.title
            ));
        }
    }
    tell(&camp, ("paused", "paused"), output)
}

pub(super) fn resume_all(
    options: &ResumeOptions,
    engine: &Engine,
    output: &Output,
) -> CommandResult {
    let camp = engine.resume_all(options, &mut CountLine::new(output, "resumed"))?;
    for view in &camp.instances {
        ensure_for(view, engine, output);
    }
    let told = tell(&camp, ("running", "resumed"), output)?;
    let listed = engine.list_briefly()?.instances;
    let left = listed.iter().filter(|view| view.state == State::Paused);
    if let Some(words) = words::left_paused(&left.collect::<Vec<_>>()) {
        output.say(&words);
    }
    Ok(told)
}

fn tell(camp: &Camp, (state, done): (&str, &str), output: &Output) -> CommandResult {
    if camp.already {
        output.say(&format!("The camp is {state} already."));
    }
    for view in &camp.instances {
        let cut = view.cut_turn().filter(|_| view.state == State::Running);
        let cut = cut.map(|cut| format!("; {cut}")).unwrap_or_default();
        output.say(&format!("`{}` is {}{cut}", view.title, view.state.name()));
    }
    if let Some(report) = Report::not_all(camp, done) {
        return Err(report);
    }
    if !camp.already {
        output.say(&words::counted(done, camp.instances.len()));
    }
    Ok(output.result(camp, String::new))
}

/// While the camp is paused, says that this is why nothing happens.
pub(super) fn mention(camp: CampView, output: &Output) {
    if let Some(words) = camp_is_paused(camp) {
        output.say(&words);
    }
}
