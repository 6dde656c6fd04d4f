//! Waiting for something to become true. This is the only place that sleeps.

use std::time::{Duration, Instant};

/// Long enough for a busy machine; nothing that works takes this long.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(15);
/// Most looks are processes of their own: what takes long is looked at less often, up to so many times the pause.
const MOST: u32 = 5;

/// Looks again and again until the condition holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_told(|| what.to_owned(), || holds().then_some(()));
}

/// Whether the condition comes to hold.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let since = Instant::now();
    loop {
        if holds() {
            return true;
        }
        if since.elapsed() > PATIENCE {
            return false;
        }
        rest(since, BETWEEN_LOOKS);
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
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            since.elapsed() < patience,
            "waited {} seconds in vain until {}",
            patience.as_secs(),
            what()
        );
        rest(since, between_looks);
    }
}

/// Until the next look: a tenth of the time that was waited already, within bounds.
fn rest(since: Instant, between_looks: Duration) {
    let waited = since.elapsed() / 10;
    std::thread::sleep(waited.clamp(between_looks, between_looks * MOST));
}
