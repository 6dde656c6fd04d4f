//! Time as the daemon has lived through it.
//!
//! The system's clock stands still while the machine sleeps, but not while this process alone is
//! stopped, or a container with all that is in it. What then seems to have been idle for hours was not
//! looked at for hours; it must not be put to sleep for that.

use std::time::{Duration, Instant};

use crate::engine::hurried;

/// No wait is longer than this, so that a stop is noticed.
const BREATH: Duration = Duration::from_secs(10);
/// A busy machine wakes nobody exactly when he asked for it. What is beyond was not lived through.
const LATENESS: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Lived {
    total: Duration,
    last: Instant,
    breath: Duration,
    lateness: Duration,
}

impl Lived {
    pub(super) fn new() -> Self {
        Self {
            total: Duration::ZERO,
            last: Instant::now(),
            breath: hurried(BREATH),
            lateness: hurried(LATENESS),
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.total
    }

    /// How long a wait may be that would like to be so long.
    pub(super) fn at_most(&self, wish: Duration) -> Duration {
        wish.min(self.breath)
    }

    /// Time has passed, and somebody is awake.
    pub(super) fn go_on(&mut self) {
        self.go_on_at(Instant::now());
    }

    fn go_on_at(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.last);
        self.total += passed.min(self.breath + self.lateness);
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_lived_through_does_not_count() {
        let mut lived = Lived::new();
        let mut now = lived.last;
        for _ in 0..60 {
            now += lived.at_most(Duration::from_secs(3600));
            lived.go_on_at(now);
        }
        assert_eq!(lived.now(), BREATH * 60);
        now += Duration::from_secs(8 * 3600);
        lived.go_on_at(now);
        assert_eq!(lived.now(), BREATH * 61 + LATENESS);
    }
}
