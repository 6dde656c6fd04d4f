//! What the user is shown while an operation runs.

use crate::lifecycle::{Operation, Step};
use crate::model::Title;

/// Receives the progress of an operation. The command line, the UI and the daemon each have their own.
pub(crate) trait Progress {
    /// A step begins.
    fn step(&mut self, operation: Operation, step: Step);

    /// Information for the user that is not a failure.
    fn note(&mut self, text: &str);

    /// Whether the user has asked to stop what is under way. Asked only where it can be stopped.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Of several instances, it is the turn of this one.
    fn turn_of(&mut self, _title: &Title) {}

    /// Something is waited for that may take long.
    fn waiting(&mut self, _what: &str) {}

    /// Of several instances, so many are done.
    fn count(&mut self, _done: usize, _of: usize) {}
}

/// For recovery and tests: progress is not shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silent;

impl Progress for Silent {
    fn step(&mut self, _: Operation, _: Step) {}

    fn note(&mut self, _: &str) {}
}
