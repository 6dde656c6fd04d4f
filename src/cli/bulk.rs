//! The same request to several instances.

use super::instance::{Group, is_in_state};
use super::output::Output;
use super::report::{Report, were_already};
use super::words;
use crate::engine::{Bulk, Engine, Error, InstanceView, StateChange};
use crate::model::{InstanceId, State, Title};

/// Which instances `--all` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum All {
    /// For what changes a setting or ends them.
    Living,
    /// For what would wake a paused agent, or wait for one.
    Running,
}

/// The named instances. All are looked up first, so that a typing mistake in one changes nothing.
pub(super) fn ids(engine: &Engine, given: &[String]) -> Result<Vec<InstanceId>, Error> {
    let found = engine.find_each(given)?;
    Ok(found.into_iter().map(|(id, _)| id).collect())
}

/// The named instances, or those of a group; an empty group is said. All names are looked up first, so that
/// a typing mistake in one changes nothing.
pub(super) fn selected(
    engine: &Engine,
    given: &[String],
    group: &Group,
    all: All,
    output: &Output,
) -> Result<Vec<(InstanceId, Title)>, Report> {
    if !group.is_given() {
        return Ok(engine.find_each(given)?);
    }
    let listing = engine.list_briefly()?;
    let wanted = |view: &&InstanceView| match (&group.state, all) {
        (Some(state), _) => is_in_state(view, state),
        (None, All::Living) => view.state != State::Away,
        (None, All::Running) => view.state == State::Running,
    };
    let found: Vec<(InstanceId, Title)> = listing
        .instances
        .iter()
        .filter(wanted)
        .map(|view| (view.id.clone(), view.title.clone()))
        .collect();
    if found.is_empty() {
        output.say(&match &group.state {
            Some(state) => format!("No instance is {state}."),
            None if all == All::Running => "No instance is running.".to_owned(),
            None => "There are no instances.".to_owned(),
        });
    }
    Ok(found)
}

/// The result for several instances: how many, and which of them failed, and why.
pub(super) fn end<T>(bulk: &Bulk<T>, done: &str, output: &Output) -> Result<(), Report> {
    if let Some(report) = Report::of_bulk(bulk, done) {
        return Err(report);
    }
    if bulk.done.len() > 1 {
        output.say(&words::counted(done, bulk.done.len()));
    }
    Ok(())
}

/// The same for a change of the state: those that had it already are told apart.
pub(super) fn end_changes(
    bulk: &Bulk<StateChange>,
    done: &str,
    state: &str,
    output: &Output,
) -> Result<(), Report> {
    if let Some(report) = Report::of_changes(bulk, done, state) {
        return Err(report);
    }
    let already = bulk.already();
    match (bulk.done.len() - already, already) {
        (_, 0) => end(bulk, done, output)?,
        // It was told of the only one.
        (0, 1) => {}
        (0, _) => output.say(&format!(
            "Nothing was {done}: {}.",
            were_already(already, state)
        )),
        (count, _) => {
            let told = words::counted(done, count);
            let told = told.trim_end_matches('.');
            output.say(&format!("{told}; {}.", were_already(already, state)));
        }
    }
    Ok(())
}
