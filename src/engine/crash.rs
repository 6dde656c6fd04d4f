//! Deliberate crashes, for the tests that prove that a crash anywhere loses nothing.

use crate::lifecycle::{Operation, Step};

/// Ends this process with SIGKILL where `BIV_CRASH_AT=operation:step:moment` says so. Release
/// builds have no such place.
#[cfg(debug_assertions)]
pub(super) fn point(operation: Operation, step: Step, moment: &str) {
    place(&format!("{}:{}:{moment}", operation.name(), step.name()));
}

/// The same for what is no step of an operation.
#[cfg(debug_assertions)]
pub(super) fn place(here: &str) {
    let wanted = std::env::var("BIV_CRASH_AT")
        .is_ok_and(|places| places.split(',').any(|place| place == here));
    if wanted {
        crate::process::Identity::of_this_process().signal(crate::process::Signal::KILL);
        // The signal is on its way; nothing more may happen here.
        loop {
            std::thread::park();
        }
    }
}

#[cfg(not(debug_assertions))]
pub(super) fn point(_: Operation, _: Step, _: &str) {}

#[cfg(not(debug_assertions))]
pub(super) fn place(_: &str) {}
