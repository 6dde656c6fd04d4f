//! Resumes for the sake of the queue. An agent that fails to start again and again is left alone.

use std::collections::VecDeque;
use std::time::Duration;

/// After this many failed starts within this time, no further start is tried.
const FAILURES: usize = 3;
const WITHIN: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Wakes {
    under_way: bool,
    failed: VecDeque<Duration>,
}

impl Wakes {
    pub(super) fn set_under_way(&mut self, under_way: bool) {
        self.under_way = under_way;
    }

    /// The job has ended that resumed the instance, if one did.
    pub(super) fn end(&mut self, now: Duration, succeeded: bool) {
        if !std::mem::take(&mut self.under_way) {
            return;
        }
        if succeeded {
            self.failed.clear();
            return;
        }
        self.failed.push_back(now);
        if self.failed.len() > FAILURES {
            self.failed.pop_front();
        }
    }

    pub(super) fn forget_failures(&mut self) {
        self.failed.clear();
    }

    /// The last resumes have failed shortly after each other: another one would fail too.
    pub(super) fn have_failed_too_often(&self) -> bool {
        match (self.failed.front(), self.failed.back()) {
            (Some(first), Some(last)) if self.failed.len() >= FAILURES => {
                last.saturating_sub(*first) <= WITHIN
            }
            _ => false,
        }
    }
}
