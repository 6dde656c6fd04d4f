//! Pauses an idle instance, for the idle timer.

use serde_json::json;

use crate::config::WorktreeOnPause;
use crate::engine::base::{Core, Error, Silent};
use crate::engine::operate::options::PauseOptions;
use crate::engine::operate::steps::fact;
use crate::engine::typing::delivery::holds_a_draft;
use crate::lifecycle::{Facts, Plan};
use crate::model::{Activity, EventKind, InstanceId, PauseReason, RestingState};

/// The result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspended {
    Done,
    /// A client is present, a draft is in the input box, or the agent is not idle any more.
    NotNow,
}

impl Core {
    /// Pauses an idle instance and keeps its worktree in place. The user always wins: a client that is
    /// attached, types or sends holds the presence lock, which is only tried for here. The lock is
    /// released as soon as the pause is in the journal. A message that comes then waits for the pause
    /// to end and wakes the instance again.
    pub(crate) fn suspend(&self, id: &InstanceId, reason: PauseReason) -> Result<Suspended, Error> {
        self.prepare()?;
        let dir = self.store.instance(id);
        let Ok(absence) = dir.lock_absence("idle timer") else {
            return Ok(Suspended::NotNow);
        };
        let Ok(lock) = dir.try_lock_operation("idle suspend") else {
            return Ok(Suspended::NotNow);
        };
        let open = dir.journal().read_open()?.is_some();
        let mut record = dir.record()?;
        if open || record.state != RestingState::Running || dir.queue()?.counts().is_open() {
            return Ok(Suspended::NotNow);
        }
        let server = self.server_of(&record);
        let Some(pane) = server
            .pane_of(id)?
            .filter(|pane| pane.death.is_none() && pane.clients == 0)
        else {
            return Ok(Suspended::NotNow);
        };
        let shot = crate::engine::watch::look::look(&server, &pane.id)?;
        let verdict = self.verdict(&record, shot.as_ref(), Some(&pane));
        // What the agent has started in the background would end with it.
        if verdict.activity != Activity::Idle || verdict.background.is_some() {
            return Ok(Suspended::NotNow);
        }
        // A draft of the user would be lost with the agent.
        if let Some(place) = &record.place {
            let agent = self.watched(&server, &dir, &record, place)?;
            if holds_a_draft(&agent, &|| self.last_prompt(&dir, &record))? {
                return Ok(Suspended::NotNow);
            }
        }
        let options = PauseOptions {
            wait: Some(std::time::Duration::ZERO),
            worktree: WorktreeOnPause::Keep,
            reason,
        };
        let repository = self.require_repository(&dir, &mut record, &mut Silent)?;
        let prepared =
            self.refuse_what_cannot_be_kept(repository, &record, &options, &mut Silent)?;
        self.withdraw_cancellation(&dir);
        let facts = Facts::none().with(fact::PAUSE, &options);
        let journal = self.begin_journal(&dir, Plan::pause(), facts)?;
        drop(absence);
        self.emit(EventKind::Pausing, &record, json!({ "reason": reason }));
        self.carry_out_prepared(&lock, &dir, journal, record, prepared, &mut Silent)?;
        Ok(Suspended::Done)
    }

    /// Sets how long an instance may be idle before it is paused; None: never; or takes the setting
    /// back, so that the configuration decides.
    pub(crate) fn set_idle_timeout(
        &self,
        given: &str,
        timeout: IdleTimeout,
    ) -> Result<crate::engine::base::view::InstanceView, Error> {
        self.prepare()?;
        let held = self.lock_instance(given, crate::engine::base::Scope::Living, "timeout")?;
        let mut record = held.record;
        record.idle_timeout_s = timeout.stored();
        record.updated_at = crate::engine::base::now();
        held.dir.save(&mut record)?;
        drop(held.lock);
        self.wake_daemon(Some(&record.id));
        self.show(record.id.as_str())
    }
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleTimeout {
    Off,
    After(u64),
}

impl IdleTimeout {
    /// In a record, nothing means "as configured", and zero "never".
    pub(crate) fn stored(self) -> Option<u64> {
        match self {
            Self::Off => Some(0),
            Self::After(seconds) => Some(seconds),
        }
    }
}
