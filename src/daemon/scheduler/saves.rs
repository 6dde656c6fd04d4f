//! When the screen is saved: soon after it has come to rest, and from time to time while it changes.

use std::time::Duration;

/// A screen is saved after it has not changed for this long, but not more often than `BETWEEN`.
const AT_REST: Duration = Duration::from_secs(2);
const BETWEEN: Duration = Duration::from_secs(10);
/// A screen that keeps changing is saved this often.
const WHILE_BUSY: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Saves {
    /// Since when the screen is unsaved.
    unsaved: Option<Duration>,
    last: Option<Duration>,
}

impl Saves {
    /// A screen was seen. What it showed before the daemon started may not be saved yet.
    pub(super) fn seen(&mut self, now: Duration, has_changed: bool) {
        if has_changed || self.last.is_none() {
            self.unsaved.get_or_insert(now);
        }
    }

    /// When the screen, unchanged since `still`, is to be saved.
    pub(super) fn due(&self, still: Duration) -> Option<Duration> {
        let unsaved = self.unsaved?;
        let after_last = |pause| self.last.map_or(Duration::ZERO, |last| last + pause);
        let at_rest = (still + AT_REST).max(after_last(BETWEEN));
        let busy = (unsaved + WHILE_BUSY).max(after_last(WHILE_BUSY));
        Some(at_rest.min(busy))
    }

    /// The screen is saved now. Returns whether it is at rest.
    pub(super) fn saved(&mut self, now: Duration, still: Duration) -> bool {
        self.unsaved = None;
        self.last = Some(now);
        now >= still + AT_REST
    }
}
