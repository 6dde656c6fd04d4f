//! When to look at an agent's screen, by its output.

use std::time::Duration;

use crate::detect::SILENT;
use crate::engine::watch::watcher::printed::PrintedText;

/// After bytes that begin a dialog, the rest of it is there this much later.
const DIALOG: Duration = Duration::from_millis(3);
/// Between two such looks: an agent may print such words all the time.
const BETWEEN_DIALOGS: Duration = Duration::from_millis(50);
/// A screen that has been still for so long has been drawn.
const QUIET: Duration = Duration::from_millis(150);
/// Between two looks at a screen that falls quiet again and again.
const BETWEEN_QUIETS: Duration = Duration::from_millis(300);
/// A screen that is never quiet is looked at this often.
const RESTLESS: Duration = Duration::from_secs(1);

/// What agents print with a dialog, without white space. It only makes a look come sooner: what is on the
/// screen decides. The last rows of a dialog are among them: it may be drawn in several pieces.
const DIALOG_WORDS: [&[u8]; 12] = [
    b"Doyouwant",
    b"Wouldyoulike",
    b"1.Yes",
    b"[y/n]",
    b"(y/n)",
    b"(Y/n)",
    b"Allow",
    b"ActionRequired",
    b"Esctocancel",
    b"entertoconfirm",
    b"entersubmit",
    b"(Y)es/(N)o",
];

/// The pipes of one pane. Time is counted from any fixed point.
#[derive(Debug, Default)]
pub(super) struct LookSchedule {
    /// The time of the first output that was not looked at.
    first: Option<Duration>,
    last: Duration,
    dialog: Option<Duration>,
    looked: Option<Duration>,
    /// When an agent that counts as busy will have been silent for so long that it is not.
    silent_at: Option<Duration>,
    printed: PrintedText,
}

impl LookSchedule {
    /// Takes new output of the agent.
    pub(super) fn output(&mut self, now: Duration, said: &[u8]) {
        self.first.get_or_insert(now);
        self.last = now;
        self.silent_at = None;
        if self.printed.takes(said, &DIALOG_WORDS) {
            self.dialog.get_or_insert(now);
        }
    }

    /// Output is heard from now on.
    pub(super) fn listen(&mut self, now: Duration) {
        self.last = now;
    }

    /// How long there was no output.
    pub(super) fn silent(&self, now: Duration) -> Duration {
        now.saturating_sub(self.last)
    }

    /// Asks for a look when the agent has been silent for long enough to be at rest: some fail without a word
    /// to their hooks, and draw nothing after that.
    pub(super) fn await_silence(&mut self) {
        let at = self.last + SILENT;
        self.silent_at = self.looked.is_none_or(|looked| looked < at).then_some(at);
    }

    /// Asks for a look without output.
    pub(super) fn request(&mut self, now: Duration) {
        self.first.get_or_insert(now);
        self.dialog.get_or_insert(now);
    }

    /// When to look, if at all.
    pub(super) fn due(&self) -> Option<Duration> {
        let Some(first) = self.first else {
            return self.silent_at;
        };
        let not_before = |pause: Duration| self.looked.map_or(Duration::ZERO, |at| at + pause);
        let quiet = (self.last + QUIET).max(not_before(BETWEEN_QUIETS));
        let restless = first.max(self.looked.unwrap_or_default()) + RESTLESS;
        let usual = quiet.min(restless);
        Some(match self.dialog {
            Some(at) => usual.min((at + DIALOG).max(not_before(BETWEEN_DIALOGS))),
            None => usual,
        })
    }

    /// Notes that the screen is being looked at now.
    pub(super) fn looked(&mut self, now: Duration) {
        // A dialog that was still being drawn is looked at again when the output has stopped.
        let unfinished = self.dialog.is_some() && now < self.last + QUIET;
        self.first = unfinished.then_some(now);
        self.dialog = None;
        self.silent_at = None;
        self.looked = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// Feeds output at these times; returns when the screen was looked at.
    fn looks(rings: &[(u64, &str)], until: u64) -> Vec<u64> {
        let mut schedule = LookSchedule::default();
        let mut rings = rings.iter().peekable();
        let mut looks = Vec::new();
        for now in 0..until {
            while let Some((_, said)) = rings.next_if(|(at, _)| *at == now) {
                schedule.output(ms(now), said.as_bytes());
            }
            if schedule.due().is_some_and(|due| due <= ms(now)) {
                schedule.looked(ms(now));
                looks.push(now);
            }
        }
        looks
    }

    #[test]
    fn output_is_looked_at_once_it_has_stopped() {
        assert_eq!(looks(&[(10, "a"), (50, "b")], 5000), [200]);
        assert_eq!(looks(&[], 5000), [0; 0]);
    }

    #[test]
    fn what_never_stops_is_looked_at_about_every_second() {
        let spinner: Vec<(u64, &str)> = (0..50).map(|n| (n * 100, "⠋")).collect();
        assert_eq!(looks(&spinner, 6000), [1000, 2100, 3200, 4300, 5050]);
        // Slow enough to be quiet in between.
        let clock: Vec<(u64, &str)> = (0..10).map(|n| (n * 200, ".")).collect();
        assert!(looks(&clock, 2000).len() <= 7);
    }

    #[test]
    fn a_dialog_is_looked_at_at_once_and_again_when_it_stands_still() {
        assert_eq!(looks(&[(100, "Do you want to run it?")], 5000), [103, 403]);
        // Cut anywhere.
        assert_eq!(looks(&[(100, "Do yo"), (101, "u want")], 5000), [104, 404]);
        let stream: Vec<(u64, &str)> = (0..100).map(|n| (n * 10, "Allow")).collect();
        assert!(looks(&stream, 1000).len() <= 21);
    }

    #[test]
    fn a_busy_agent_that_has_become_silent_is_looked_at_once_more() {
        let mut schedule = LookSchedule::default();
        schedule.output(ms(100), b"working");
        schedule.looked(ms(250));
        schedule.await_silence();
        assert_eq!(schedule.due(), Some(ms(5100)));
        // Not silent: the usual look, and then the silence is counted anew.
        schedule.output(ms(3000), b"still");
        assert_eq!(schedule.due(), Some(ms(3150)));
        schedule.looked(ms(3150));
        schedule.await_silence();
        assert_eq!(schedule.due(), Some(ms(8000)));
        schedule.looked(ms(8000));
        assert_eq!(schedule.silent(ms(8000)), SILENT);
        // Whatever that look has found, it was the last one.
        schedule.await_silence();
        assert_eq!(schedule.due(), None);
    }

    proptest! {
        #[test]
        fn the_last_output_is_always_looked_at(
            rings in prop::collection::vec((0_u64..3000, "[a-z]{0,3}|Do you want|1\\. Yes"), 1..40),
        ) {
            let mut rings: Vec<(u64, &str)> =
                rings.iter().map(|(at, said)| (*at, said.as_str())).collect();
            rings.sort_unstable_by_key(|(at, _)| *at);
            let last = rings.last().unwrap().0;
            let looks = looks(&rings, 6000);
            prop_assert!(looks.last().is_some_and(|look| *look >= last));
            prop_assert!(looks.last().is_some_and(|look| *look <= last + 1000));
            prop_assert!(looks.windows(2).all(|pair| pair[1] - pair[0] >= 50));
        }
    }
}
