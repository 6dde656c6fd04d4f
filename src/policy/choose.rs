//! From a dialog to a request, and from a decision to the keys that give it.

use super::decide::{Decision, Request};
use super::digest;
use super::file::OnReject;
use crate::detect::{ChoiceKind, Dialog, Key};

/// The request that a dialog makes.
pub(crate) fn request<'d>(agent: &'d str, dialog: &'d Dialog) -> Request<'d> {
    Request {
        agent,
        tool: dialog.tool.as_deref(),
        readings: dialog.readings(),
        paths: dialog.paths.clone(),
        complete: dialog.complete && dialog.is_readable() && names_its_path(dialog),
        seal: super::decide::Seal::None,
    }
}

/// Whether exactly one choice means yes, for this time only.
pub(crate) fn can_be_accepted(dialog: &Dialog) -> bool {
    dialog.yes().is_some()
}

/// The keys for the decision. Never those of a choice that grants more than this once.
pub(crate) fn keys(dialog: &Dialog, decision: Decision, on_reject: OnReject) -> Vec<Key> {
    let wanted = match (decision, on_reject) {
        (Decision::Accept, _) => ChoiceKind::YesOnce,
        (Decision::Reject, OnReject::Deny) => ChoiceKind::No,
        (Decision::Reject, OnReject::Hold) | (Decision::Manual, _) => return Vec::new(),
    };
    let mut found = dialog.choices.iter().filter(|choice| choice.kind == wanted);
    match (found.next(), found.next(), wanted) {
        (Some(choice), None, _) | (Some(choice), Some(_), ChoiceKind::No) => choice.keys.clone(),
        _ => Vec::new(),
    }
}

/// Identifies a dialog by its content: by all that it shows. Two edits of one file differ in nothing else.
pub(crate) fn fingerprint(dialog: &Dialog) -> String {
    let labels: Vec<&str> = dialog
        .choices
        .iter()
        .map(|choice| choice.label.as_str())
        .collect();
    let whole = format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        dialog.tool, dialog.question, dialog.rows, dialog.paths, dialog.body, labels
    );
    let mut digest = digest(&whole);
    digest.truncate(32);
    digest
}

/// Agents name the file twice, above its content and in the question. Where the two differ, one of them
/// was not read correctly.
fn names_its_path(dialog: &Dialog) -> bool {
    let Some(question) = &dialog.question else {
        return true;
    };
    let named = ["create ", "edit to ", "overwrite ", "write to ", "read "]
        .iter()
        .find_map(|verb| question.split_once(verb))
        .and_then(|(_, rest)| rest.strip_suffix('?'));
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path).trim().to_owned();
    match (named, dialog.paths.first()) {
        (Some(named), Some(path)) => last(named) == last(path),
        _ => true,
    }
}
