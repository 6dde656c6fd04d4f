//! What is told of the result of a task.

use super::message::{TaskFailure, TaskOutcome};
use crate::engine::{Answered, Bulk, Camp, StateChange};
use crate::model::printable_line;
use crate::report::{Report, were_already};

pub(super) fn camp(camp: Camp, (state, done): (&str, &str)) -> Result<TaskOutcome, TaskFailure> {
    if let Some(report) = Report::not_all(&camp, done) {
        return Err(TaskFailure::Reported(report));
    }
    Ok(TaskOutcome::Said(if camp.already {
        format!("The camp is {state} already.")
    } else {
        format!("The camp is {state}: {} instances.", camp.instances.len())
    }))
}

/// How many succeeded, or which of them failed.
pub(super) fn counted<T>(bulk: &Bulk<T>, done: &str) -> Result<String, Report> {
    match Report::of_bulk(bulk, done) {
        Some(report) => Err(report),
        None => Ok(format!("{} instances are {done}.", bulk.done.len())),
    }
}

/// The same for a change of the state: those that had it already are told apart.
pub(super) fn changed(bulk: &Bulk<StateChange>, done: &str, state: &str) -> Result<String, Report> {
    if let Some(report) = Report::of_changes(bulk, done, state) {
        return Err(report);
    }
    let already = bulk.already();
    Ok(match (bulk.done.len() - already, already) {
        (count, 0) => format!("{count} instances are {done}."),
        (0, already) => format!("Nothing was {done}: {}.", were_already(already, state)),
        (1, already) => format!("1 instance is {done}; {}.", were_already(already, state)),
        (count, already) => {
            format!(
                "{count} instances are {done}; {}.",
                were_already(already, state)
            )
        }
    })
}

/// What was pressed in a dialog.
pub(super) fn answered(answered: &Answered) -> String {
    let title = &answered.title;
    let still = match answered.gone {
        true => "",
        false => "; the dialog is still there",
    };
    match answered.choice {
        Some(choice) => {
            let label = printable_line(&answered.label);
            format!("Pressed {choice} ({label}) in `{title}`{still}.")
        }
        None => format!("Declined what `{title}` asked{still}."),
    }
}
