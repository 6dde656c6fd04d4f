//! What a person is told while an operation is under way.

use crate::lifecycle::{Operation, Step};

/// Listens to an operation. Every face has its own: lines on a terminal, a bar, or nothing.
pub(crate) trait Progress {
    /// A step begins.
    fn step(&mut self, operation: Operation, step: Step);

    /// Something worth knowing that is no failure.
    fn note(&mut self, text: &str);

    /// Whether the user has asked to stop what is under way. Asked only where it can be stopped.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Of several instances, so many are done.
    fn count(&mut self, _done: usize, _of: usize) {}
}

/// For recovery and tests: nobody listens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silent;

impl Progress for Silent {
    fn step(&mut self, _: Operation, _: Step) {}

    fn note(&mut self, _: &str) {}
}
