//! Combines the agent's own report (a hook, its registry) with what its screen shows.
//!
//! The report is the better source, but agents do not report every change: Esc and Ctrl+C end a turn of
//! Claude Code without a hook, and after the answer to a dialog there is none until the tool is done. The
//! screen is always current, but does not always show that work goes on.

use std::time::Duration;

use super::judge::{Verdict, VerdictSource};
use crate::model::Activity;

/// For this long after a report, the screen may not show the change yet.
const FRESH: Duration = Duration::from_secs(1);
/// A busy agent has output at least this often.
pub(crate) const SILENT: Duration = Duration::from_secs(5);
/// Output that is no older than this counts as current; tmux counts whole seconds.
const RECENT: Duration = Duration::from_secs(2);

/// The agent's last report about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SelfReport {
    pub activity: Activity,
    pub source: VerdictSource,
    /// The event or state, as the agent names it.
    pub said: String,
    pub age: Duration,
    /// Whether the agent keeps it up to date, so that it holds however old it is.
    pub current: bool,
}

/// The combined verdict. `silent` is the time since the last output.
pub(crate) fn combine(seen: Verdict, word: Option<&SelfReport>, silent: Duration) -> Verdict {
    let Some(word) = word else { return seen };
    let fresh = word.age <= FRESH;
    match (seen.activity, word.activity) {
        // A dialog in place of the input box is current and needs an answer.
        (
            Activity::Approval
            | Activity::Question
            | Activity::Blocked
            | Activity::Menu
            | Activity::Exited,
            _,
        ) => seen,
        (Activity::Busy, Activity::Busy) | (Activity::Idle, Activity::Idle) => told(seen, word),
        // A dialog that is reported and not on the screen was answered, or is about to be drawn.
        (Activity::Busy, _) => seen,
        (Activity::Idle, _) if fresh => told(seen, word),
        // A dialog that is held back while the user types. The agent's own file is always current.
        (Activity::Idle, Activity::Approval | Activity::Question)
            if word.source == VerdictSource::Registry =>
        {
            told(seen, word)
        }
        // Only the title proves that an agent is idle: several look idle while text streams in.
        (Activity::Idle, Activity::Busy) if seen.source != VerdictSource::Title => {
            if silent >= SILENT && !word.current {
                Verdict {
                    source: VerdictSource::Output,
                    ..seen
                }
            } else {
                told(seen, word)
            }
        }
        (Activity::Idle, _) => seen,
        // An idle agent shows its prompt. Where there is none, something covers it.
        (Activity::Unknown, Activity::Idle) => seen,
        (Activity::Unknown, _) => told(seen, word),
    }
}

/// For an agent without other evidence: busy while there is output.
pub(crate) fn verdict_by_output(seen: Verdict, silent: Duration) -> Verdict {
    if seen.activity == Activity::Unknown && silent <= RECENT {
        return Verdict {
            activity: Activity::Busy,
            source: VerdictSource::Output,
            ..seen
        };
    }
    seen
}

fn told(seen: Verdict, word: &SelfReport) -> Verdict {
    Verdict {
        activity: word.activity,
        rule: Some(word.said.clone()),
        source: word.source,
        ..seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Activity::{Approval, Blocked, Busy, Idle, Question, Unknown};

    fn seen(activity: Activity, source: VerdictSource) -> Verdict {
        Verdict {
            activity,
            rule: Some("rule".to_owned()),
            source,
            dialog: None,
            says: None,
            background: None,
            failed: None,
            resets: None,
            limit: None,
        }
    }

    #[test]
    fn sources_that_disagree_are_resolved_by_rule() {
        let now = Duration::from_millis(200);
        let long_ago = Duration::from_secs(60);
        // Seen, by which source; reported, how long ago; how long silent → activity, deciding source.
        for (at, (shows, by, tells, age, silent, expected, speaker)) in [
            // They agree: the better source is named.
            (
                Busy,
                VerdictSource::Title,
                Busy,
                long_ago,
                now,
                Busy,
                VerdictSource::Hook,
            ),
            (
                Idle,
                VerdictSource::Title,
                Idle,
                long_ago,
                long_ago,
                Idle,
                VerdictSource::Hook,
            ),
            // A dialog is on the screen, whatever was reported.
            (
                Approval,
                VerdictSource::Screen,
                Busy,
                now,
                now,
                Approval,
                VerdictSource::Screen,
            ),
            (
                Question,
                VerdictSource::Screen,
                Idle,
                now,
                now,
                Question,
                VerdictSource::Screen,
            ),
            (
                Blocked,
                VerdictSource::Screen,
                Busy,
                long_ago,
                long_ago,
                Blocked,
                VerdictSource::Screen,
            ),
            // The dialog was answered, and the tool runs; no hook reports it.
            (
                Busy,
                VerdictSource::Title,
                Approval,
                long_ago,
                now,
                Busy,
                VerdictSource::Title,
            ),
            // A prompt was just accepted; the screen does not show it yet.
            (
                Idle,
                VerdictSource::Title,
                Busy,
                now,
                now,
                Busy,
                VerdictSource::Hook,
            ),
            (
                Idle,
                VerdictSource::Screen,
                Busy,
                now,
                long_ago,
                Busy,
                VerdictSource::Hook,
            ),
            (
                Idle,
                VerdictSource::Title,
                Approval,
                now,
                now,
                Approval,
                VerdictSource::Hook,
            ),
            // Esc or Ctrl+C, which no hook reports: the title corrects.
            (
                Idle,
                VerdictSource::Title,
                Busy,
                long_ago,
                now,
                Idle,
                VerdictSource::Title,
            ),
            (
                Idle,
                VerdictSource::Title,
                Approval,
                long_ago,
                now,
                Idle,
                VerdictSource::Title,
            ),
            // Without a title, streaming text looks idle; silence distinguishes the two.
            (
                Idle,
                VerdictSource::Screen,
                Busy,
                long_ago,
                now,
                Busy,
                VerdictSource::Hook,
            ),
            (
                Idle,
                VerdictSource::Screen,
                Busy,
                long_ago,
                long_ago,
                Idle,
                VerdictSource::Output,
            ),
            // Work continued, or began again, after the end of a turn was reported.
            (
                Busy,
                VerdictSource::Title,
                Idle,
                long_ago,
                now,
                Busy,
                VerdictSource::Title,
            ),
            (
                Busy,
                VerdictSource::Screen,
                Idle,
                now,
                now,
                Busy,
                VerdictSource::Screen,
            ),
            // Nothing is known of the screen.
            (
                Unknown,
                VerdictSource::Screen,
                Busy,
                long_ago,
                long_ago,
                Busy,
                VerdictSource::Hook,
            ),
            (
                Unknown,
                VerdictSource::Screen,
                Approval,
                long_ago,
                long_ago,
                Approval,
                VerdictSource::Hook,
            ),
            (
                Unknown,
                VerdictSource::Screen,
                Idle,
                now,
                now,
                Unknown,
                VerdictSource::Screen,
            ),
        ]
        .into_iter()
        .enumerate()
        {
            let word = SelfReport {
                activity: tells,
                source: VerdictSource::Hook,
                said: "event".to_owned(),
                age,
                current: false,
            };
            let verdict = combine(seen(shows, by), Some(&word), silent);
            assert_eq!(
                (verdict.activity, verdict.source),
                (expected, speaker),
                "row {at}"
            );
        }
    }

    #[test]
    fn silence_does_not_end_what_is_said_to_go_on() {
        let long_ago = Duration::from_secs(60);
        let word = SelfReport {
            activity: Busy,
            source: VerdictSource::Registry,
            said: "busy".to_owned(),
            age: long_ago,
            current: true,
        };
        let verdict = |by| combine(seen(Idle, by), Some(&word), long_ago).activity;
        assert_eq!(verdict(VerdictSource::Screen), Busy);
        assert_eq!(verdict(VerdictSource::Title), Idle);
    }

    #[test]
    fn without_a_report_the_screen_decides_alone() {
        let verdict = seen(Idle, VerdictSource::Screen);
        assert_eq!(combine(verdict.clone(), None, Duration::ZERO), verdict);
    }

    #[test]
    fn output_is_the_last_resort() {
        let unknown = || seen(Unknown, VerdictSource::Screen);
        let verdict = verdict_by_output(unknown(), Duration::from_secs(1));
        assert_eq!(
            (verdict.activity, verdict.source),
            (Busy, VerdictSource::Output)
        );
        assert_eq!(
            verdict_by_output(unknown(), Duration::from_secs(9)),
            unknown()
        );
        let idle = seen(Idle, VerdictSource::Screen);
        assert_eq!(verdict_by_output(idle.clone(), Duration::ZERO), idle);
    }
}
