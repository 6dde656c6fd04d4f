//! What an agent does, when it says so itself and its screen shows something too.
//!
//! The agent's own word (a hook, its registry) is the better source, but not every change is told:
//! Esc and Ctrl+C end a turn of Claude Code without a word, and a dialog that is answered says nothing
//! until the tool is done. What is drawn is always of now, but does not always show that work goes on.

use std::time::Duration;

use super::judge::{Source, Verdict};
use crate::model::Activity;

/// So long after a word the screen may not have followed yet.
const FRESH: Duration = Duration::from_secs(1);
/// An agent that works draws something at least this often.
const SILENT: Duration = Duration::from_secs(5);
/// Output that is no older than this is output of now; tmux counts whole seconds.
const RECENT: Duration = Duration::from_secs(2);

/// What an agent said of itself last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub activity: Activity,
    pub source: Source,
    /// The event, or the state as the agent calls it.
    pub said: String,
    pub age: Duration,
}

/// The verdict on all that is known. `silent` is how long nothing was drawn.
pub(crate) fn weigh(seen: Verdict, word: Option<&Word>, silent: Duration) -> Verdict {
    let Some(word) = word else { return seen };
    let fresh = word.age <= FRESH;
    match (seen.activity, word.activity) {
        // What stands where the input box should be is of now, and needs an answer.
        (Activity::Approval | Activity::Question | Activity::Blocked | Activity::Exited, _) => seen,
        (Activity::Busy, Activity::Busy) | (Activity::Idle, Activity::Idle) => told(seen, word),
        // A dialog that is told of and not drawn was answered, or is about to be drawn.
        (Activity::Busy, _) => seen,
        (Activity::Idle, _) if fresh => told(seen, word),
        // Only its title tells for sure that an agent rests: while text streams in, several look idle.
        (Activity::Idle, Activity::Busy) if seen.source != Source::Title => {
            if silent >= SILENT {
                Verdict {
                    source: Source::Output,
                    ..seen
                }
            } else {
                told(seen, word)
            }
        }
        (Activity::Idle, _) => seen,
        // Who rests shows its prompt: where there is none, something lies over it.
        (Activity::Unknown, Activity::Idle) => seen,
        (Activity::Unknown, _) => told(seen, word),
    }
}

/// For an agent of which nothing else is known: that something is drawn is all there is.
pub(crate) fn by_output(seen: Verdict, silent: Duration) -> Verdict {
    if seen.activity == Activity::Unknown && silent <= RECENT {
        return Verdict {
            activity: Activity::Busy,
            source: Source::Output,
            ..seen
        };
    }
    seen
}

fn told(seen: Verdict, word: &Word) -> Verdict {
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

    fn seen(activity: Activity, source: Source) -> Verdict {
        Verdict {
            activity,
            rule: Some("rule".to_owned()),
            source,
            dialog: None,
        }
    }

    #[test]
    fn sources_that_disagree_are_resolved_by_rule() {
        let now = Duration::from_millis(200);
        let long_ago = Duration::from_secs(60);
        // Seen, by which source; told, how long ago; how long silent → activity, which source spoke.
        for (at, (shows, by, tells, age, silent, expected, speaker)) in [
            // They agree: the better source is named.
            (Busy, Source::Title, Busy, long_ago, now, Busy, Source::Hook),
            (
                Idle,
                Source::Title,
                Idle,
                long_ago,
                long_ago,
                Idle,
                Source::Hook,
            ),
            // A dialog is on the screen, whatever was said.
            (
                Approval,
                Source::Screen,
                Busy,
                now,
                now,
                Approval,
                Source::Screen,
            ),
            (
                Question,
                Source::Screen,
                Idle,
                now,
                now,
                Question,
                Source::Screen,
            ),
            (
                Blocked,
                Source::Screen,
                Busy,
                long_ago,
                long_ago,
                Blocked,
                Source::Screen,
            ),
            // The dialog was answered, and the tool runs; no hook says so.
            (
                Busy,
                Source::Title,
                Approval,
                long_ago,
                now,
                Busy,
                Source::Title,
            ),
            // A prompt was taken in this moment; the screen has not followed.
            (Idle, Source::Title, Busy, now, now, Busy, Source::Hook),
            (
                Idle,
                Source::Screen,
                Busy,
                now,
                long_ago,
                Busy,
                Source::Hook,
            ),
            (
                Idle,
                Source::Title,
                Approval,
                now,
                now,
                Approval,
                Source::Hook,
            ),
            // Esc or Ctrl+C, of which no hook tells: the title corrects.
            (
                Idle,
                Source::Title,
                Busy,
                long_ago,
                now,
                Idle,
                Source::Title,
            ),
            (
                Idle,
                Source::Title,
                Approval,
                long_ago,
                now,
                Idle,
                Source::Title,
            ),
            // Without a title text that streams in looks idle; silence tells them apart.
            (
                Idle,
                Source::Screen,
                Busy,
                long_ago,
                now,
                Busy,
                Source::Hook,
            ),
            (
                Idle,
                Source::Screen,
                Busy,
                long_ago,
                long_ago,
                Idle,
                Source::Output,
            ),
            // Work goes on, or began anew, after the end of a turn was told.
            (
                Busy,
                Source::Title,
                Idle,
                long_ago,
                now,
                Busy,
                Source::Title,
            ),
            (Busy, Source::Screen, Idle, now, now, Busy, Source::Screen),
            // Nothing is known of the screen.
            (
                Unknown,
                Source::Screen,
                Busy,
                long_ago,
                long_ago,
                Busy,
                Source::Hook,
            ),
            (
                Unknown,
                Source::Screen,
                Approval,
                long_ago,
                long_ago,
                Approval,
                Source::Hook,
            ),
            (
                Unknown,
                Source::Screen,
                Idle,
                now,
                now,
                Unknown,
                Source::Screen,
            ),
        ]
        .into_iter()
        .enumerate()
        {
            let word = Word {
                activity: tells,
                source: Source::Hook,
                said: "event".to_owned(),
                age,
            };
            let verdict = weigh(seen(shows, by), Some(&word), silent);
            assert_eq!(
                (verdict.activity, verdict.source),
                (expected, speaker),
                "row {at}"
            );
        }
    }

    #[test]
    fn without_a_word_the_screen_speaks_alone() {
        let verdict = seen(Idle, Source::Screen);
        assert_eq!(weigh(verdict.clone(), None, Duration::ZERO), verdict);
    }

    #[test]
    fn output_is_the_last_resort() {
        let unknown = || seen(Unknown, Source::Screen);
        let verdict = by_output(unknown(), Duration::from_secs(1));
        assert_eq!((verdict.activity, verdict.source), (Busy, Source::Output));
        assert_eq!(by_output(unknown(), Duration::from_secs(9)), unknown());
        let idle = seen(Idle, Source::Screen);
        assert_eq!(by_output(idle.clone(), Duration::ZERO), idle);
    }
}
