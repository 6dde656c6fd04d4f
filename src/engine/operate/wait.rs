//! Waits until an instance is in a wanted state.

use std::time::{Duration, Instant};

use crate::config::brief_duration;
use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Found, Progress, Scope, now};
use crate::engine::operate::options::ResumeOptions;
use crate::engine::operate::steps::fact;
use crate::lifecycle::Journal;
use crate::model::{InstanceRecord, PauseReason, RestingState, Timestamp};

const INTERVAL: Duration = Duration::from_millis(100);
/// How long a pause by a timer may take: what it waits for is the agent's end.
const TIMER: Duration = Duration::from_secs(60);

impl Core {
    /// Looks repeatedly until the instance is as wanted or the time is over; returns the last view.
    pub(crate) fn wait_until(
        &self,
        given: &str,
        limit: Duration,
        wanted: impl Fn(&InstanceView) -> bool,
    ) -> Result<(InstanceView, bool), Error> {
        let started = Instant::now();
        loop {
            let view = self.show(given)?;
            if wanted(&view) {
                return Ok((view, true));
            }
            if started.elapsed() >= limit {
                return Ok((view, false));
            }
            std::thread::sleep(INTERVAL);
        }
    }

    /// The instance, running: an operation on it is waited for, a paused one is resumed first.
    pub(in crate::engine) fn awake(
        &self,
        given: &str,
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Result<Found, Error> {
        let mut found = self.settled(given, Scope::Here)?;
        if found.journal.is_some() {
            // Another operation has five seconds; then the error names it. A pause by the idle timer
            // gets the time that it needs: the user has not asked for it, so the message must not fail.
            let by_timer = found.journal.as_ref().is_some_and(is_by_timer);
            let deadline = Instant::now() + if by_timer { TIMER } else { Duration::ZERO };
            loop {
                match self.lock(&found.dir, &found.record, "wait") {
                    Err(Error::Busy { .. }) if Instant::now() < deadline => {}
                    other => break drop(other?),
                }
            }
            found = self.settled(found.record.id.as_str(), Scope::Here)?;
        }
        if let Some((word, since)) = asleep_since(&found.record) {
            progress.note(&format!(
                "Resuming ({word} {} ago)…",
                brief_duration(since.until(now()))
            ));
            self.resume(found.record.id.as_str(), options, progress)?;
            found = self.settled(found.record.id.as_str(), Scope::Here)?;
        }
        Ok(found)
    }
}

/// Since when an instance is paused or interrupted, and which of the two.
fn asleep_since(record: &InstanceRecord) -> Option<(&'static str, Timestamp)> {
    match record.state {
        RestingState::Paused => Some(("paused", record.paused_at.unwrap_or(record.updated_at))),
        RestingState::Interrupted => Some((
            "interrupted",
            record.interrupted_at.unwrap_or(record.updated_at),
        )),
        RestingState::Running
        | RestingState::Completed
        | RestingState::Failed
        | RestingState::Away
        | RestingState::Killed => None,
    }
}

/// Whether this is a pause by the idle timer.
fn is_by_timer(journal: &Journal) -> bool {
    let options = journal.facts.read(fact::PAUSE).ok().flatten();
    options
        .is_some_and(|options| matches!(options.reason, PauseReason::Idle | PauseReason::Resource))
}
