//! The delay after a job that could not run: doubled each time, up to a limit.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(2);
const LAST: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Retry {
    at: Duration,
    next_delay: Duration,
}

impl Retry {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            at: now,
            next_delay: FIRST,
        }
    }

    /// When the next job may run, if that is not yet.
    pub(super) fn due(&self, now: Duration) -> Option<Duration> {
        (now < self.at).then_some(self.at)
    }

    /// The next job runs after the first delay, whatever failed before.
    pub(super) fn soon(&mut self, now: Duration) {
        self.at = now + FIRST;
    }

    pub(super) fn later(&mut self, now: Duration) {
        self.at = now + self.next_delay;
        self.next_delay = (self.next_delay * 2).min(LAST);
    }

    pub(super) fn reset(&mut self, now: Duration) {
        *self = Self::new(now);
    }
}
