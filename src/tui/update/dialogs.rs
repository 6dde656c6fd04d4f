//! Handles keys while a dialog is open.

use super::jobs::{start, start_from};
use super::picking;
use crate::config::{Key, KeyCode};
use crate::engine::{Consent, DialogAnswer, NewInstance};
use crate::model::NewComment;
use crate::tui::dialog::{
    CommentForm, Confirm, Dialog, NewForm, OnYes, RenameForm, SendForm, WordsForm,
};
use crate::tui::message::{Task, UiRequest};
use crate::tui::state::{State, ToastKind, Verb};

pub(super) fn press(state: &mut State, key: Key, requests: &mut Vec<UiRequest>) {
    let Some(dialog) = state.dialog.take() else {
        return;
    };
    state.dialog = match dialog {
        Dialog::Help { scroll } => help(scroll, key),
        Dialog::Confirm(confirm) => answer(state, confirm, key, requests),
        Dialog::New(form) => fill(state, form, key, requests),
        Dialog::Send(form) => write(state, form, key, requests),
        Dialog::Comment(form) => remark(state, form, key, requests),
        Dialog::Rename(form) => rename(state, form, key, requests),
        Dialog::Words(form) => say(state, form, key, requests),
        Dialog::Pick(picker) => picking::press(state, picker, key, requests),
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
        Some(Dialog::Comment(form)) => form.text.insert(text),
        Some(Dialog::Rename(form)) => form.title.insert(text),
        Some(Dialog::Words(form)) => form.words.insert(text),
        Some(Dialog::Pick(picker)) => {
            if let Some(input) = &mut picker.input {
                input.insert(text);
            }
        }
        Some(Dialog::Help { .. } | Dialog::Confirm(_)) => {}
        None if state.filtering => state.filter.insert(text),
        // Pasted text is not a sequence of keys.
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
    requests: &mut Vec<UiRequest>,
) -> Option<Dialog> {
    match key.code {
        KeyCode::Char('y' | 'Y') => {
            agreed(state, confirm, requests);
            return None;
        }
        KeyCode::Char('n' | 'N') => {
            if let OnYes::Setup(asked, form) = confirm.on_yes {
                create(state, *asked, Consent::Refused, form, requests);
            }
            return None;
        }
        KeyCode::Char('b' | 'B') => {
            if let Some((_, set)) = &mut confirm.option {
                *set = !*set;
            }
        }
        _ if is_cancel(key) || key.code == KeyCode::Char('q') => {
            // The form is opened again with its content.
            return match confirm.on_yes {
                OnYes::Setup(_, form) => form.map(Dialog::New),
                _ => None,
            };
        }
        _ => {}
    }
    Some(Dialog::Confirm(confirm))
}

fn agreed(state: &mut State, confirm: Confirm, requests: &mut Vec<UiRequest>) {
    let optional = confirm.option.is_some_and(|(_, set)| set);
    let (verb, ids) = match confirm.on_yes {
        OnYes::Kill(ids) => (Verb::Kill, ids),
        OnYes::Restart(ids) => (Verb::Restart, ids),
        OnYes::Push(ids) => (Verb::Push, ids),
        OnYes::Land(ids) => (Verb::Land, ids),
        OnYes::Autoyes(ids) => (Verb::Autoyes, ids),
        OnYes::PauseAll => {
            start(state, requests, Verb::PauseAll, None, Task::PauseAll);
            return;
        }
        OnYes::Setup(asked, form) => {
            create(state, *asked, Consent::Given, form, requests);
            return;
        }
    };
    let (mut ids, elsewhere) = state.by_place(ids);
    if ids.len() > 1 && matches!(verb, Verb::Kill | Verb::Land) {
        // Several here are one request, with one count and one result.
        let ids = std::mem::take(&mut ids);
        let task = match verb {
            Verb::Land => Task::Land {
                ids,
                commit: optional,
            },
            _ => Task::KillEach {
                ids,
                delete_branch: optional,
            },
        };
        start(state, requests, verb, None, task);
    }
    ids.extend(elsewhere);
    for id in ids {
        let task = match verb {
            Verb::Kill => Task::Kill {
                id: id.clone(),
                delete_branch: optional,
            },
            Verb::Restart => Task::Restart(id.clone()),
            Verb::Land => Task::Land {
                ids: vec![id.clone()],
                commit: optional,
            },
            Verb::Autoyes => Task::Autoyes {
                id: id.clone(),
                on: true,
            },
            _ => Task::Push(id.clone()),
        };
        start(state, requests, verb, Some(&id), task);
    }
    state.marks.clear();
}

fn create(
    state: &mut State,
    mut asked: NewInstance,
    consent: Consent,
    form: Option<Box<NewForm>>,
    requests: &mut Vec<UiRequest>,
) {
    asked.consent = consent;
    let task = Task::Create(Box::new(asked));
    start_from(
        state,
        requests,
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
    requests: &mut Vec<UiRequest>,
) -> Option<Dialog> {
    if is_cancel(key) {
        return None;
    }
    let shift = key.shift;
    match key.code {
        KeyCode::Tab => form.step(!shift),
        KeyCode::Enter if !key.alt => {
            if let Some(asked) = form.request() {
                create(state, asked, Consent::AsBefore, Some(form), requests);
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

fn remark(
    state: &mut State,
    mut form: Box<CommentForm>,
    key: Key,
    requests: &mut Vec<UiRequest>,
) -> Option<Dialog> {
    if is_cancel(key) {
        return None;
    }
    if key.code != KeyCode::Enter || key.alt {
        form.text.press(key);
        return Some(Dialog::Comment(form));
    }
    let text = form.text.text().trim().to_owned();
    let id = form.id.clone();
    let task = match (form.number, text.is_empty()) {
        (None, true) => return Some(Dialog::Comment(form)),
        (Some(number), empty) => Task::ChangeComment {
            id: id.clone(),
            number,
            text: Some(text).filter(|_| !empty),
        },
        (None, false) => Task::Comment {
            id: id.clone(),
            comment: NewComment {
                text,
                ..form.about.clone()
            },
        },
    };
    let form = Some(Dialog::Comment(form));
    start_from(state, requests, Verb::Comment, Some(&id), task, form);
    None
}

fn rename(
    state: &mut State,
    mut form: RenameForm,
    key: Key,
    requests: &mut Vec<UiRequest>,
) -> Option<Dialog> {
    if is_cancel(key) {
        return None;
    }
    if key.code != KeyCode::Enter {
        form.title.press(key);
        return Some(Dialog::Rename(form));
    }
    let (id, title) = (form.id.clone(), form.title.text().trim().to_owned());
    if title.is_empty() {
        return Some(Dialog::Rename(form));
    }
    let task = Task::Rename {
        id: id.clone(),
        title,
    };
    let form = Some(Dialog::Rename(form));
    start_from(state, requests, Verb::Rename, Some(&id), task, form);
    None
}

fn say(
    state: &mut State,
    mut form: WordsForm,
    key: Key,
    requests: &mut Vec<UiRequest>,
) -> Option<Dialog> {
    if is_cancel(key) {
        return None;
    }
    let words = form.words.text().trim().to_owned();
    if key.code != KeyCode::Enter || words.is_empty() {
        form.words.press(key);
        return Some(Dialog::Words(form));
    }
    let id = form.id.clone();
    let task = Task::Answer {
        id: id.clone(),
        answer: DialogAnswer::Number(form.choice),
        dialog: form.dialog.clone(),
        words: Some(words),
    };
    let form = Some(Dialog::Words(form));
    start_from(state, requests, Verb::Answer, Some(&id), task, form);
    None
}

fn write(
    state: &mut State,
    mut form: SendForm,
    key: Key,
    requests: &mut Vec<UiRequest>,
) -> Option<Dialog> {
    if is_cancel(key) {
        return picking::opened_again(form.queue, requests);
    }
    if key.code == KeyCode::Enter && !key.alt {
        if form.prompt.text().trim().is_empty() {
            return Some(Dialog::Send(form));
        }
        for id in &form.to {
            let (id_of, prompt) = (id.clone(), form.prompt.text().to_owned());
            let (verb, task) = match form.queue {
                Some(_) => (Verb::Enqueue, Task::Enqueue { id: id_of, prompt }),
                None => (Verb::Send, Task::Send { id: id_of, prompt }),
            };
            let title = state.by_id(id).map(|view| format!("`{}`", view.title));
            let alone = Dialog::Send(SendForm {
                to: vec![id.clone()],
                titles: title.unwrap_or_else(|| form.titles.clone()),
                queue: form.queue.clone(),
                prompt: form.prompt.clone(),
                trouble: None,
            });
            start_from(state, requests, verb, Some(id), task, Some(alone));
        }
        if form.queue.is_none() {
            state.marks.clear();
        }
        return picking::opened_again(form.queue, requests);
    }
    form.prompt.press(key);
    Some(Dialog::Send(form))
}
