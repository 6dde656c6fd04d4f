//! Deliberate panics, for the tests that prove that the terminal is always restored.

/// Panics where `BIV_PANIC_AT` says so. Release builds have no such place.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "that is what it is for")]
pub(super) fn panic_at(here: &str) {
    if std::env::var("BIV_PANIC_AT").is_ok_and(|place| place == here) {
        panic!("as BIV_PANIC_AT={here} asks for");
    }
}

#[cfg(not(debug_assertions))]
pub(super) fn panic_at(_: &str) {}
