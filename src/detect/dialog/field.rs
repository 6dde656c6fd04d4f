//! Tells a field for text that is open inside a dialog: keys that would choose are a part of its text then.

use super::spec::DialogSpec;
use super::{Choice, ChoiceKind};

/// Whether the selected choice is such a field.
pub(super) fn is_open(spec: &DialogSpec, choices: &[Choice], selected: Option<usize>) -> bool {
    let Some(field) = &spec.field else {
        return false;
    };
    let Some((at, choice)) = selected.and_then(|at| Some((at, choices.get(at)?))) else {
        return false;
    };
    let begun = field.is_match(&choice.label);
    let is_last = at + 1 == choices.len();
    match &spec.own_words {
        // The choices between the first and the last may read alike.
        None => begun && (at == 0 || is_last),
        // What was written stands in place of the label, in one of the last two choices of three or more.
        Some(own) => {
            let is_written = choice.kind == ChoiceKind::Other
                && choices.len() > 2
                && at + 2 >= choices.len()
                && !choices.iter().any(|choice| own.is_match(&choice.label));
            begun || is_written
        }
    }
}
