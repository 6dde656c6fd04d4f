//! A clock that counts only the time in which the daemon was running.
//!
//! The system's monotonic clock stops while the machine sleeps, but not while this process or its container
//! is stopped. An instance that was not observed during that time must not count as idle for it.

use std::time::{Duration, Instant};

use crate::engine::scaled;

/// No wait is longer than this, so that a stopped process is noticed.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// On a busy machine a wait may end this late. Time beyond that does not count.
const LATENESS: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct AwakeClock {
    total: Duration,
    last: Instant,
    longest_wait: Duration,
    lateness: Duration,
}

impl AwakeClock {
    pub(super) fn new() -> Self {
        Self {
            total: Duration::ZERO,
            last: Instant::now(),
            longest_wait: scaled(LONGEST_WAIT),
            lateness: scaled(LATENESS),
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.total
    }

    /// Limits the length of a wait.
    pub(super) fn at_most(&self, wish: Duration) -> Duration {
        wish.min(self.longest_wait)
    }

    /// Called after each wait.
    pub(super) fn advance(&mut self) {
        self.advance_to(Instant::now());
    }

    fn advance_to(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.last);
        self.total += passed.min(self.longest_wait + self.lateness);
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_the_process_was_stopped_does_not_count() {
        let mut clock = AwakeClock::new();
        let mut now = clock.last;
        for _ in 0..60 {
            now += clock.at_most(Duration::from_secs(3600));
            clock.advance_to(now);
        }
        assert_eq!(clock.now(), LONGEST_WAIT * 60);
        now += Duration::from_secs(8 * 3600);
        clock.advance_to(now);
        assert_eq!(clock.now(), LONGEST_WAIT * 61 + LATENESS);
    }
}
