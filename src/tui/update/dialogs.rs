//! Keys while something stands in front.

use super::actions::{start, start_from};
use crate::config::{Key, KeyCode};
use crate::engine::{Consent, NewInstance};
use crate::tui::dialog::{Confirm, Dialog, NewForm, OnYes, SendForm};
use crate::tui::message::{Call, Task};
use crate::tui::state::{State, ToastKind, Verb};

pub(super) fn press(state: &mut State, key: Key, calls: &mut Vec<Call>) {
    let Some(dialog) = state.dialog.take() else {
        return;
    };
    state.dialog = match dialog {
        Dialog::Help { scroll } => help(scroll, key),
        Dialog::Confirm(confirm) => answer(state, confirm, key, calls),
        Dialog::New(form) => fill(state, form, key, calls),
        Dialog::Send(form) => write(state, form, key, calls),
    };
}

pub(super) fn paste(state: &mut State, text: &str) {
    match &mut state.dialog {
        Some(Dialog::New(form)) => {
            if let Some(editor) = form.editor() {
                editor.insert(text);
            }
        }
        Some(Dialog::Send(form)) => form.prompt.insert(text),
        Some(Dialog::Help { .. } | Dialog::Confirm(_)) => {}
        None if state.filtering => state.filter.insert(text),
        // A paste is no row of commands.
        None => state.toast(
            ToastKind::Note,
            "Nothing here takes a paste; `s` sends a prompt.".to_owned(),
        ),
    }
}

fn is_cancel(key: Key) -> bool {
    key.code == KeyCode::Esc || key == Key::ctrl('c')
}

fn help(scroll: usize, key: Key) -> Option<Dialog> {
    let scroll = match key.code {
        KeyCode::Down | KeyCode::Char('j') => scroll + 1,
        KeyCode::Up | KeyCode::Char('k') => scroll.saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char(' ') => scroll + 10,
        KeyCode::PageUp => scroll.saturating_sub(10),
        _ => return None,
    };
    Some(Dialog::Help { scroll })
}

fn answer(
    state: &mut State,
    mut confirm: Confirm,
    key: Key,
    calls: &mut Vec<Call>,
) -> Option<Dialog> {
    match key.code {
        KeyCode::Char('y' | 'Y') => {
            agreed(state, confirm, calls);
            return None;
        }
        KeyCode::Char('n' | 'N') => {
            if let OnYes::Setup(asked, form) = confirm.on_yes {
                create(state, *asked, Consent::Refused, form, calls);
            }
            return None;
        }
        KeyCode::Char('b' | 'B') => {
            if let Some((_, set)) = &mut confirm.option {
                *set = !*set;
            }
        }
        _ if is_cancel(key) || key.code == KeyCode::Char('q') => {
            // What was typed for it is there again.
            return match confirm.on_yes {
                OnYes::Setup(_, form) => form.map(Dialog::New),
                _ => None,
            };
        }
        _ => {}
    }
    Some(Dialog::Confirm(confirm))
}

fn agreed(state: &mut State, confirm: Confirm, calls: &mut Vec<Call>) {
    let optional = confirm.option.is_some_and(|(_, set)| set);
    let (verb, ids) = match confirm.on_yes {
        OnYes::Kill(ids) => (Verb::Kill, ids),
        OnYes::Restart(ids) => (Verb::Restart, ids),
        OnYes::Push(ids) => (Verb::Push, ids),
        OnYes::PauseAll => {
            start(state, calls, Verb::PauseAll, None, Task::PauseAll);
            return;
        }
        OnYes::Setup(asked, form) => {
            create(state, *asked, Consent::Given, form, calls);
            return;
        }
    };
    if verb == Verb::Kill && ids.len() > 1 {
        let task = Task::KillEach {
            ids,
            delete_branch: optional,
        };
        start(state, calls, verb, None, task);
        state.marks.clear();
        return;
    }
    for id in ids {
        let task = match verb {
            Verb::Kill => Task::Kill {
                id: id.clone(),
                delete_branch: optional,
            },
            Verb::Restart => Task::Restart(id.clone()),
            _ => Task::Push(id.clone()),
        };
        start(state, calls, verb, Some(&id), task);
    }
    state.marks.clear();
}

fn create(
    state: &mut State,
    mut asked: NewInstance,
    consent: Consent,
    form: Option<Box<NewForm>>,
    calls: &mut Vec<Call>,
) {
    asked.consent = consent;
    let task = Task::Create(Box::new(asked));
    start_from(
        state,
        calls,
        Verb::Create,
        None,
        task,
        form.map(Dialog::New),
    );
}

fn fill(
    state: &mut State,
    mut form: Box<NewForm>,
    key: Key,
    calls: &mut Vec<Call>,
) -> Option<Dialog> {
    if is_cancel(key) {
        return None;
    }
    let shift = key.shift;
    match key.code {
        KeyCode::Tab => form.step(!shift),
        KeyCode::Enter if !key.alt => {
            if let Some(asked) = form.request() {
                create(state, asked, Consent::AsBefore, Some(form), calls);
            }
            return None;
        }
        _ => {
            let edited = form.editor().is_some_and(|editor| editor.press(key));
            if !edited {
                match key.code {
                    KeyCode::Down => form.step(true),
                    KeyCode::Up => form.step(false),
                    KeyCode::Right | KeyCode::Char(' ') => form.turn(true),
                    KeyCode::Left => form.turn(false),
                    _ => {}
                }
            }
        }
    }
    Some(Dialog::New(form))
}

fn write(state: &mut State, mut form: SendForm, key: Key, calls: &mut Vec<Call>) -> Option<Dialog> {
    if is_cancel(key) {
        return None;
    }
    if key.code == KeyCode::Enter && !key.alt {
        if form.prompt.text().trim().is_empty() {
            return Some(Dialog::Send(form));
        }
        for id in &form.to {
            let task = Task::Send {
                id: id.clone(),
                prompt: form.prompt.text().to_owned(),
            };
            let title = state.by_id(id).map(|view| view.title.to_string());
            let alone = Dialog::Send(SendForm {
                to: vec![id.clone()],
                titles: title.unwrap_or_else(|| form.titles.clone()),
                prompt: form.prompt.clone(),
                trouble: None,
            });
            start_from(state, calls, Verb::Send, Some(id), task, Some(alone));
        }
        state.marks.clear();
        return None;
    }
    form.prompt.press(key);
    Some(Dialog::Send(form))
}
