//! Notifications for the user, each sent once.

use std::time::Duration;

use crate::model::Activity;

/// A dialog that disappears for less than this is the same dialog.
const FLICKER: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    NeedsYou,
    Finished,
    Failed,
}

impl Notice {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs-you",
            Self::Finished => "finished",
            Self::Failed => "failed",
        }
    }
}

/// What the user was notified of, for one instance.
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// It needs the user, who was notified or was attached.
    notified: bool,
    last: Option<(u64, Duration)>,
}

impl Notices {
    /// Takes the current activity; returns whether to notify. `screen_hash` is a hash of the screen; `watched`: a
    /// client is attached.
    pub(super) fn activity(
        &mut self,
        now: Duration,
        activity: Activity,
        screen_hash: u64,
        watched: bool,
    ) -> Option<Notice> {
        match activity {
            Activity::Busy | Activity::Idle | Activity::Menu | Activity::Exited => {
                self.notified = false;
                None
            }
            // Neither: the state stays.
            Activity::Unknown => None,
            Activity::Approval | Activity::Question | Activity::Blocked => {
                let flicker = self
                    .last
                    .is_some_and(|(before, at)| before == screen_hash && now < at + FLICKER);
                let silent = self.notified || watched || flicker;
                self.notified = true;
                self.last = Some((screen_hash, now));
                (!silent).then_some(Notice::NeedsYou)
            }
        }
    }

    /// The activity when the daemon started: no notification.
    pub(super) fn found(&mut self, now: Duration, activity: Activity, screen_hash: u64) {
        self.activity(now, activity, screen_hash, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each look is (seconds, activity, screen_hash, watched); returns when the user was notified.
    fn notified_at(looks: &[(u64, Activity, u64, bool)]) -> Vec<u64> {
        let mut notices = Notices::default();
        looks
            .iter()
            .filter_map(|(at, activity, screen_hash, watched)| {
                notices
                    .activity(Duration::from_secs(*at), *activity, *screen_hash, *watched)
                    .map(|_| *at)
            })
            .collect()
    }

    #[test]
    fn each_dialog_is_told_once() {
        use Activity::{Approval, Blocked, Busy, Idle, Question, Unknown};
        for (looks, expected) in [
            // Observed several times, with a changing screen.
            (
                vec![
                    (0, Busy, 1, false),
                    (1, Approval, 2, false),
                    (9, Approval, 3, false),
                ],
                vec![1],
            ),
            // A flicker.
            (
                vec![
                    (1, Approval, 2, false),
                    (2, Unknown, 9, false),
                    (3, Approval, 2, false),
                ],
                vec![1],
            ),
            (
                vec![
                    (1, Approval, 2, false),
                    (2, Busy, 9, false),
                    (3, Approval, 2, false),
                ],
                vec![1],
            ),
            // Another dialog, or the same one much later.
            (
                vec![
                    (1, Approval, 2, false),
                    (2, Busy, 9, false),
                    (3, Approval, 4, false),
                ],
                vec![1, 3],
            ),
            (
                vec![
                    (1, Approval, 2, false),
                    (2, Busy, 9, false),
                    (30, Approval, 2, false),
                ],
                vec![1, 30],
            ),
            (
                vec![
                    (1, Question, 2, false),
                    (2, Idle, 9, false),
                    (30, Blocked, 3, false),
                ],
                vec![1, 30],
            ),
            // The user attaches and detaches.
            (
                vec![(1, Approval, 2, true), (9, Approval, 2, false)],
                vec![],
            ),
            (
                vec![
                    (1, Approval, 2, true),
                    (9, Busy, 5, false),
                    (20, Approval, 3, false),
                ],
                vec![20],
            ),
        ] {
            assert_eq!(notified_at(&looks), expected, "{looks:?}");
        }
    }
}
