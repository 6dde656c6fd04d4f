//! Actions that open a question or a form.

use crate::engine::InstanceView;
use crate::model::{InstanceId, State as InstanceState};
use crate::tui::dialog::{
    Confirm, Dialog, Field, NewForm, OnYes, RenameForm, SendForm, StartDirectory,
};
use crate::tui::editor::Editor;
use crate::tui::message::{Lookup, UiRequest};
use crate::tui::picker::Picker;
use crate::tui::state::{State, ToastKind};

pub(super) fn titles(state: &State, ids: &[InstanceId]) -> String {
    let titles: Vec<String> = ids
        .iter()
        .filter_map(|id| state.by_id(id))
        .map(|view| match &view.host {
            Some(host) => format!("`{host}:{}`", view.title),
            None => format!("`{}`", view.title),
        })
        .collect();
    match titles.as_slice() {
        [] | [_] | [_, _] | [_, _, _] => titles.join(", "),
        [first, second, rest @ ..] => format!("{first}, {second} and {} more", rest.len()),
    }
}

pub(super) fn ask(state: &mut State, question: impl Fn(&State, Vec<InstanceId>) -> Confirm) {
    let targets = state.targets();
    if targets.is_empty() {
        state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
        return;
    }
    state.dialog = Some(Dialog::Confirm(question(state, targets)));
}

pub(super) fn kill_question(state: &State, ids: Vec<InstanceId>) -> Confirm {
    Confirm {
        question: format!("Kill {}?", titles(state, &ids)),
        details: vec!["The work is saved first and can be brought back.".to_owned()],
        option: Some(("delete the branch too, if biv made it", false)),
        on_yes: OnYes::Kill(ids),
    }
}

pub(super) fn restart_question(state: &State, ids: Vec<InstanceId>) -> Confirm {
    let whose = if ids.len() == 1 {
        "Its conversation ends"
    } else {
        "Their conversations end"
    };
    Confirm {
        question: format!("Start {} afresh?", titles(state, &ids)),
        details: vec![
            format!("{whose} here; the work stays."),
            "The prompt that it began with, if there was one, is sent again.".to_owned(),
        ],
        option: None,
        on_yes: OnYes::Restart(ids),
    }
}

pub(super) fn push_question(state: &State, ids: Vec<InstanceId>) -> Confirm {
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

/// `on` have it already.
pub(super) fn autoyes_question(state: &State, ids: Vec<InstanceId>, on: &[InstanceId]) -> Confirm {
    let mut details = vec![
        "The daemon then says yes to what the policy allows, until its time is up or you switch it off."
            .to_owned(),
    ];
    if !on.is_empty() {
        details.push(format!("On already: {}.", titles(state, on)));
    }
    Confirm {
        question: format!("Switch autoyes on for {}?", titles(state, &ids)),
        details,
        option: None,
        on_yes: OnYes::Autoyes(ids),
    }
}

/// The form with the title that the selected instance has.
pub(super) fn open_rename(state: &mut State) {
    let Some(view) = state.current() else {
        state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
        return;
    };
    state.dialog = Some(Dialog::Rename(RenameForm {
        id: view.id.clone(),
        title: Editor::one_line(view.title.as_str()),
        trouble: None,
    }));
}

pub(super) fn ask_pause_all(state: &mut State) {
    let running = state
        .instances
        .iter()
        .filter(|view| view.host.is_none() && state.shown(view).0 == InstanceState::Running)
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

pub(super) fn open_send(state: &mut State) {
    let to = state.targets();
    if to.is_empty() {
        state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
        return;
    }
    state.dialog = Some(Dialog::Send(SendForm {
        titles: titles(state, &to),
        queue: None,
        to,
        prompt: Editor::many_lines(),
        trouble: None,
    }));
}

/// The form for a prompt at the end of the queue that this popup shows.
pub(super) fn queue_form(id: InstanceId, title: String, popup: Box<Picker>) -> Dialog {
    Dialog::Send(SendForm {
        to: vec![id],
        titles: format!("`{title}`"),
        queue: Some(popup),
        prompt: Editor::many_lines(),
        trouble: None,
    })
}

/// The form for a new instance: in the repository of the selected one, or where the UI was started.
pub(super) fn open_form(state: &mut State, with_prompt: bool, requests: &mut Vec<UiRequest>) {
    let mut repositories: Vec<_> = Vec::new();
    let here = state
        .start_context
        .as_ref()
        .and_then(|start_context| start_context.repository.clone().ok());
    let nearest = [
        state.scope.clone(),
        here,
        state
            .current()
            .filter(|view| view.host.is_none())
            .map(|view| view.repo.clone()),
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
        let context = state.start_context.as_ref();
        match context.and_then(|context| context.repository.as_ref().err()) {
            Some(reason) => {
                let words = format!("There is no repository to work in: {reason}");
                let hint = "start `biv` inside a repository; `git init` makes one";
                state.toast_with_hint(ToastKind::Bad, words, hint.to_owned());
                // It may have been made since.
                requests.push(UiRequest::Survey);
            }
            // The answer is on its way.
            None => state.toast(
                ToastKind::Note,
                "Still looking around; try again in a moment.".to_owned(),
            ),
        }
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
        started_in: state.start_context.as_ref().and_then(|context| {
            Some(StartDirectory {
                repository: context.repository.clone().ok()?,
                directory: context.directory.clone(),
            })
        }),
        autoyes: false,
        trouble: None,
    })));
}

/// The installed agents; first the one that `biv new` would use.
fn agents(state: &State) -> Vec<String> {
    let Some(start_context) = &state.start_context else {
        return Vec::new();
    };
    let mut agents: Vec<_> = start_context
        .agents
        .iter()
        .filter(|agent| agent.installed)
        .collect();
    // A prompt is a command to a shell: that one is never the first without being asked for.
    agents.sort_by_key(|agent| (!agent.default, agent.name == "shell"));
    agents.into_iter().map(|agent| agent.name.clone()).collect()
}

/// The name of an instance on a host, for a command line.
pub(super) fn on_host(view: &InstanceView) -> Option<String> {
    let host = view.host.as_deref()?;
    Some(format!("{host}:{}", crate::report::word(&view.title)))
}

/// Opens the queue of the selected instance.
pub(super) fn open_queue(state: &mut State, requests: &mut Vec<UiRequest>) {
    let Some(view) = state.current() else {
        return state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
    };
    let (id, title) = (view.id.clone(), view.title.clone());
    if let Some(name) = on_host(view) {
        let words = format!("`biv queue {name}` shows its queue.");
        return state.toast(ToastKind::Note, words);
    }
    requests.push(UiRequest::Look(Lookup::Queue(id.clone())));
    state.dialog = Some(Dialog::Pick(Box::new(Picker::queue(id, title))));
}

/// Opens what autoyes has decided for the selected instance.
pub(super) fn open_audit(state: &mut State, requests: &mut Vec<UiRequest>) {
    let Some(view) = state.current() else {
        return state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
    };
    let (id, title) = (view.id.clone(), view.title.clone());
    if let Some(name) = on_host(view) {
        let words = format!("`biv audit {name}` shows what autoyes decided.");
        return state.toast(ToastKind::Note, words);
    }
    requests.push(UiRequest::Look(Lookup::Audit(id.clone())));
    state.dialog = Some(Dialog::Pick(Box::new(Picker::audit(id, title))));
}
