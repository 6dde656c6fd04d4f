//! What was answered before, and whether one more answer may be given. Time is handed in.

use std::time::Duration;

use super::decide::Decision;
use super::file::Options;
use crate::model::Timestamp;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const REJECTIONS: Duration = Duration::from_secs(600);

/// A decision of the past on the same instance, newest last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Past {
    pub at: Timestamp,
    pub fingerprint: String,
    pub decision: Decision,
    /// Whether something was, or may have been, answered.
    pub answered: bool,
    /// Whether its dialog was seen to go.
    pub gone: bool,
}

/// Why no answer is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Halt {
    /// This very dialog was answered and still stands, or nobody knows whether it was: never twice.
    AnsweredAlready,
    /// Not now; later perhaps.
    TooMany(&'static str),
    /// Something goes round in circles: autoyes ends here.
    Stop(&'static str),
}

/// Whether this dialog may be answered now.
pub(crate) fn allowed(
    past: &[Past],
    now: Timestamp,
    fingerprint: &str,
    decision: Decision,
    options: &Options,
) -> Result<(), Halt> {
    let answers: Vec<&Past> = past.iter().filter(|past| past.answered).collect();
    if let Some(last) = answers.last()
        && last.fingerprint == fingerprint
        && !last.gone
    {
        return Err(Halt::AnsweredAlready);
    }
    let within = |past: &&&Past, span: Duration| past.at.until(now) < span;
    let count = |span: Duration, which: &dyn Fn(&Past) -> bool| {
        let recent = answers.iter().filter(|past| within(past, span));
        recent.filter(|past| which(past)).count()
    };
    // The one that is about to be given counts too.
    if count(MINUTE, &|past| past.fingerprint == fingerprint) + 1 >= options.same_per_minute {
        return Err(Halt::Stop("the same dialog comes again and again"));
    }
    let rejected = |past: &Past| past.decision == Decision::Reject;
    if decision == Decision::Reject && count(REJECTIONS, &rejected) + 1 >= options.rejections {
        return Err(Halt::Stop("too much had to be rejected"));
    }
    if count(HOUR, &|_| true) >= options.per_hour {
        return Err(Halt::TooMany("the limit for an hour is reached"));
    }
    if count(MINUTE, &|_| true) >= options.per_minute {
        return Err(Halt::TooMany("the limit for a minute is reached"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_epoch(1_800_000_000 + second).unwrap()
    }

    fn past(second: i64, name: &str, gone: bool) -> Past {
        Past {
            at: at(second),
            fingerprint: name.to_owned(),
            decision: Decision::Accept,
            answered: true,
            gone,
        }
    }

    fn ask(past: &[Past], second: i64, name: &str) -> Result<(), Halt> {
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
            Err(Halt::AnsweredAlready)
        );
        assert_eq!(ask(&[past(0, "a", true)], 1, "a"), Ok(()));
        assert_eq!(ask(&[past(0, "a", false)], 1, "b"), Ok(()));
        let undecided = Past {
            answered: false,
            ..past(0, "a", false)
        };
        assert_eq!(ask(&[undecided], 1, "a"), Ok(()));
    }

    #[test]
    fn the_fifth_of_the_same_within_a_minute_stops() {
        let four: Vec<Past> = (0..4).map(|n| past(n, "a", true)).collect();
        assert_eq!(ask(&four[..3], 10, "a"), Ok(()));
        assert!(matches!(ask(&four, 10, "a"), Err(Halt::Stop(_))));
        assert_eq!(ask(&four, 70, "a"), Ok(()));
        assert_eq!(ask(&four, 10, "b"), Ok(()));
    }

    #[test]
    fn there_are_limits_for_a_minute_and_for_an_hour() {
        let many = |count: i64, step: i64| -> Vec<Past> {
            (0..count)
                .map(|n| past(n * step, &n.to_string(), true))
                .collect()
        };
        assert_eq!(ask(&many(19, 1), 20, "x"), Ok(()));
        assert!(matches!(ask(&many(20, 1), 20, "x"), Err(Halt::TooMany(_))));
        assert!(matches!(
            ask(&many(300, 10), 3000, "x"),
            Err(Halt::TooMany(_))
        ));
        assert_eq!(ask(&many(300, 10), 7000, "x"), Ok(()));
    }

    #[test]
    fn many_rejections_stop() {
        let rejected: Vec<Past> = (0..4)
            .map(|n| Past {
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
        assert!(matches!(ask(400), Err(Halt::Stop(_))));
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
