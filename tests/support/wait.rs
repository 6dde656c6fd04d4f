//! Waiting for something to become true. This is the only place that sleeps.

use std::time::{Duration, Instant};

/// Long enough for a busy machine; nothing that works takes this long.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(15);

/// Looks again and again until the condition holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_told(|| what.to_owned(), || holds().then_some(()));
}

/// Whether the condition comes to hold.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Looks again and again until there is something; what is told of a failure is found out when it
/// happens.
#[track_caller]
pub(crate) fn until_told<T>(what: impl Fn() -> String, look: impl FnMut() -> Option<T>) -> T {
    until_within(PATIENCE, BETWEEN_LOOKS, what, look)
}

/// The same for what takes longer, or is dear to look at.
#[track_caller]
pub(crate) fn until_within<T>(
    patience: Duration,
    between_looks: Duration,
    what: impl Fn() -> String,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            Instant::now() < deadline,
            "waited {} seconds in vain until {}",
            patience.as_secs(),
            what()
        );
        std::thread::sleep(between_looks);
    }
}
