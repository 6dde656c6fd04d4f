//! Scales the daemon's times in tests, which cannot wait for minutes.

use std::time::Duration;

/// A duration of the daemon's clocks. In debug builds `BIV_MINUTE_MS` says how long a minute lasts.
#[cfg(debug_assertions)]
pub(crate) fn scaled(duration: Duration) -> Duration {
    let minute = std::env::var("BIV_MINUTE_MS")
        .ok()
        .and_then(|text| text.parse::<u32>().ok());
    match minute {
        Some(milliseconds) => duration * milliseconds / 60_000,
        None => duration,
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn scaled(duration: Duration) -> Duration {
    duration
}
