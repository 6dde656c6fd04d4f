//! The question before work is landed.

use super::questions::titles;
use crate::engine::InstanceView;
use crate::model::{InstanceId, printable_line};
use crate::tui::dialog::{Confirm, Dialog, OnYes};
use crate::tui::message::{Lookup, UiRequest};
use crate::tui::state::{State, ToastKind};

/// Asks before those that have something to land are landed.
pub(super) fn ask(state: &mut State, requests: &mut Vec<UiRequest>) {
    let targets = state.targets();
    if targets.is_empty() {
        return state.toast(ToastKind::Note, "Nothing is selected.".to_owned());
    }
    let has_nothing = |id: &InstanceId| state.by_id(id).is_some_and(has_nothing);
    let (without, ids): (Vec<_>, Vec<_>) = targets.into_iter().partition(has_nothing);
    if ids.is_empty() {
        let words = format!("Nothing to land: {}.", named_without(state, &without));
        // It may have changed since the list was read.
        requests.push(UiRequest::List);
        return state.toast(ToastKind::Note, words);
    }
    let (here, elsewhere) = state.by_place(ids.clone());
    let mut question = question(state, ids);
    if !without.is_empty() {
        let words = format!("Left out: {}.", named_without(state, &without));
        question.details.push(words);
    }
    if !elsewhere.is_empty() {
        let words = "Where a repository has a check, the result must pass it first.";
        question.details.push(words.to_owned());
    }
    if !here.is_empty() {
        requests.push(UiRequest::Look(Lookup::Checks(here)));
    }
    state.dialog = Some(Dialog::Confirm(question));
}

/// The checks of those that the question is about.
pub(super) fn take_checks(state: &mut State, of: &[InstanceId], checks: &[String]) {
    if let Some(Dialog::Confirm(Confirm {
        on_yes: OnYes::Land(ids),
        details,
        ..
    })) = &mut state.dialog
        && of.iter().all(|id| ids.contains(id))
        && !checks.is_empty()
    {
        let checks: Vec<String> = checks.iter().map(|it| printable_line(it)).collect();
        let words = format!(
            "The check runs on the result first (`{}`); if it fails, nothing changes.",
            checks.join("`, `")
        );
        details.insert(1.min(details.len()), words);
    }
}

/// The base has all that it has, committed or not. One that was merged is landed to end it.
fn has_nothing(view: &InstanceView) -> bool {
    let standing = view.standing.as_ref();
    standing.is_some_and(|it| it.ahead == 0 && !it.merged) && view.dirty == Some(false)
}

fn named_without(state: &State, ids: &[InstanceId]) -> String {
    let base = match ids {
        [id] => state.by_id(id).and_then(|view| view.standing.as_ref()),
        _ => None,
    };
    let titles = titles(state, ids);
    match (base, ids) {
        (Some(standing), _) => format!("{titles} has no work that `{}` has not", standing.base),
        (None, [_]) => format!("{titles} has no work that its base has not"),
        (None, _) => format!("{titles} have no work that their bases have not"),
    }
}

fn question(state: &State, ids: Vec<InstanceId>) -> Confirm {
    let views: Vec<&InstanceView> = ids.iter().filter_map(|id| state.by_id(id)).collect();
    let alone = match views.as_slice() {
        [view] => view.standing.as_ref().map(|standing| (*view, standing)),
        _ => None,
    };
    let what = match (alone, views.len()) {
        (Some((_, it)), _) if it.ahead > 1 => {
            format!("`{}` gets its {} commits.", it.base, it.ahead)
        }
        (Some((_, it)), _) if it.ahead == 1 => format!("`{}` gets its commit.", it.base),
        (Some((_, it)), _) if it.merged => {
            format!(
                "`{}` has all of its commits already: it is only ended.",
                it.base
            )
        }
        (Some((view, it)), _) if view.dirty == Some(true) => {
            format!(
                "Only uncommitted work can land: `{}` has all its commits.",
                it.base
            )
        }
        (Some((_, it)), _) => format!("It has no commits that `{}` does not have.", it.base),
        (None, 1) => "Its base gets its commits.".to_owned(),
        (None, _) => "One after another, each on top of the one before.".to_owned(),
    };
    Confirm {
        question: format!("Land {}?", titles(state, &ids)),
        details: vec![
            what,
            "With a conflict nothing changes. What has landed is ended; `biv undo-land` takes it back."
                .to_owned(),
        ],
        option: Some(("uncommitted work too, as a commit", false)),
        on_yes: OnYes::Land(ids),
    }
}
