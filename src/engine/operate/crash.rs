//! Deliberate crashes before, after and inside the steps of an operation.

use crate::lifecycle::{Operation, Step};
use crate::process::crash;

/// `BIV_CRASH_AT=operation:step:moment`, and the effects of this step from here on.
pub(in crate::engine) fn point(operation: Operation, step: Step, moment: &str) {
    let here = format!("{}:{}", operation.name(), step.name());
    match moment {
        "undo" => crash::enter(&format!("{here}:undo")),
        _ => crash::enter(&here),
    }
    crash::at(&format!("{here}:{moment}"));
}
