//! The agent itself: started, told its first prompt, stopped.

use std::time::{Duration, Instant};

use super::{Work, fact};
use crate::engine::Error;
use crate::engine::send::{Patience, deliver};
use crate::lifecycle::Facts;
use crate::model::Seat;
use crate::process::stop_tree;

/// How long a step that nobody asked for again may wait for an agent.
const RECOVERY_PATIENCE: Duration = Duration::from_secs(5);
/// A launcher whose master is gone ends at once; one that lives longer has become the agent.
const LAUNCHER_END: Duration = Duration::from_secs(1);

impl Work<'_> {
    pub(super) fn start_agent(&mut self, facts: &Facts) -> Result<Facts, Error> {
        if let Some(waiting) = self.waiting.take() {
            waiting.go()?;
            return Ok(Facts::none());
        }
        // Taken up after a crash. Whether "go" was said is known only by looking.
        let seat: Option<Seat> = facts.read(fact::SEAT);
        if seat.is_some_and(|seat| outlives_its_launcher(&seat)) {
            return Ok(Facts::none());
        }
        let reopened = self.open_session(facts)?;
        if let Some(waiting) = self.waiting.take() {
            waiting.go()?;
        }
        Ok(reopened)
    }

    /// A prompt whose delivery was begun before a crash may have arrived: it is not sent twice.
    pub(super) fn intend_send_prompt(&self, facts: &Facts) -> Facts {
        if facts.read::<bool>(fact::PROMPT_BEGUN).is_some() {
            Facts::none().with(fact::PROMPT_UNSURE, &true)
        } else {
            Facts::none().with(fact::PROMPT_BEGUN, &true)
        }
    }

    pub(super) fn send_prompt(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let (Some(prompt), Some(seat)) = (self.record.prompt.clone(), self.record.seat.clone())
        else {
            return Ok(Facts::none());
        };
        if facts.read::<bool>(fact::PROMPT_UNSURE).is_some() {
            self.progress
                .note("the first prompt may not have been sent: look, and send it again if not");
            return Ok(Facts::none());
        }
        let ready = if self.recovering {
            RECOVERY_PATIENCE
        } else {
            self.engine.settings().launch.ready
        };
        let server = self.engine.server_of(&self.record);
        let _typing = self.dir.lock_typing(ready)?;
        let patience = Patience {
            starting: ready,
            busy: Some(ready),
        };
        deliver(
            &server,
            &seat.pane,
            self.provider()?,
            &self.record.title,
            &prompt,
            patience,
        )?;
        Ok(Facts::none())
    }

    /// Ends the whole process tree: the pane's session, its descendants, and whoever carries the
    /// instance's mark, wherever it has gone.
    pub(super) fn stop_agent(&mut self) -> Result<Facts, Error> {
        let grace = self.engine.settings().pause.stop;
        let leader = self.record.seat.as_ref().map(|seat| &seat.agent);
        stop_tree(leader, &self.record.marker(), grace)?;
        Ok(Facts::none())
    }
}

fn outlives_its_launcher(seat: &Seat) -> bool {
    let deadline = Instant::now() + LAUNCHER_END;
    while Instant::now() < deadline {
        if !seat.agent.is_alive() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}
