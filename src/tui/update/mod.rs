//! From what has happened to what is to be shown and done. No clock, no files, no processes.

mod actions;
mod arrivals;
mod dialogs;
mod looking;
mod mouse;
mod questions;
mod toasts;
mod upkeep;

use super::dialog::Dialog;
use super::input::Event;
use super::keys::Meaning;
use super::message::{Call, Message};
use super::state::{State, ToastKind};
use crate::config::{Key, KeyCode};

/// Takes in one message; gives back what is to be done about it.
pub(super) fn update(state: &mut State, message: Message) -> Vec<Call> {
    let mut calls = Vec::new();
    match message {
        Message::Typed(Event::Key(key)) => {
            for key in apart(state, key) {
                press(state, key, &mut calls);
            }
        }
        Message::Typed(Event::Paste(text)) => dialogs::paste(state, &text),
        Message::Typed(Event::Mouse(mouse)) => mouse::mouse(state, mouse, &mut calls),
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
        other => arrivals::arrive(state, other, &mut calls),
    }
    upkeep::upkeep(state, &mut calls);
    calls
}

/// Escape and a letter that come together are alt and that letter, which mostly means nothing here:
/// then they are what was pressed quickly, one after the other.
fn apart(state: &State, key: Key) -> Vec<Key> {
    let edits = matches!(key.code, KeyCode::Char('b' | 'f'));
    let letter = matches!(key.code, KeyCode::Char(_));
    if !key.alt || !letter || edits || state.keymap.meaning(&[key]) != Meaning::Nothing {
        return vec![key];
    }
    vec![Key::plain(KeyCode::Esc), Key { alt: false, ..key }]
}

fn press(state: &mut State, key: Key, calls: &mut Vec<Call>) {
    let was_interrupted = std::mem::take(&mut state.interrupted);
    if key == Key::ctrl('c') && !matches!(state.dialog, Some(Dialog::New(_) | Dialog::Send(_))) {
        state.dialog = None;
        state.filtering = false;
        interrupt(state, was_interrupted, calls);
        return;
    }
    // What waits to be read goes with the next key.
    state.toasts.retain(|toast| toast.until.is_some());
    if state.dialog.is_some() {
        dialogs::press(state, key, calls);
        return;
    }
    if state.filtering {
        filter_key(state, key);
        return;
    }
    state.pending.push(key);
    match state.keymap.meaning(&state.pending) {
        Meaning::Action(action) => {
            state.pending.clear();
            actions::act(state, action, calls);
        }
        Meaning::Prefix => {}
        Meaning::Nothing => {
            let alone = state.pending.len() == 1;
            state.pending.clear();
            if alone && key == Key::plain(KeyCode::Esc) {
                step_back(state, calls);
            }
        }
    }
}

/// ctrl+c pauses the selected instance and stays; pressed again, it quits and changes nothing more.
fn interrupt(state: &mut State, again: bool, calls: &mut Vec<Call>) {
    state.pending.clear();
    if again {
        state.quitting = true;
        calls.push(Call::Quit);
        return;
    }
    state.interrupted = true;
    let started = actions::interrupt(state, calls);
    let words = match started {
        Some(title) => format!("Pausing `{title}`… Ctrl+C again to quit."),
        None => "Ctrl+C again to quit.".to_owned(),
    };
    state.toasts.retain(|toast| toast.until.is_some());
    state.toast_sticky(ToastKind::Note, words);
}

/// Escape undoes one thing after the other: a prompt on its way, toasts, marks, the filter, scrolling.
fn step_back(state: &mut State, calls: &mut Vec<Call>) {
    if actions::unsend(state, calls) {
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
