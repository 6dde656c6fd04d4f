//! Keys while a line of the diff is chosen for a comment.

use super::jobs::start;
use super::looking;
use super::questions::on_host;
use crate::config::{Key, KeyCode};
use crate::model::NewComment;
use crate::tui::dialog::{CommentForm, Dialog};
use crate::tui::diff::{DiffPage, Row};
use crate::tui::editor::Editor;
use crate::tui::message::{Task, UiRequest};
use crate::tui::state::{State, Tab, ToastKind, Verb};

/// So many lines of the hunk on either side go with a comment.
const CONTEXT: usize = 3;

/// Opens the diff with a cursor on its first visible row.
pub(super) fn begin(state: &mut State) {
    if let Some(name) = state.current().and_then(on_host) {
        let words =
            format!("Comments are kept where it is; `biv review {name} --from FILE` sends some.");
        return state.toast(ToastKind::Note, words);
    }
    looking::select_tab(state, Tab::Diff);
    if shown(state).is_none() {
        state.opening = state.selected.clone();
        return;
    }
    state.review = Some(state.scroll);
    if let Some(page) = shown(state)
        && page.patch.files.is_empty()
        && page.comments.is_empty()
    {
        state.review = None;
        state.toast(ToastKind::Note, "Nothing was changed.".to_owned());
    }
}

/// Goes to the diff of the instance that was named on the command line, and puts the cursor on it once it is
/// there.
pub(super) fn open_named(state: &mut State) {
    let Some(id) = state.opening.clone().filter(|_| state.loaded) else {
        return;
    };
    if !state.instances.iter().any(|view| view.id == id) {
        state.opening = None;
        return;
    }
    if state.selected.as_ref() != Some(&id) {
        state.selected = Some(id);
        looking::select_tab(state, Tab::Diff);
    }
    if shown(state).is_some() {
        state.opening = None;
        begin(state);
    }
}

/// Whether the diff with the cursor is still being read, and the key has to wait for it: the same key would attach, or
/// answer a dialog.
pub(super) fn is_too_early(state: &State, key: Key) -> bool {
    let waits = state.opening.is_some()
        && state.opening == state.selected
        && state.tab == Tab::Diff
        && state.dialog.is_none()
        && state.page.trouble.is_none()
        && shown(state).is_none();
    let is_word = match key.code {
        KeyCode::Esc | KeyCode::Char('q' | 'v') => false,
        KeyCode::Char(_) | KeyCode::Enter | KeyCode::Delete => !key.ctrl && !key.alt,
        _ => false,
    };
    waits && is_word
}

fn shown(state: &State) -> Option<&DiffPage> {
    let (id, page) = state.page.diff.as_ref()?;
    (state.selected.as_ref() == Some(id)).then_some(page)
}

/// Handles a key; false where it has no meaning here.
pub(super) fn press(state: &mut State, key: Key, requests: &mut Vec<UiRequest>) -> bool {
    let Some(row) = state.review else {
        return false;
    };
    let height = looking::page_height(state);
    match key.code {
        _ if key.ctrl || key.alt => return false,
        KeyCode::Esc | KeyCode::Char('q' | 'v') => state.review = None,
        KeyCode::Up | KeyCode::Char('k') => step(state, row, -1),
        KeyCode::Down | KeyCode::Char('j') => step(state, row, 1),
        KeyCode::PageUp => state.review = Some(row.saturating_sub(height)),
        KeyCode::PageDown => state.review = Some(row.saturating_add(height)),
        KeyCode::Home => state.review = Some(0),
        KeyCode::End => state.review = Some(usize::MAX),
        KeyCode::Enter | KeyCode::Char('c' | 'm') => open(state, row),
        KeyCode::Char('x' | 'd') | KeyCode::Delete => drop_comment(state, row, requests),
        KeyCode::Char('s' | 'S') => send(state, requests),
        _ => return false,
    }
    true
}

/// Moves over whole lines, however many rows they take.
fn step(state: &mut State, row: usize, by: isize) {
    let Some(page) = shown(state) else { return };
    let mut next = row;
    loop {
        let wanted = next.saturating_add_signed(by);
        if wanted == next || wanted >= page.rows.len() {
            return;
        }
        next = wanted;
        if page.rows.get(next).is_some_and(|row| row.is_first()) {
            break;
        }
    }
    state.review = Some(next);
}

fn open(state: &mut State, row: usize) {
    let Some(form) = form_for(state, row) else {
        return;
    };
    state.dialog = Some(Dialog::Comment(Box::new(form)));
}

fn form_for(state: &State, row: usize) -> Option<CommentForm> {
    let (id, page) = state.page.diff.as_ref()?;
    if let Some(Row::Comment { comment, .. }) = page.rows.get(row) {
        let comment = page.comments.get(*comment)?;
        return Some(CommentForm {
            id: id.clone(),
            number: Some(comment.number),
            about: NewComment {
                file: comment.file.clone(),
                line: comment.line,
                side: comment.side,
                hunk: comment.hunk.clone(),
                text: String::new(),
            },
            text: Editor::with_lines(&comment.text),
            trouble: None,
        });
    }
    let line = page.line_of(row)?;
    let (file, number, side) = page.place_of(line)?;
    let hunk = number.map_or_else(Vec::new, |_| page.patch.around(line, CONTEXT));
    Some(CommentForm {
        id: id.clone(),
        number: None,
        about: NewComment {
            file,
            line: number,
            side,
            hunk,
            text: String::new(),
        },
        text: Editor::many_lines(),
        trouble: None,
    })
}

fn drop_comment(state: &mut State, row: usize, requests: &mut Vec<UiRequest>) {
    let number = shown(state).and_then(|page| match page.rows.get(row)? {
        Row::Comment { comment, .. } => Some(page.comments.get(*comment)?.number),
        Row::Line { .. } | Row::Pair { .. } => None,
    });
    let (Some(number), Some(id)) = (number, state.selected.clone()) else {
        state.toast(ToastKind::Note, "There is no comment here.".to_owned());
        return;
    };
    let task = Task::ChangeComment {
        id: id.clone(),
        number,
        text: None,
    };
    start(state, requests, Verb::Comment, Some(&id), task);
}

fn send(state: &mut State, requests: &mut Vec<UiRequest>) {
    let any = shown(state).is_some_and(|page| !page.comments.is_empty());
    match state.selected.clone().filter(|_| any) {
        Some(id) => {
            let task = Task::SendReview(id.clone());
            start(state, requests, Verb::SendReview, Some(&id), task);
        }
        None => state.toast(
            ToastKind::Note,
            "There are no comments; enter writes one.".to_owned(),
        ),
    }
}
