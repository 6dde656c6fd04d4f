//! Starts background jobs.

use crate::model::InstanceId;
use crate::tui::dialog::Dialog;
use crate::tui::message::{Task, UiRequest};
use crate::tui::state::{Job, State, Verb};

/// Starts a background job.
pub(super) fn start(
    state: &mut State,
    requests: &mut Vec<UiRequest>,
    verb: Verb,
    id: Option<&InstanceId>,
    task: Task,
) -> u64 {
    let title = match (&task, id.and_then(|id| state.by_id(id))) {
        (_, Some(view)) => view.title.to_string(),
        (Task::Create(asked), None) => asked.title.clone().unwrap_or_else(|| "new".to_owned()),
        (
            Task::PauseEach { ids, .. }
            | Task::ResumeEach(ids)
            | Task::KillEach { ids, .. }
            | Task::Land { ids, .. },
            None,
        ) => format!("{} instances", ids.len()),
        (_, None) => id.map(ToString::to_string).unwrap_or_default(),
    };
    let job = state.next_job;
    state.next_job += 1;
    state.jobs.push(Job {
        number: job,
        verb,
        id: id.cloned(),
        title,
        step: String::new(),
        form: None,
    });
    let host = id.and_then(|id| state.host_of(id));
    let task = match host {
        Some(host) => Task::OnHost(host, Box::new(task)),
        None => task,
    };
    requests.push(UiRequest::Start { job, task });
    job
}

/// The same from a form, which is opened again if the job is refused.
pub(super) fn start_from(
    state: &mut State,
    requests: &mut Vec<UiRequest>,
    verb: Verb,
    id: Option<&InstanceId>,
    task: Task,
    form: Option<Dialog>,
) {
    start(state, requests, verb, id, task);
    if let Some(job) = state.jobs.last_mut() {
        job.form = form;
    }
}
