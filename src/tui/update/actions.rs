//! What each action asks for.

use std::time::Duration;

use super::upkeep;
use crate::model::{InstanceId, PauseReason, State as InstanceState};
use crate::tui::dialog::{Confirm, Dialog, Field, NewForm, OnYes, SendForm};
use crate::tui::editor::Editor;
use crate::tui::keys::Action;
use crate::tui::layout::areas;
use crate::tui::message::{Call, Task, Wait};
use crate::tui::state::{Job, State, Tab, Toast, ToastKind, Verb};

/// Words in a corner stay so long; errors longer.
const NOTE: Duration = Duration::from_secs(5);
const ERROR: Duration = Duration::from_secs(15);

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
        Action::Pause => each(state, calls, pause),
        Action::Resume => each(state, calls, resume),
        Action::TogglePause => each(state, calls, toggle),
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
    });
    calls.push(Call::Start { job, task });
    job
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
        InstanceState::Paused | InstanceState::Completed | InstanceState::Failed => {
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
        InstanceState::Paused => {
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

fn mark(state: &mut State) {
    let Some(id) = state.current().map(|view| view.id.clone()) else {
        return;
    };
    if !state.marks.remove(&id) {
        state.marks.insert(id);
    }
    upkeep::step(state, 1);
}

fn turn_tab(state: &mut State, by: usize) {
    let at = Tab::ALL
        .iter()
        .position(|tab| *tab == state.tab)
        .unwrap_or(0);
    if let Some(tab) = Tab::ALL.get((at + by) % Tab::ALL.len()) {
        select_tab(state, *tab);
    }
}

pub(super) fn select_tab(state: &mut State, tab: Tab) {
    if state.tab != tab {
        state.tab = tab;
        state.scroll = 0;
    }
}

/// Up in a preview and a conversation is back in time; in the others it is towards the top.
pub(super) fn scroll(state: &mut State, up: bool, by: usize) {
    let from_end = matches!(state.tab, Tab::Preview | Tab::Conversation);
    state.scroll = if up == from_end {
        state.scroll.saturating_add(by)
    } else {
        state.scroll.saturating_sub(by)
    };
}

fn page_height(state: &State) -> usize {
    let areas = areas(state.columns, state.rows, state.list_rows().len());
    usize::from(areas.page.height.saturating_sub(1)).max(1)
}

fn file(state: &mut State, forward: bool) {
    if state.tab != Tab::Diff {
        select_tab(state, Tab::Diff);
        return;
    }
    let Some((_, page)) = &state.page.diff else {
        return;
    };
    let current = page.file_at(state.scroll).unwrap_or(0);
    let wanted = match forward {
        true => (current + 1).min(page.files.len().saturating_sub(1)),
        // Within a file, back is to its beginning.
        false
            if page
                .files
                .get(current)
                .is_some_and(|file| file.line < state.scroll) =>
        {
            current
        }
        false => current.saturating_sub(1),
    };
    if let Some(file) = page.files.get(wanted) {
        state.scroll = file.line;
    }
}

/// All repositories, then one after the other.
fn turn_scope(state: &mut State) {
    let repositories: Vec<_> = state
        .repositories()
        .iter()
        .map(|path| path.to_path_buf())
        .collect();
    let next = match &state.scope {
        None => state
            .current()
            .map(|view| view.repo.clone())
            .or_else(|| repositories.first().cloned()),
        Some(scope) => {
            let at = repositories.iter().position(|path| path == scope);
            at.and_then(|at| repositories.get(at + 1).cloned())
        }
    };
    state.scope = next;
}

fn titles(state: &State, ids: &[InstanceId]) -> String {
    let titles: Vec<String> = ids
        .iter()
        .filter_map(|id| state.by_id(id))
        .map(|view| format!("`{}`", view.title))
        .collect();
    match titles.as_slice() {
        [] | [_] | [_, _] | [_, _, _] => titles.join(", "),
        [first, second, rest @ ..] => format!("{first}, {second} and {} more", rest.len()),
    }
}

fn ask(state: &mut State, question: impl Fn(&State, Vec<InstanceId>) -> Confirm) {
    let targets = state.targets();
    if targets.is_empty() {
        state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
        return;
    }
    state.dialog = Some(Dialog::Confirm(question(state, targets)));
}

fn kill_question(state: &State, ids: Vec<InstanceId>) -> Confirm {
    Confirm {
        question: format!("Kill {}?", titles(state, &ids)),
        details: vec!["The work is saved first and can be brought back.".to_owned()],
        option: Some(("delete the branch too, if biv made it", false)),
        on_yes: OnYes::Kill(ids),
    }
}

fn restart_question(state: &State, ids: Vec<InstanceId>) -> Confirm {
    let whose = if ids.len() == 1 {
        "Its conversation ends"
    } else {
        "Their conversations end"
    };
    Confirm {
        question: format!("Start {} afresh?", titles(state, &ids)),
        details: vec![format!("{whose} here; the work stays.")],
        option: None,
        on_yes: OnYes::Restart(ids),
    }
}

fn push_question(state: &State, ids: Vec<InstanceId>) -> Confirm {
    let branches: Vec<String> = ids
        .iter()
        .filter_map(|id| state.by_id(id)?.branch.clone())
        .take(3)
        .collect();
    Confirm {
        question: format!("Push the branch of {}?", titles(state, &ids)),
        details: vec![
            branches.join(", "),
            "What is committed leaves this machine; what is not stays here.".to_owned(),
        ],
        option: None,
        on_yes: OnYes::Push(ids),
    }
}

fn ask_pause_all(state: &mut State) {
    let running = state
        .instances
        .iter()
        .filter(|view| state.shown(view).0 == InstanceState::Running)
        .count();
    state.dialog = Some(Dialog::Confirm(Confirm {
        question: match running {
            1 => "Pause the one that is running?".to_owned(),
            _ => format!("Pause all {running} that are running?"),
        },
        details: vec!["Each finishes its turn; all can be resumed together.".to_owned()],
        option: None,
        on_yes: OnYes::PauseAll,
    }));
}

fn open_send(state: &mut State) {
    let to = state.targets();
    if to.is_empty() {
        state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
        return;
    }
    state.dialog = Some(Dialog::Send(SendForm {
        titles: titles(state, &to),
        to,
        prompt: Editor::many_lines(),
    }));
}

/// The form for a new one: in the repository of the selected instance, or where the UI was started.
fn open_form(state: &mut State, with_prompt: bool, calls: &mut Vec<Call>) {
    let mut repositories: Vec<_> = Vec::new();
    let here = state
        .surroundings
        .as_ref()
        .and_then(|surroundings| surroundings.repository.clone().ok());
    let nearest = [
        state.scope.clone(),
        here,
        state.current().map(|view| view.repo.clone()),
    ];
    let others = state
        .repositories()
        .into_iter()
        .map(|path| Some(path.to_path_buf()));
    for path in nearest.into_iter().chain(others).flatten() {
        if !repositories.contains(&path) {
            repositories.push(path);
        }
    }
    if repositories.is_empty() {
        let words = match &state.surroundings {
            Some(surroundings) => match &surroundings.repository {
                Err(reason) => format!("There is no repository to work in: {reason}"),
                Ok(_) => String::new(),
            },
            None => "Still looking around; try again in a moment.".to_owned(),
        };
        state.toast_with_hint(
            ToastKind::Bad,
            words,
            "start `biv` inside a repository; `git init` makes one".to_owned(),
        );
        calls.push(Call::Survey);
        return;
    }
    state.dialog = Some(Dialog::New(Box::new(NewForm {
        field: if with_prompt {
            Field::Prompt
        } else {
            Field::Title
        },
        title: Editor::one_line(""),
        prompt: with_prompt.then(Editor::many_lines),
        agents: agents(state),
        agent: 0,
        base: Editor::one_line(&state.settings.new.base),
        repositories,
        repository: 0,
        autoyes: false,
    })));
}

/// What is installed, with the one that `biv new` would take first.
fn agents(state: &State) -> Vec<String> {
    let Some(surroundings) = &state.surroundings else {
        return Vec::new();
    };
    let mut agents: Vec<_> = surroundings
        .agents
        .iter()
        .filter(|agent| agent.installed)
        .collect();
    agents.sort_by_key(|agent| !agent.default);
    agents.into_iter().map(|agent| agent.name.clone()).collect()
}

impl State {
    pub(in crate::tui) fn toast(&mut self, kind: ToastKind, text: String) {
        self.add_toast(kind, text, Vec::new(), true);
    }

    pub(in crate::tui) fn toast_with_hint(&mut self, kind: ToastKind, text: String, hint: String) {
        self.add_toast(kind, text, vec![hint], true);
    }

    /// One that stays until the next key.
    pub(in crate::tui) fn toast_sticky(&mut self, kind: ToastKind, text: String) {
        self.add_toast(kind, text, Vec::new(), false);
    }

    pub(in crate::tui) fn add_toast(
        &mut self,
        kind: ToastKind,
        text: String,
        hints: Vec<String>,
        passes: bool,
    ) {
        let stays = if kind == ToastKind::Bad { ERROR } else { NOTE };
        let toast = Toast {
            kind,
            text,
            hints,
            until: passes.then(|| self.now.plus(stays)),
        };
        self.toasts.retain(|known| known.text != toast.text);
        self.toasts.push(toast);
        // More than a few are read by nobody.
        let excess = self.toasts.len().saturating_sub(4);
        self.toasts.drain(..excess);
    }
}
