//! Limits on automatic answers, from past decisions. The caller passes the time.

use std::time::Duration;

use super::decide::Decision;
use super::file::Options;
use crate::model::Timestamp;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const REJECTIONS: Duration = Duration::from_secs(600);

/// A decision of the past on the same instance, newest last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastDecision {
    pub at: Timestamp,
    pub fingerprint: String,
    pub decision: Decision,
    /// Whether an answer was given, or may have been.
    pub answered: bool,
    /// Whether its dialog was seen to disappear.
    pub gone: bool,
}

/// Why no answer is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// This dialog was answered, or may have been, and is still open. It is never answered twice.
    AnsweredAlready,
    /// A limit is reached for now.
    TooMany(&'static str),
    /// The agent is in a loop: autoyes turns off.
    Stop(&'static str),
}

/// Whether this dialog may be answered now.
pub(crate) fn allowed(
    past: &[PastDecision],
    now: Timestamp,
    fingerprint: &str,
    decision: Decision,
    options: &Options,
) -> Result<(), NoAnswer> {
    let answers: Vec<&PastDecision> = past.iter().filter(|past| past.answered).collect();
    if let Some(last) = answers.last()
        && last.fingerprint == fingerprint
        && !last.gone
    {
        return Err(NoAnswer::AnsweredAlready);
    }
    let within = |past: &&&PastDecision, span: Duration| past.at.until(now) < span;
    let count = |span: Duration, which: &dyn Fn(&PastDecision) -> bool| {
        let recent = answers.iter().filter(|past| within(past, span));
        recent.filter(|past| which(past)).count()
    };
    // The answer that is about to be given counts too.
    if count(MINUTE, &|past| past.fingerprint == fingerprint) + 1 >= options.same_per_minute {
        return Err(NoAnswer::Stop("the same dialog comes again and again"));
    }
    let rejected = |past: &PastDecision| past.decision == Decision::Reject;
    if decision == Decision::Reject && count(REJECTIONS, &rejected) + 1 >= options.rejections {
        return Err(NoAnswer::Stop("too much had to be rejected"));
    }
    if count(HOUR, &|_| true) >= options.per_hour {
        return Err(NoAnswer::TooMany("the limit for an hour is reached"));
    }
    if count(MINUTE, &|_| true) >= options.per_minute {
        return Err(NoAnswer::TooMany("the limit for a minute is reached"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_epoch(1_800_000_000 + second).unwrap()
    }

    fn past(second: i64, name: &str, gone: bool) -> PastDecision {
        PastDecision {
            at: at(second),
            fingerprint: name.to_owned(),
            decision: Decision::Accept,
            answered: true,
            gone,
        }
    }

    fn ask(past: &[PastDecision], second: i64, name: &str) -> Result<(), NoAnswer> {
        allowed(
            past,
            at(second),
            name,
            Decision::Accept,
            &Options::default(),
        )
    }

    #[test]
    fn a_dialog_is_answered_once() {
        assert_eq!(ask(&[], 0, "a"), Ok(()));
        assert_eq!(
            ask(&[past(0, "a", false)], 900, "a"),
            Err(NoAnswer::AnsweredAlready)
        );
        assert_eq!(ask(&[past(0, "a", true)], 1, "a"), Ok(()));
        assert_eq!(ask(&[past(0, "a", false)], 1, "b"), Ok(()));
        let undecided = PastDecision {
            answered: false,
            ..past(0, "a", false)
        };
        assert_eq!(ask(&[undecided], 1, "a"), Ok(()));
    }

    #[test]
    fn the_fifth_of_the_same_within_a_minute_stops() {
        let four: Vec<PastDecision> = (0..4).map(|n| past(n, "a", true)).collect();
        assert_eq!(ask(&four[..3], 10, "a"), Ok(()));
        assert!(matches!(ask(&four, 10, "a"), Err(NoAnswer::Stop(_))));
        assert_eq!(ask(&four, 70, "a"), Ok(()));
        assert_eq!(ask(&four, 10, "b"), Ok(()));
    }

    #[test]
    fn there_are_limits_for_a_minute_and_for_an_hour() {
        let many = |count: i64, step: i64| -> Vec<PastDecision> {
            (0..count)
                .map(|n| past(n * step, &n.to_string(), true))
                .collect()
        };
        assert_eq!(ask(&many(19, 1), 20, "x"), Ok(()));
        assert!(matches!(
            ask(&many(20, 1), 20, "x"),
            Err(NoAnswer::TooMany(_))
        ));
        assert!(matches!(
            ask(&many(300, 10), 3000, "x"),
            Err(NoAnswer::TooMany(_))
        ));
        assert_eq!(ask(&many(300, 10), 7000, "x"), Ok(()));
    }

    #[test]
    fn many_rejections_stop() {
        let rejected: Vec<PastDecision> = (0..4)
            .map(|n| PastDecision {
                decision: Decision::Reject,
                ..past(n * 100, &n.to_string(), true)
            })
            .collect();
        let ask = |second| {
            allowed(
                &rejected,
                at(second),
                "x",
                Decision::Reject,
                &Options::default(),
            )
        };
        assert!(matches!(ask(400), Err(NoAnswer::Stop(_))));
        assert_eq!(ask(2000), Ok(()));
        assert_eq!(
            allowed(
                &rejected,
                at(400),
                "x",
                Decision::Accept,
                &Options::default()
            ),
            Ok(())
        );
    }
}
