//! Answers what an agent asks.

use super::jobs::start;
use crate::engine::DialogAnswer;
use crate::model::printable_line;
use crate::tui::dialog::{Dialog, WordsForm};
use crate::tui::editor::Editor;
use crate::tui::message::{Task, UiRequest};
use crate::tui::state::{State, StatusKind, ToastKind, Verb, kind};

/// Answers the dialog of the selected instance: the one that the list shows, and no other.
pub(super) fn answer(state: &mut State, requests: &mut Vec<UiRequest>, answer: DialogAnswer) {
    let Some(view) = state.current() else {
        state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
        return;
    };
    let (id, title) = (view.id.clone(), view.title.clone());
    if state.marks.iter().any(|marked| *marked != id) {
        // Each asks something else, and only that of the selected one is to be read whole.
        let words = "Each question is answered by itself: esc drops the marks, then answer the selected one.";
        return state.toast(ToastKind::Note, words.to_owned());
    }
    let Some(asks) = &view.asks else {
        let words = if let Some(matter) = view.open_matter() {
            // No choice of ours could answer that.
            format!("{}: attach to answer.", printable_line(matter))
        } else if kind(state.shown(view)) == StatusKind::NeedsYou {
            // The list is read again, with the dialog in it.
            requests.push(UiRequest::List);
            format!("What `{title}` asks is being read; try again.")
        } else {
            format!("`{title}` asks nothing.")
        };
        state.toast(ToastKind::Note, words);
        return;
    };
    let refused = match answer {
        DialogAnswer::Yes if !asks.takes_yes => Some("yes, for this time only"),
        DialogAnswer::No if !asks.takes_no => Some("no"),
        _ => None,
    };
    if let Some(meaning) = refused {
        let words = format!("No choice means {meaning}; choose by its number.");
        return state.toast(ToastKind::Note, words);
    }
    if let DialogAnswer::Number(choice) = answer
        && asks.own_words == Some(choice)
    {
        state.dialog = Some(Dialog::Words(WordsForm {
            id,
            title: title.to_string(),
            asked: asks.text.clone(),
            dialog: asks.dialog.clone(),
            choice,
            words: Editor::one_line(""),
            trouble: None,
        }));
        return;
    }
    let task = Task::Answer {
        id: id.clone(),
        answer,
        dialog: asks.dialog.clone(),
        words: None,
    };
    start(state, requests, Verb::Answer, Some(&id), task);
}
