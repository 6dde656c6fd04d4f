//! Deliberate crashes, for the tests that prove that a crash anywhere loses nothing. Not in release
//! builds.

#[cfg(debug_assertions)]
use std::sync::Mutex;

/// The step that is running, and how many of its effects have happened.
#[cfg(debug_assertions)]
static WITHIN: Mutex<(String, usize)> = Mutex::new((String::new(), 0));

/// Ends this process with SIGKILL where `BIV_CRASH_AT` names this place.
#[cfg(debug_assertions)]
pub(crate) fn at(place: &str) {
    let wanted = std::env::var("BIV_CRASH_AT")
        .is_ok_and(|places| places.split(',').any(|wanted| wanted == place));
    if wanted {
        super::Identity::of_this_process().signal(super::Signal::KILL);
        // The signal was sent; nothing more may happen in this thread.
        loop {
            std::thread::park();
        }
    }
}

/// Starts to count effects from zero, under this name.
#[cfg(debug_assertions)]
pub(crate) fn enter(what: &str) {
    if let Ok(mut within) = WITHIN.lock() {
        *within = (what.to_owned(), 0);
    }
}

/// One of many effects of a step: `BIV_CRASH_AT=pause:thin-worktree:inside:3` crashes after the third.
#[cfg(debug_assertions)]
pub(crate) fn effect() {
    // The lock is held, so no other thread has an effect after the one that was asked for.
    if let Ok(mut within) = WITHIN.lock() {
        within.1 += 1;
        at(&format!("{}:inside:{}", within.0, within.1));
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn at(_: &str) {}

#[cfg(not(debug_assertions))]
pub(crate) fn enter(_: &str) {}

#[cfg(not(debug_assertions))]
pub(crate) fn effect() {}
