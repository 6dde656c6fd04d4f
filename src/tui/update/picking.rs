//! Keys in a popup with a list, and what it gets to show.

use super::questions::queue_form;
use super::{actions, landing, looking, upkeep};
use crate::config::{Key, KeyCode};
use crate::model::State as InstanceState;
use crate::tui::dialog::Dialog;
use crate::tui::message::{Lookup, LookupResult, UiRequest};
use crate::tui::picker::{Content, Picker};
use crate::tui::state::{Seek, State, Tab};

pub(super) fn press(
    state: &mut State,
    mut picker: Box<Picker>,
    key: Key,
    requests: &mut Vec<UiRequest>,
) -> Option<Dialog> {
    let last = picker.rows(&state.keymap).len().saturating_sub(1);
    let typed = picker.input.is_some();
    match key.code {
        KeyCode::Esc => return None,
        KeyCode::Char('q') if !typed => return None,
        KeyCode::Enter => return chosen(state, picker, requests),
        KeyCode::Up if key.shift => reorder(&mut picker, true, requests),
        KeyCode::Down if key.shift => reorder(&mut picker, false, requests),
        KeyCode::Char('K') if !typed => reorder(&mut picker, true, requests),
        KeyCode::Char('J') if !typed => reorder(&mut picker, false, requests),
        KeyCode::Char('x' | 'd') | KeyCode::Delete if !typed => {
            if let (Some(number), Content::Queue { id, .. }) = (picker.waiting(), &picker.content) {
                let id = id.clone();
                requests.push(UiRequest::Look(Lookup::DropQueued { id, number }));
            }
        }
        KeyCode::Char('c') if !typed => {
            if let Content::Queue { id, queue, .. } = &picker.content
                && queue.as_ref().is_some_and(|queue| queue.stopped.is_some())
            {
                requests.push(UiRequest::Look(Lookup::ContinueQueue(id.clone())));
            }
        }
        KeyCode::Char('a') if !typed => {
            if let Content::Queue { id, title, .. } = &picker.content {
                let (id, title) = (id.clone(), title.to_string());
                return Some(queue_form(id, title, picker));
            }
        }
        KeyCode::Up => picker.at = picker.at.saturating_sub(1),
        KeyCode::Down => picker.at = (picker.at + 1).min(last),
        KeyCode::Char('k') if !typed => picker.at = picker.at.saturating_sub(1),
        KeyCode::Char('j') if !typed => picker.at = (picker.at + 1).min(last),
        KeyCode::PageUp => picker.at = picker.at.saturating_sub(10),
        KeyCode::PageDown => picker.at = (picker.at + 10).min(last),
        _ => {
            if let Some(input) = &mut picker.input
                && input.press(key)
            {
                picker.at = 0;
            }
        }
    }
    Some(Dialog::Pick(picker))
}

fn reorder(picker: &mut Picker, forward: bool, requests: &mut Vec<UiRequest>) {
    if let (Some(number), Content::Queue { id, .. }) = (picker.waiting(), &picker.content) {
        requests.push(UiRequest::Look(Lookup::MoveQueued {
            id: id.clone(),
            number,
            forward,
        }));
    }
}

fn chosen(
    state: &mut State,
    mut picker: Box<Picker>,
    requests: &mut Vec<UiRequest>,
) -> Option<Dialog> {
    let at = picker.at;
    match &mut picker.content {
        Content::Commands => {
            let action = picker.actions().get(at).map(|(action, ..)| *action);
            if let Some(action) = action {
                actions::act(state, action, requests);
                return state.dialog.take();
            }
        }
        Content::Search { words, found } => {
            let typed = picker.input.as_ref().map_or("", |input| input.text());
            let typed = typed.trim().to_owned();
            if typed != *words {
                *words = typed.clone();
                *found = None;
                picker.at = 0;
                if typed.is_empty() {
                    *found = Some(Default::default());
                } else {
                    requests.push(UiRequest::Look(Lookup::Search(typed)));
                }
                return Some(Dialog::Pick(picker));
            }
            let hit = found.as_ref().and_then(|found| found.matches.get(at));
            if let Some(hit) = hit {
                let seek = Seek {
                    id: hit.id.clone(),
                    at: hit.timestamp,
                };
                go_to(state, seek, hit.state == InstanceState::Killed, requests);
                return None;
            }
        }
        Content::Queue { .. } | Content::Audit { .. } => {}
    }
    Some(Dialog::Pick(picker))
}

/// Opens the conversation of an instance where something was said.
fn go_to(state: &mut State, seek: Seek, killed: bool, requests: &mut Vec<UiRequest>) {
    state.filter = crate::tui::editor::Editor::one_line("");
    state.scope = None;
    if state.showing_killed != killed {
        looking::turn_killed(state, requests);
    }
    upkeep::select(state, seek.id.clone());
    looking::select_tab(state, Tab::Conversation);
    state.seek = Some(seek);
}

/// Takes what was looked up for the popup that has asked for it.
pub(super) fn take(state: &mut State, result: LookupResult) {
    if let LookupResult::Checks(ids, checks) = &result {
        return landing::take_checks(state, ids, checks);
    }
    let Some(Dialog::Pick(picker)) = &mut state.dialog else {
        return;
    };
    match (&mut picker.content, result) {
        (Content::Search { words, found }, LookupResult::Search(asked, result))
            if *words == asked =>
        {
            *found = Some(result);
        }
        (Content::Queue { id, .. }, LookupResult::Queue(view)) if *id == view.instance => {
            picker.take_queue(view);
        }
        (Content::Audit { id, lines, .. }, LookupResult::Audit(of, result)) if *id == of => {
            *lines = Some(result);
        }
        _ => {}
    }
}

/// Whether the popup of a queue is open.
pub(super) fn shows_queue(state: &State) -> bool {
    matches!(&state.dialog, Some(Dialog::Pick(picker)) if matches!(picker.content, Content::Queue { .. }))
}

/// A prompt was added to a queue: the popup shows it.
pub(super) fn added(state: &mut State, requests: &mut Vec<UiRequest>) {
    if let Some(Dialog::Pick(picker)) = &mut state.dialog
        && let Content::Queue { to_newest, .. } = &mut picker.content
    {
        *to_newest = true;
    }
    look_again(state, requests);
}

/// Something has changed: the queue in the popup may have too.
pub(super) fn look_again(state: &State, requests: &mut Vec<UiRequest>) {
    if let Some(Dialog::Pick(picker)) = &state.dialog {
        requests.extend(look_at(picker));
    }
}

/// The popup that a form came from, after it.
pub(super) fn opened_again(
    popup: Option<Box<Picker>>,
    requests: &mut Vec<UiRequest>,
) -> Option<Dialog> {
    requests.extend(popup.as_deref().and_then(look_at));
    popup.map(Dialog::Pick)
}

fn look_at(picker: &Picker) -> Option<UiRequest> {
    match &picker.content {
        Content::Queue { id, .. } => Some(UiRequest::Look(Lookup::Queue(id.clone()))),
        _ => None,
    }
}
