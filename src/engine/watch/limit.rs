//! The usage limit on a screen as a time: blocked until then, at its prompt afterwards.

use std::time::Duration;

use crate::detect::Verdict;
use crate::engine::base::now;
use crate::engine::base::time_scale::scaled;
use crate::model::{Activity, Timestamp, UsageLimit, reset_time};
use crate::store::{InstanceDir, SeenLimit};

/// After this much time beyond the reset the agent may be prompted. Clocks differ, and an agent that goes on by
/// itself comes first.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// Adds the time to a verdict that shows a limit. Once it is over the agent is at its prompt: nothing else on its
/// screen changes by that.
pub(in crate::engine) fn with_limit(dir: &InstanceDir, verdict: Verdict) -> Verdict {
    let Some(text) = verdict.resets.as_deref() else {
        if verdict.activity == Activity::Busy {
            leave(dir);
        }
        return verdict;
    };
    let now = now();
    let Some(resets_at) = resets_at(dir, text, now) else {
        return verdict;
    };
    let ends_at = resets_at.plus(scaled(AFTERWARDS));
    let limit = UsageLimit {
        resets_at,
        ends_at,
        is_over: now >= ends_at,
        is_continued: dir.continued_limit() == Some(resets_at),
    };
    let at_prompt = limit.is_over && verdict.activity == Activity::Blocked;
    Verdict {
        activity: if at_prompt {
            Activity::Idle
        } else {
            verdict.activity
        },
        says: verdict.says.filter(|_| !at_prompt),
        limit: Some(limit),
        ..verdict
    }
}

/// When this limit resets, counted from when it was first seen.
fn resets_at(dir: &InstanceDir, text: &str, now: Timestamp) -> Option<Timestamp> {
    if let Some(known) = dir.seen_limit()
        && known.text == text
        && !known.left
    {
        return Some(known.resets_at);
    }
    let limit = SeenLimit {
        text: text.to_owned(),
        resets_at: reset_time(text, now)?,
        left: false,
    };
    if let Err(error) = dir.save_seen_limit(&limit) {
        tracing::warn!(%error, "the usage limit was not recorded");
    }
    Some(limit.resets_at)
}

/// The agent works: what it shows next is another limit.
fn leave(dir: &InstanceDir) {
    if let Some(known) = dir.seen_limit().filter(|known| !known.left) {
        let left = SeenLimit {
            left: true,
            ..known
        };
        if let Err(error) = dir.save_seen_limit(&left) {
            tracing::warn!(%error, "the end of a usage limit was not recorded");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir() -> (tempfile::TempDir, InstanceDir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = InstanceDir {
            path: folder.path().to_owned(),
        };
        (folder, dir)
    }

    fn shows(activity: Activity, resets: Option<&str>) -> Verdict {
        Verdict {
            activity,
            resets: resets.map(str::to_owned),
            says: Some("the limit is reached".to_owned()),
            ..Verdict::unknown()
        }
    }

    #[test]
    fn a_limit_is_counted_from_the_first_look_until_the_agent_works() {
        let (_folder, dir) = dir();
        let limited = || with_limit(&dir, shows(Activity::Blocked, Some("in 2h")));
        let first = limited();
        assert_eq!(first.activity, Activity::Blocked);
        let limit = first.limit.unwrap();
        assert!(!limit.is_over && limit.ends_at > limit.resets_at);
        assert_eq!(limited().limit, Some(limit), "a later look");
        with_limit(&dir, shows(Activity::Idle, None));
        assert_eq!(limited().limit, Some(limit), "the text was covered");
        with_limit(&dir, shows(Activity::Busy, None));
        assert!(dir.seen_limit().unwrap().left, "after a turn");
        assert!(limited().limit.unwrap().resets_at >= limit.resets_at);
        assert!(!dir.seen_limit().unwrap().left, "a new one");
    }

    #[test]
    fn after_the_reset_it_is_at_its_prompt() {
        let (_folder, dir) = dir();
        let past = "2026-11-14T18:02:03.000Z";
        let over = with_limit(&dir, shows(Activity::Blocked, Some(past)));
        assert_eq!((over.activity, over.says), (Activity::Idle, None));
        let limit = over.limit.unwrap();
        assert!(limit.is_over && !limit.is_continued);
        dir.save_continued_limit(limit.resets_at).unwrap();
        let again = with_limit(&dir, shows(Activity::Blocked, Some(past)));
        assert!(again.limit.unwrap().is_continued);
    }

    #[test]
    fn a_time_that_is_not_understood_leaves_it_blocked() {
        let (_folder, dir) = dir();
        let verdict = with_limit(
            &dir,
            shows(Activity::Blocked, Some("when the moon is full")),
        );
        assert_eq!((verdict.activity, verdict.limit), (Activity::Blocked, None));
    }
}
