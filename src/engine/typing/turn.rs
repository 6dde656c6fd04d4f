//! The beginning of the turn that a prompt asks for.
//!
//! That the prompt has left the input box does not prove that the agent works on it. Its hooks, its own files, its
//! transcript and its screen do.

use std::time::{Duration, Instant};

use crate::agents::Readiness;
use crate::engine::base::Error;
use crate::engine::watch::look::{Watched, screen_of};
use crate::engine::watch::self_report::self_report;
use crate::model::{Activity, Timestamp};
use crate::tmux::{Screenshot, TmuxError};

/// How long a turn may take to begin after its prompt has left the input box. On a busy machine an agent may write
/// its transcript many seconds later; a prompt that is called lost would be sent twice.
const BEGINS: Duration = Duration::from_secs(60);
/// After this long, rows that the agent has drawn are enough. A short turn may be over before the first look, and its
/// prompt may be in a transcript that is not known yet, as after a command that begins another conversation.
const DRAWN: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_millis(40);
/// The transcript is a file that may be long.
const BETWEEN_READS: Duration = Duration::from_millis(400);

/// Whether the agent's transcript has the prompt.
pub(in crate::engine) type InTranscript<'a> = &'a dyn Fn() -> bool;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    Seen,
    NotSeen,
}

/// A prompt that was submitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Submitted<'a> {
    /// The screen before that.
    pub before: &'a Screenshot,
    pub at: Timestamp,
}

/// Waits until something shows that the turn has begun. An agent of which nothing could show it is believed.
pub(super) fn await_turn(
    agent: &Watched<'_>,
    submitted: &Submitted<'_>,
    in_transcript: InTranscript<'_>,
) -> Result<Beginning, Error> {
    let provider = agent.provider;
    let judge = |shot: &Screenshot| provider.judge(&screen_of(shot), Some(&shot.title)).activity;
    // A draft of several lines looks like work to the rules of some agents.
    let shows_work =
        provider.rules().can_detect_busy() && judge(submitted.before) != Activity::Busy;
    let writes = provider.has_hooks() || provider.capabilities().transcript;
    if provider.readiness() != Readiness::Rules || !(shows_work || writes) {
        return Ok(Beginning::Seen);
    }
    let since = Instant::now();
    let mut read: Option<Instant> = None;
    loop {
        let Some(shot) = agent.look()?.filter(|shot| !shot.dead) else {
            return Err(TmuxError::NoPane(agent.pane.to_owned()).into());
        };
        let seen = match judge(&shot) {
            Activity::Busy => shows_work,
            // It has come to something that only the user can settle.
            Activity::Approval
            | Activity::Question
            | Activity::Blocked
            | Activity::Menu
            | Activity::Exited => true,
            // A turn can be over between two looks. The agent has drawn something then.
            Activity::Idle | Activity::Unknown => {
                let waited = !writes || since.elapsed() > DRAWN;
                waited && has_drawn(&submitted.before.text, &shot.text)
            }
        };
        if seen || reported(agent, submitted.at) {
            return Ok(Beginning::Seen);
        }
        if read.is_none_or(|read| read.elapsed() > BETWEEN_READS) {
            if in_transcript() {
                return Ok(Beginning::Seen);
            }
            read = Some(Instant::now());
        }
        if since.elapsed() > BEGINS {
            return Ok(Beginning::NotSeen);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Whether there are rows that were not there before, beside the one of an empty input box.
fn has_drawn(before: &str, after: &str) -> bool {
    let mut known: Vec<&str> = before.lines().map(str::trim_end).collect();
    let rows = after.lines().map(str::trim_end);
    let new = rows.filter(|row| {
        let at = known.iter().position(|known| known == row);
        at.map(|at| known.swap_remove(at)).is_none()
    });
    new.filter(|row| !row.is_empty()).count() > 1
}

/// Whether the agent has said since then that it works. That it is at rest may still be said of the turn before.
fn reported(agent: &Watched<'_>, since: Timestamp) -> bool {
    let report = self_report(agent.provider, agent.dir, agent.host, agent.leader);
    report.is_some_and(|report| {
        let works = matches!(
            report.activity,
            Activity::Busy | Activity::Approval | Activity::Question
        );
        works && report.age <= since.until(crate::engine::base::now())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_box_alone_is_no_turn() {
        let before = "welcome\n> hello\nstatus";
        for (after, drawn) in [
            ("welcome\n> hello\nstatus", false),
            ("welcome\n> Type your message\nstatus", false),
            ("welcome\n> hello\n\n> \nstatus", false),
            ("welcome\n> hello\nhello\n> \nstatus", true),
            ("> hello\n\nI have read it\n> \nstatus", true),
        ] {
            assert_eq!(has_drawn(before, after), drawn, "{after}");
        }
    }
}
