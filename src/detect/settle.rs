//! Decides from samples over time whether a screen has come to rest.

use std::collections::VecDeque;
use std::time::Duration;

use super::judge::Verdict;
use super::screen::Screen;
use crate::model::Activity;

/// How long the same verdict on the same screen must hold: longer than the gap between two frames of any
/// agent's animation, shorter than a user notices.
const HOLD: Duration = Duration::from_millis(300);
/// The default window for the output rate.
const WINDOW: Duration = Duration::from_secs(5);
/// Characters a second below which a screen counts as quiet.
const QUIET_RATE: f64 = 0.5;

/// A fold over samples of one pane: it gets each sample and says when the agent is at rest.
#[derive(Debug)]
pub(crate) struct Settle {
    quiet: Quiet,
    hold: Duration,
    last: Option<Sample>,
    /// How many characters changed, and when, within the window.
    changes: VecDeque<(Duration, usize)>,
    first: Option<Duration>,
}

#[derive(Debug)]
struct Sample {
    screen: Screen,
    activity: Activity,
    rule: Option<String>,
    /// Since when screen and verdict have not changed.
    since: Duration,
}

/// Whether an unknown screen counts as being at rest when next to nothing changes on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quiet {
    /// No: for an agent with rules that is starting. A blank screen is not its prompt.
    Ignored,
    /// Yes: for a pause, which should not wait longer than needed.
    Counts,
    /// Yes, after this time: for an agent without rules, for which this is the only sign.
    After(Duration),
}

/// How the agent is at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RestKind {
    /// At its prompt.
    Idle,
    /// A dialog, a question or an obstacle waits for the user.
    Waiting(Activity),
    /// Unknown, but next to no output.
    Quiet,
    Exited,
}

impl Settle {
    pub(crate) fn new(quiet: Quiet) -> Self {
        Self {
            quiet,
            hold: HOLD,
            last: None,
            changes: VecDeque::new(),
            first: None,
        }
    }

    /// For an agent that looks ready before it is: the screen must not change for this long.
    pub(crate) fn holding(mut self, hold: Option<Duration>) -> Self {
        self.hold = hold.unwrap_or(HOLD);
        self
    }

    /// One more sample. `at` is counted from any fixed point. None: not yet at rest.
    pub(crate) fn observe(
        &mut self,
        now: Duration,
        screen: &Screen,
        verdict: &Verdict,
    ) -> Option<RestKind> {
        let first = *self.first.get_or_insert(now);
        let changed = self
            .last
            .as_ref()
            .map_or(0, |last| screen.changed_since(&last.screen));
        self.changes.push_back((now, changed));
        let window = self.window();
        while self
            .changes
            .front()
            .is_some_and(|(at, _)| *at + window <= now)
        {
            self.changes.pop_front();
        }
        let since = match &self.last {
            Some(last)
                if changed == 0
                    && last.activity == verdict.activity
                    && last.rule == verdict.rule =>
            {
                last.since
            }
            _ => now,
        };
        self.last = Some(Sample {
            screen: screen.clone(),
            activity: verdict.activity,
            rule: verdict.rule.clone(),
            since,
        });

        let still = now.saturating_sub(since) >= self.hold;
        let quiet = now.saturating_sub(first) >= window && self.rate(window) < QUIET_RATE;
        match verdict.activity {
            Activity::Busy => None,
            Activity::Exited => Some(RestKind::Exited),
            Activity::Idle => (still || quiet).then_some(RestKind::Idle),
            waiting @ (Activity::Approval
            | Activity::Question
            | Activity::Blocked
            | Activity::Menu) => (still || quiet).then_some(RestKind::Waiting(waiting)),
            Activity::Unknown => match self.quiet {
                Quiet::Ignored => None,
                Quiet::Counts | Quiet::After(_) => quiet.then_some(RestKind::Quiet),
            },
        }
    }

    fn window(&self) -> Duration {
        match self.quiet {
            Quiet::Ignored | Quiet::Counts => WINDOW,
            Quiet::After(window) => window,
        }
    }

    fn rate(&self, window: Duration) -> f64 {
        let characters: usize = self.changes.iter().map(|(_, changed)| changed).sum();
        let characters = u32::try_from(characters).map_or(f64::INFINITY, f64::from);
        characters / window.as_secs_f64().max(f64::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::VerdictSource;
    use super::*;

    fn verdict(activity: Activity) -> Verdict {
        Verdict {
            activity,
            rule: None,
            source: VerdictSource::Screen,
            dialog: None,
            says: None,
            background: None,
            failed: None,
            resets: None,
            limit: None,
        }
    }

    /// Feeds samples (milliseconds, screen, activity); returns when and how it came to rest.
    fn run(
        quiet: Quiet,
        looks: impl IntoIterator<Item = (u64, String, Activity)>,
    ) -> Option<(u64, RestKind)> {
        let mut settle = Settle::new(quiet);
        looks.into_iter().find_map(|(at, text, activity)| {
            settle
                .observe(
                    Duration::from_millis(at),
                    &Screen::new(&text),
                    &verdict(activity),
                )
                .map(|rest| (at, rest))
        })
    }

    #[test]
    fn idle_counts_only_when_it_holds_on_a_still_screen() {
        let steady = (0..20).map(|n| (n * 100, "❯".to_owned(), Activity::Idle));
        assert_eq!(run(Quiet::Ignored, steady), Some((300, RestKind::Idle)));
        let streaming = (0..40).map(|n| (n * 100, format!("{n} tokens"), Activity::Idle));
        assert_eq!(run(Quiet::Ignored, streaming), None);
        let mut settle = Settle::new(Quiet::Ignored).holding(Some(Duration::from_secs(2)));
        let rested = (0..40u64).find(|n| {
            let at = Duration::from_millis(n * 100);
            let screen = Screen::new("❯");
            settle
                .observe(at, &screen, &verdict(Activity::Idle))
                .is_some()
        });
        assert_eq!(rested, Some(20));
    }

    #[test]
    fn a_busy_moment_starts_the_count_again() {
        let looks = (0..20).map(|n| {
            let activity = if n == 2 {
                Activity::Busy
            } else {
                Activity::Idle
            };
            (n * 100, "❯".to_owned(), activity)
        });
        assert_eq!(run(Quiet::Ignored, looks), Some((600, RestKind::Idle)));
    }

    #[test]
    fn a_busy_agent_is_never_at_rest_however_still_its_screen() {
        let looks = (0..600).map(|n| (n * 100, "thinking".to_owned(), Activity::Busy));
        assert_eq!(run(Quiet::Counts, looks), None);
    }

    #[test]
    fn a_dialog_that_stands_still_is_at_rest() {
        let looks = (0..20).map(|n| (n * 100, "1. Yes".to_owned(), Activity::Approval));
        assert_eq!(
            run(Quiet::Counts, looks),
            Some((300, RestKind::Waiting(Activity::Approval)))
        );
    }

    #[test]
    fn an_unknown_screen_is_at_rest_when_next_to_nothing_changes_for_five_seconds() {
        let still = |n: u64| (n * 100, "$ make".to_owned(), Activity::Unknown);
        assert_eq!(
            run(Quiet::Counts, (0..100).map(still)),
            Some((5000, RestKind::Quiet))
        );
        assert_eq!(run(Quiet::Ignored, (0..100).map(still)), None);
        let soon = Quiet::After(Duration::from_secs(1));
        assert_eq!(
            run(soon, (0..100).map(still)),
            Some((1000, RestKind::Quiet))
        );
        // One character each second is twice the rate that counts as quiet.
        let ticking = (0..100).map(|n| (n * 100, format!("{}", n / 10 % 10), Activity::Unknown));
        assert_eq!(run(Quiet::Counts, ticking), None);
        // One in five seconds is below it.
        let slow = (0..100).map(|n| (n * 100, format!("{}", n / 45), Activity::Unknown));
        assert_eq!(run(Quiet::Counts, slow), Some((5000, RestKind::Quiet)));
    }
}
