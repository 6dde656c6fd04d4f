//! Updates the state from a message and returns requests. No clock, no files, no processes.

mod actions;
mod answering;
mod arrivals;
mod dialogs;
mod jobs;
mod landing;
mod looking;
mod mouse;
mod picking;
mod questions;
mod reviewing;
mod toasts;
mod upkeep;

use super::dialog::Dialog;
use super::input::Event;
use super::keys::Meaning;
use super::message::{Message, UiRequest};
use super::state::{State, ToastKind};
use crate::config::{Key, KeyCode};
use crate::engine::DialogAnswer;

/// Handles one message; returns requests.
pub(super) fn update(state: &mut State, message: Message) -> Vec<UiRequest> {
    let mut requests = Vec::new();
    match message {
        Message::Typed(Event::Key(key)) => {
            for key in apart(state, key) {
                press(state, key, &mut requests);
            }
        }
        Message::Typed(Event::Paste(text)) => dialogs::paste(state, &text),
        Message::Typed(Event::Mouse(mouse)) => mouse::mouse(state, mouse, &mut requests),
        Message::Resized { columns, rows } => {
            state.columns = columns;
            state.rows = rows;
        }
        Message::Tick(now) => {
            state.now = now;
            state.frame = state.frame.wrapping_add(1);
            state
                .toasts
                .retain(|toast| toast.until.is_none_or(|until| until > now));
        }
        other => {
            arrivals::arrive(state, other, &mut requests);
            reviewing::open_named(state);
        }
    }
    upkeep::upkeep(state, &mut requests);
    requests
}

/// Escape and a letter that arrive together are read as alt plus that letter. If that has no meaning here, they
/// are handled as two keys.
fn apart(state: &State, key: Key) -> Vec<Key> {
    let edits = matches!(key.code, KeyCode::Char('b' | 'f'));
    let letter = matches!(key.code, KeyCode::Char(_));
    if !key.alt || !letter || edits || state.keymap.meaning(&[key]) != Meaning::Nothing {
        return vec![key];
    }
    vec![Key::plain(KeyCode::Esc), Key { alt: false, ..key }]
}

fn press(state: &mut State, key: Key, requests: &mut Vec<UiRequest>) {
    if reviewing::is_too_early(state, key) {
        return;
    }
    // The user goes somewhere else.
    state.opening = None;
    let was_interrupted = std::mem::take(&mut state.interrupted);
    if key == Key::ctrl('c')
        && !matches!(
            state.dialog,
            Some(
                Dialog::New(_)
                    | Dialog::Send(_)
                    | Dialog::Comment(_)
                    | Dialog::Rename(_)
                    | Dialog::Words(_)
            )
        )
    {
        state.dialog = None;
        state.filtering = false;
        interrupt(state, was_interrupted, requests);
        return;
    }
    // Sticky toasts disappear with the next key.
    state.toasts.retain(|toast| toast.until.is_some());
    if state.dialog.is_some() {
        dialogs::press(state, key, requests);
        return;
    }
    if state.filtering {
        filter_key(state, key);
        return;
    }
    if state.pending.is_empty() && reviewing::press(state, key, requests) {
        return;
    }
    state.pending.push(key);
    match state.keymap.meaning(&state.pending) {
        Meaning::Action(action) => {
            state.pending.clear();
            actions::act(state, action, requests);
        }
        Meaning::Prefix => {}
        Meaning::Nothing => {
            let alone = state.pending.len() == 1;
            state.pending.clear();
            match key.code {
                KeyCode::Esc if alone && key == Key::plain(KeyCode::Esc) => {
                    step_back(state, requests);
                }
                KeyCode::Char(digit @ '1'..='9') if alone && key == Key::plain(key.code) => {
                    let number = digit.to_digit(10).unwrap_or(0) as usize;
                    answering::answer(state, requests, DialogAnswer::Number(number));
                }
                _ => {}
            }
        }
    }
}

/// ctrl+c pauses the selected instance. Pressed again, it quits without another change.
fn interrupt(state: &mut State, again: bool, requests: &mut Vec<UiRequest>) {
    state.pending.clear();
    if again {
        state.quitting = true;
        requests.push(UiRequest::Quit);
        return;
    }
    state.interrupted = true;
    let started = actions::interrupt(state, requests);
    let words = match started {
        Some(title) => format!("Pausing `{title}`… Ctrl+C again to quit."),
        None => "Ctrl+C again to quit.".to_owned(),
    };
    state.toasts.retain(|toast| toast.until.is_some());
    state.toast_sticky(ToastKind::Note, words);
}

/// Escape undoes one thing at a time: a prompt being sent, toasts, marks, the filter, scrolling.
fn step_back(state: &mut State, requests: &mut Vec<UiRequest>) {
    if actions::unsend(state, requests) {
        return;
    }
    if !state.toasts.is_empty() {
        state.toasts.clear();
    } else if !state.marks.is_empty() {
        state.marks.clear();
    } else if state.scroll > 0 {
        state.scroll = 0;
    } else if !state.filter.is_empty() {
        state.filter = super::editor::Editor::one_line("");
    } else {
        state.scope = None;
    }
}

fn filter_key(state: &mut State, key: Key) {
    match key.code {
        KeyCode::Esc => {
            state.filter = super::editor::Editor::one_line("");
            state.filtering = false;
        }
        KeyCode::Enter => state.filtering = false,
        KeyCode::Up => upkeep::step(state, -1),
        KeyCode::Down => upkeep::step(state, 1),
        _ => {
            state.filter.press(key);
        }
    }
}
