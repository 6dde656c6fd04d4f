//! What each action asks for.

use super::looking::{file, mark, page_height, scroll, turn_scope, turn_tab};
use super::questions::{
    ask, ask_pause_all, kill_question, open_form, open_send, push_question, restart_question,
};
use super::upkeep;
use crate::model::{InstanceId, PauseReason, State as InstanceState};
use crate::tui::dialog::Dialog;
use crate::tui::keys::Action;
use crate::tui::message::{Call, Task, Wait};
use crate::tui::state::{Job, State, Tab, ToastKind, Verb};

pub(super) fn act(state: &mut State, action: Action, calls: &mut Vec<Call>) {
    match action {
        Action::Up => upkeep::step(state, -1),
        Action::Down => upkeep::step(state, 1),
        Action::Top => upkeep::step(state, isize::MIN / 2),
        Action::Bottom => upkeep::step(state, isize::MAX / 2),
        Action::New => open_form(state, false, calls),
        Action::NewWithPrompt => open_form(state, true, calls),
        Action::Attach => attach(state, calls),
        Action::Send => open_send(state),
        Action::Pause => pause_targets(state, calls),
        Action::Resume => resume_targets(state, calls),
        Action::TogglePause => toggle_targets(state, calls),
        Action::Restart => ask(state, restart_question),
        Action::Kill => ask(state, kill_question),
        Action::UndoKill => undo_kill(state, calls),
        Action::Push => ask(state, push_question),
        Action::Autoyes => each(state, calls, autoyes),
        Action::Mark => mark(state),
        Action::PauseAll => ask_pause_all(state),
        Action::ResumeAll => {
            start(state, calls, Verb::ResumeAll, None, Task::ResumeAll);
        }
        Action::NextTab => turn_tab(state, 1),
        Action::PreviousTab => turn_tab(state, Tab::ALL.len() - 1),
        Action::ScrollUp => scroll(state, true, 3),
        Action::ScrollDown => scroll(state, false, 3),
        Action::PageUp => scroll(state, true, page_height(state)),
        Action::PageDown => scroll(state, false, page_height(state)),
        Action::PreviousFile => file(state, false),
        Action::NextFile => file(state, true),
        Action::Filter => state.filtering = true,
        Action::Repository => turn_scope(state),
        Action::Help => state.dialog = Some(Dialog::Help { scroll: 0 }),
        Action::Quit => {
            state.quitting = true;
            calls.push(Call::Quit);
        }
    }
}

/// Begins a job in the background.
pub(super) fn start(
    state: &mut State,
    calls: &mut Vec<Call>,
    verb: Verb,
    id: Option<&InstanceId>,
    task: Task,
) -> u64 {
    let title = match (&task, id.and_then(|id| state.by_id(id))) {
        (_, Some(view)) => view.title.to_string(),
        (Task::Create(asked), None) => asked.title.clone().unwrap_or_else(|| "new".to_owned()),
        (
            Task::PauseEach { ids, .. } | Task::ResumeEach(ids) | Task::KillEach { ids, .. },
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
    calls.push(Call::Start { job, task });
    job
}

/// The same for what was typed into a form, which comes back if it is refused.
pub(super) fn start_from(
    state: &mut State,
    calls: &mut Vec<Call>,
    verb: Verb,
    id: Option<&InstanceId>,
    task: Task,
    form: Option<Dialog>,
) {
    start(state, calls, verb, id, task);
    if let Some(job) = state.jobs.last_mut() {
        job.form = form;
    }
}

/// Takes back the last prompt that is on its way. False where none is.
pub(super) fn unsend(state: &mut State, calls: &mut Vec<Call>) -> bool {
    let on_its_way = |job: &&mut Job| job.verb == Verb::Send && job.form.is_some();
    let Some(job) = state.jobs.iter_mut().rev().find(on_its_way) else {
        return false;
    };
    let (id, form) = (job.id.clone(), job.form.take());
    if let Some(id) = id {
        let task = Task::Unsend(id.clone());
        start_from(state, calls, Verb::Unsend, Some(&id), task, form);
    }
    true
}

/// The same for all that are meant; the marks have then served.
fn each(
    state: &mut State,
    calls: &mut Vec<Call>,
    act: impl Fn(&mut State, &mut Vec<Call>, &InstanceId),
) {
    let targets = state.targets();
    if targets.is_empty() {
        state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
    }
    for id in &targets {
        act(state, calls, id);
    }
    state.marks.clear();
}

/// Several are one request, with one count and one last word.
fn pause_targets(state: &mut State, calls: &mut Vec<Call>) {
    let targets = state.targets();
    if targets.len() < 2 {
        return each(state, calls, pause);
    }
    pause_each(state, calls, targets, Wait::AsConfigured);
    state.marks.clear();
}

fn resume_targets(state: &mut State, calls: &mut Vec<Call>) {
    let targets = state.targets();
    if targets.len() < 2 {
        return each(state, calls, resume);
    }
    resume_each(state, calls, targets);
    state.marks.clear();
}

fn toggle_targets(state: &mut State, calls: &mut Vec<Call>) {
    let targets = state.targets();
    if targets.len() < 2 {
        return each(state, calls, toggle);
    }
    let (mut to_pause, mut to_resume) = (Vec::new(), Vec::new());
    for id in targets {
        match state.by_id(&id).map(|view| state.shown(view).0) {
            Some(InstanceState::Pausing) => toggle(state, calls, &id),
            Some(
                InstanceState::Paused
                | InstanceState::Completed
                | InstanceState::Failed
                | InstanceState::Interrupted,
            ) => to_resume.push(id),
            _ => to_pause.push(id),
        }
    }
    pause_each(state, calls, to_pause, Wait::Forever);
    resume_each(state, calls, to_resume);
    state.marks.clear();
}

fn pause_each(state: &mut State, calls: &mut Vec<Call>, ids: Vec<InstanceId>, wait: Wait) {
    if !ids.is_empty() {
        let task = Task::PauseEach { ids, wait };
        start(state, calls, Verb::Pause, None, task);
    }
}

fn resume_each(state: &mut State, calls: &mut Vec<Call>, ids: Vec<InstanceId>) {
    if !ids.is_empty() {
        start(state, calls, Verb::Resume, None, Task::ResumeEach(ids));
    }
}

fn pause(state: &mut State, calls: &mut Vec<Call>, id: &InstanceId) {
    let Some((title, shown)) = state
        .by_id(id)
        .map(|view| (view.title.to_string(), state.shown(view).0))
    else {
        return;
    };
    if shown == InstanceState::Pausing {
        let key = state.keymap.hint(Action::TogglePause).unwrap_or_default();
        state.toast(
            ToastKind::Note,
            format!("`{title}` is pausing already; {key} takes it back."),
        );
        return;
    }
    let task = Task::Pause {
        id: id.clone(),
        wait: Wait::AsConfigured,
        reason: PauseReason::User,
    };
    start(state, calls, Verb::Pause, Some(id), task);
}

fn resume(state: &mut State, calls: &mut Vec<Call>, id: &InstanceId) {
    start(
        state,
        calls,
        Verb::Resume,
        Some(id),
        Task::Resume(id.clone()),
    );
}

/// Request a pause; again while it waits for the turn to end, take that back; again when paused,
/// resume.
fn toggle(state: &mut State, calls: &mut Vec<Call>, id: &InstanceId) {
    let Some(shown) = state.by_id(id).map(|view| state.shown(view).0) else {
        return;
    };
    match shown {
        InstanceState::Pausing => {
            let task = Task::CancelPause(id.clone());
            start(state, calls, Verb::CancelPause, Some(id), task);
        }
        InstanceState::Paused
        | InstanceState::Completed
        | InstanceState::Failed
        | InstanceState::Interrupted => {
            resume(state, calls, id);
        }
        InstanceState::Running
        | InstanceState::Creating
        | InstanceState::Resuming
        | InstanceState::Restarting
        | InstanceState::Killing
        | InstanceState::Killed => {
            let task = Task::Pause {
                id: id.clone(),
                wait: Wait::Forever,
                reason: PauseReason::User,
            };
            start(state, calls, Verb::Pause, Some(id), task);
        }
    }
}

/// The pause of ctrl+c: of the selected one alone, whatever is marked.
pub(super) fn interrupt(state: &mut State, calls: &mut Vec<Call>) -> Option<String> {
    let view = state.current()?;
    if state.shown(view).0 != InstanceState::Running {
        return None;
    }
    let (id, title) = (view.id.clone(), view.title.to_string());
    let task = Task::Pause {
        id: id.clone(),
        wait: Wait::AsConfigured,
        reason: PauseReason::UserInterrupt,
    };
    start(state, calls, Verb::Interrupt, Some(&id), task);
    Some(title)
}

fn autoyes(state: &mut State, calls: &mut Vec<Call>, id: &InstanceId) {
    let on = state.by_id(id).is_some_and(|view| !view.autoyes);
    let task = Task::Autoyes { id: id.clone(), on };
    start(state, calls, Verb::Autoyes, Some(id), task);
}

fn undo_kill(state: &mut State, calls: &mut Vec<Call>) {
    match state.killed.pop() {
        Some(id) => {
            let task = Task::UndoKill(id.clone());
            start(state, calls, Verb::UndoKill, Some(&id), task);
        }
        None => state.toast(
            ToastKind::Note,
            "Nothing was killed here. `biv undo-kill TITLE` brings older ones back.".to_owned(),
        ),
    }
}

/// A paused one is brought back first, here, where its steps can be seen.
fn attach(state: &mut State, calls: &mut Vec<Call>) {
    let Some(view) = state.current() else {
        if state.loaded && state.instances.is_empty() {
            open_form(state, false, calls);
        }
        return;
    };
    let id = view.id.clone();
    match state.shown(view).0 {
        InstanceState::Paused | InstanceState::Interrupted => {
            let job = start(
                state,
                calls,
                Verb::Resume,
                Some(&id),
                Task::Resume(id.clone()),
            );
            state.attach_when_ready = Some(job);
        }
        InstanceState::Resuming => {
            let under_way = state.job_of(&id).map(|job| job.number);
            state.attach_when_ready = under_way;
        }
        InstanceState::Running
        | InstanceState::Creating
        | InstanceState::Completed
        | InstanceState::Failed => calls.push(Call::Attach(id)),
        shown @ (InstanceState::Pausing
        | InstanceState::Restarting
        | InstanceState::Killing
        | InstanceState::Killed) => {
            let words = format!(
                "`{}` is {}; attach when that is done.",
                view.title,
                shown.name()
            );
            state.toast(ToastKind::Note, words);
        }
    }
}
