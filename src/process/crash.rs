//! Deliberate crashes, for the tests that prove that a crash anywhere loses nothing. Release builds
//! have no such places.

#[cfg(debug_assertions)]
use std::sync::Mutex;

/// What is being carried out, and how many of its effects have happened.
#[cfg(debug_assertions)]
static WITHIN: Mutex<(String, usize)> = Mutex::new((String::new(), 0));

/// Ends this process with SIGKILL where `BIV_CRASH_AT` names this place.
#[cfg(debug_assertions)]
pub(crate) fn at(place: &str) {
    let wanted = std::env::var("BIV_CRASH_AT")
        .is_ok_and(|places| places.split(',').any(|wanted| wanted == place));
    if wanted {
        super::Identity::of_this_process().signal(super::Signal::KILL);
        // The signal is on its way; nothing more may happen here.
        loop {
            std::thread::park();
        }
    }
}

/// Effects are counted anew from here on, under this name.
#[cfg(debug_assertions)]
pub(crate) fn enter(what: &str) {
    if let Ok(mut within) = WITHIN.lock() {
        *within = (what.to_owned(), 0);
    }
}

/// One of many effects of a step: `BIV_CRASH_AT=pause:thin-worktree:inside:3` crashes behind the third.
#[cfg(debug_assertions)]
pub(crate) fn effect() {
    // No other thread has an effect behind the one that was asked for: the lock is held.
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
