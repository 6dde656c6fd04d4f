//! Carries out actions: what each action changes and requests.

use super::jobs::{start, start_from};
use super::looking::{
    file, mark, page_height, scroll, scroll_sideways, turn_killed, turn_scope, turn_side, turn_tab,
    turn_wrap,
};
use super::questions::{
    ask, ask_pause_all, autoyes_question, kill_question, open_audit, open_form, open_queue,
    open_rename, open_send, push_question, restart_question,
};
use super::{answering, landing, reviewing, upkeep};
use crate::engine::DialogAnswer;
use crate::model::{InstanceId, PauseReason, State as InstanceState};
use crate::tui::dialog::Dialog;
use crate::tui::keys::Action;
use crate::tui::message::{Task, UiRequest, Wait};
use crate::tui::picker::Picker;
use crate::tui::state::{Job, State, Tab, ToastKind, Verb};

pub(super) fn act(state: &mut State, action: Action, requests: &mut Vec<UiRequest>) {
    if state.showing_killed && !action.only_looks() {
        return act_on_killed(state, action, requests);
    }
    match action {
        Action::Up => upkeep::step(state, -1),
        Action::Down => upkeep::step(state, 1),
        Action::Top => upkeep::step(state, isize::MIN / 2),
        Action::Bottom => upkeep::step(state, isize::MAX / 2),
        Action::New => open_form(state, false, requests),
        Action::NewWithPrompt => open_form(state, true, requests),
        Action::Attach => attach(state, requests),
        Action::Send => open_send(state),
        Action::Pause => pause_targets(state, requests),
        Action::Resume => resume_targets(state, requests),
        Action::TogglePause => toggle_targets(state, requests),
        Action::Restart => ask(state, restart_question),
        Action::Kill => ask(state, kill_question),
        Action::UndoKill => undo_kill(state, requests),
        Action::Push => ask(state, push_question),
        Action::Land => landing::ask(state, requests),
        Action::Rename => open_rename(state),
        Action::Autoyes => switch_autoyes(state, requests),
        Action::Allow => answering::answer(state, requests, DialogAnswer::Yes),
        Action::Deny => answering::answer(state, requests, DialogAnswer::No),
        Action::NextThatNeedsYou => upkeep::next_that_needs_you(state),
        Action::Mark => mark(state),
        Action::PauseAll => ask_pause_all(state),
        Action::ResumeAll => {
            start(state, requests, Verb::ResumeAll, None, Task::ResumeAll);
        }
        Action::NextTab => turn_tab(state, 1),
        Action::PreviousTab => turn_tab(state, Tab::ALL.len() - 1),
        Action::ScrollUp => scroll(state, true, 3),
        Action::ScrollDown => scroll(state, false, 3),
        Action::PageUp => scroll(state, true, page_height(state)),
        Action::PageDown => scroll(state, false, page_height(state)),
        Action::PreviousFile => file(state, false),
        Action::NextFile => file(state, true),
        Action::Review => reviewing::begin(state),
        Action::Fold => state.unfolded = !state.unfolded,
        Action::Wrap => turn_wrap(state),
        Action::SideBySide => turn_side(state),
        Action::ScrollLeft => scroll_sideways(state, false),
        Action::ScrollRight => scroll_sideways(state, true),
        Action::Queue => open_queue(state, requests),
        Action::Audit => open_audit(state, requests),
        Action::Search => state.dialog = Some(Dialog::Pick(Box::new(Picker::search()))),
        Action::Palette => state.dialog = Some(Dialog::Pick(Box::new(Picker::commands()))),
        Action::Killed => turn_killed(state, requests),
        Action::Suspend => requests.push(UiRequest::Suspend),
        Action::Filter => state.filtering = true,
        Action::Repository => turn_scope(state),
        Action::Help => state.dialog = Some(Dialog::Help { scroll: 0 }),
        Action::Quit => {
            state.quitting = true;
            requests.push(UiRequest::Quit);
        }
    }
}

/// A killed instance can be brought back, and nothing else.
fn act_on_killed(state: &mut State, action: Action, requests: &mut Vec<UiRequest>) {
    let selected = state.current().map(|view| view.id.clone());
    match (action, selected) {
        (Action::Resume | Action::UndoKill | Action::TogglePause, Some(id)) => {
            let task = Task::UndoKill(id.clone());
            start(state, requests, Verb::UndoKill, Some(&id), task);
        }
        (_, Some(_)) => {
            let key = state.keymap.hint(Action::Resume).unwrap_or_default();
            let words = format!("It is killed; {key} brings it back, paused.");
            state.toast(ToastKind::Note, words);
        }
        (_, None) => {}
    }
}

/// Cancels the last prompt that is being sent. False where there is none.
pub(super) fn unsend(state: &mut State, requests: &mut Vec<UiRequest>) -> bool {
    let on_its_way = |job: &Job| {
        // One that is on its way to another machine cannot be taken back from here.
        let here = job.id.as_ref().is_none_or(|id| state.host_of(id).is_none());
        job.verb == Verb::Send && job.form.is_some() && here
    };
    let Some(at) = state.jobs.iter().rposition(on_its_way) else {
        return false;
    };
    let Some(job) = state.jobs.get_mut(at) else {
        return false;
    };
    let (id, form) = (job.id.clone(), job.form.take());
    if let Some(id) = id {
        let task = Task::Unsend(id.clone());
        start_from(state, requests, Verb::Unsend, Some(&id), task, form);
    }
    true
}

/// Starts the same job for all targets, and clears the marks.
fn each(
    state: &mut State,
    requests: &mut Vec<UiRequest>,
    act: impl Fn(&mut State, &mut Vec<UiRequest>, &InstanceId),
) {
    let targets = state.targets();
    if targets.is_empty() {
        state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
    }
    for id in &targets {
        act(state, requests, id);
    }
    state.marks.clear();
}

/// Several instances are one request, with one count and one result.
fn pause_targets(state: &mut State, requests: &mut Vec<UiRequest>) {
    let targets = state.targets();
    if targets.len() < 2 {
        return each(state, requests, pause);
    }
    pause_each(state, requests, targets, Wait::AsConfigured);
    state.marks.clear();
}

fn resume_targets(state: &mut State, requests: &mut Vec<UiRequest>) {
    let targets = state.targets();
    if targets.len() < 2 {
        return each(state, requests, resume);
    }
    resume_each(state, requests, targets);
    state.marks.clear();
}

fn toggle_targets(state: &mut State, requests: &mut Vec<UiRequest>) {
    let targets = state.targets();
    if targets.len() < 2 {
        return each(state, requests, toggle);
    }
    let (mut to_pause, mut to_resume) = (Vec::new(), Vec::new());
    for id in targets {
        match state.by_id(&id).map(|view| state.shown(view).0) {
            Some(InstanceState::Pausing) => toggle(state, requests, &id),
            Some(
                InstanceState::Paused
                | InstanceState::Completed
                | InstanceState::Failed
                | InstanceState::Interrupted,
            ) => to_resume.push(id),
            _ => to_pause.push(id),
        }
    }
    pause_each(state, requests, to_pause, Wait::Forever);
    resume_each(state, requests, to_resume);
    state.marks.clear();
}

fn pause_each(state: &mut State, requests: &mut Vec<UiRequest>, ids: Vec<InstanceId>, wait: Wait) {
    let (ids, elsewhere) = state.by_place(ids);
    for id in elsewhere {
        let task = Task::Pause {
            id: id.clone(),
            wait,
            reason: PauseReason::User,
        };
        start(state, requests, Verb::Pause, Some(&id), task);
    }
    if !ids.is_empty() {
        let task = Task::PauseEach { ids, wait };
        start(state, requests, Verb::Pause, None, task);
    }
}

fn resume_each(state: &mut State, requests: &mut Vec<UiRequest>, ids: Vec<InstanceId>) {
    let (ids, elsewhere) = state.by_place(ids);
    for id in elsewhere {
        resume(state, requests, &id);
    }
    if !ids.is_empty() {
        start(state, requests, Verb::Resume, None, Task::ResumeEach(ids));
    }
}

fn pause(state: &mut State, requests: &mut Vec<UiRequest>, id: &InstanceId) {
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
    start(state, requests, Verb::Pause, Some(id), task);
}

fn resume(state: &mut State, requests: &mut Vec<UiRequest>, id: &InstanceId) {
    start(
        state,
        requests,
        Verb::Resume,
        Some(id),
        Task::Resume(id.clone()),
    );
}

/// Pauses; pressed again while the pause waits for the turn to end, cancels it; resumes a paused instance.
fn toggle(state: &mut State, requests: &mut Vec<UiRequest>, id: &InstanceId) {
    let Some(shown) = state.by_id(id).map(|view| state.shown(view).0) else {
        return;
    };
    match shown {
        InstanceState::Pausing => {
            let task = Task::CancelPause(id.clone());
            start(state, requests, Verb::CancelPause, Some(id), task);
        }
        InstanceState::Paused
        | InstanceState::Completed
        | InstanceState::Failed
        | InstanceState::Interrupted => {
            resume(state, requests, id);
        }
        InstanceState::Running
        | InstanceState::Creating
        | InstanceState::Resuming
        | InstanceState::Restarting
        | InstanceState::Killing
        | InstanceState::Landing
        | InstanceState::Away
        | InstanceState::Killed => {
            let task = Task::Pause {
                id: id.clone(),
                wait: Wait::Forever,
                reason: PauseReason::User,
            };
            start(state, requests, Verb::Pause, Some(id), task);
        }
    }
}

/// The pause by ctrl+c: of the selected instance only, whatever is marked.
pub(super) fn interrupt(state: &mut State, requests: &mut Vec<UiRequest>) -> Option<String> {
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
    start(state, requests, Verb::Interrupt, Some(&id), task);
    Some(title)
}

/// Off at once, on after a question. Several are switched on where any is off, so that all are alike afterwards.
fn switch_autoyes(state: &mut State, requests: &mut Vec<UiRequest>) {
    let is_on = |id: &InstanceId| state.by_id(id).is_some_and(|view| view.autoyes);
    let (on, off): (Vec<_>, Vec<_>) = state.targets().into_iter().partition(is_on);
    if !off.is_empty() || on.is_empty() {
        return ask(state, |state, _| autoyes_question(state, off.clone(), &on));
    }
    for id in &on {
        let task = Task::Autoyes {
            id: id.clone(),
            on: false,
        };
        start(state, requests, Verb::Autoyes, Some(id), task);
    }
    state.marks.clear();
}

fn undo_kill(state: &mut State, requests: &mut Vec<UiRequest>) {
    match state.killed.pop() {
        Some(id) => {
            let task = Task::UndoKill(id.clone());
            start(state, requests, Verb::UndoKill, Some(&id), task);
        }
        None => state.toast(
            ToastKind::Note,
            "Nothing was killed here. `biv undo-kill TITLE` brings older ones back.".to_owned(),
        ),
    }
}

/// Attaches to the shell in the worktree, which is opened if there is none.
fn open_shell(state: &mut State, requests: &mut Vec<UiRequest>) {
    let Some(view) = state.current() else { return };
    let shown = state.shown(view).0;
    if shown == InstanceState::Running {
        let host = state.host_of(&view.id);
        requests.push(UiRequest::Shell(view.id.clone(), host));
        return;
    }
    let key = state.keymap.hint(Action::Resume).unwrap_or_default();
    let words = format!(
        "`{}` is {}: its worktree has no session. {key} resumes it.",
        view.title,
        shown.name()
    );
    state.toast(ToastKind::Note, words);
}

/// A paused instance is resumed first, in the UI, where its steps are shown.
fn attach(state: &mut State, requests: &mut Vec<UiRequest>) {
    let Some(view) = state.current() else {
        if state.loaded && state.instances.is_empty() {
            open_form(state, false, requests);
        }
        return;
    };
    let id = view.id.clone();
    if state.tab == Tab::Shell {
        open_shell(state, requests);
        return;
    }
    if let Some(host) = state.host_of(&id) {
        // One that is paused is resumed there.
        requests.push(UiRequest::Attach(id, Some(host)));
        return;
    }
    match state.shown(view).0 {
        InstanceState::Paused | InstanceState::Interrupted => {
            let job = start(
                state,
                requests,
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
        | InstanceState::Failed => requests.push(UiRequest::Attach(id, None)),
        InstanceState::Away => {
            let words = match view.away.as_ref().and_then(|away| away.host.as_ref()) {
                Some(host) => format!(
                    "`{0}` is on the host {host}: biv attach {host}:{0}",
                    view.title
                ),
                None => format!("`{}` is on another machine.", view.title),
            };
            state.toast(ToastKind::Note, words);
        }
        shown @ (InstanceState::Pausing
        | InstanceState::Restarting
        | InstanceState::Killing
        | InstanceState::Landing
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
