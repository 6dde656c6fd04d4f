//! Agents whose screen does not tell when they are ready: plain commands.

use crate::agents::Readiness;
use crate::engine::base::{Core, Error, now};
use crate::model::InstanceId;
use crate::process::is_in_foreground;

/// tmux counts whole seconds: two of them are more than one.
const AT_LEAST: i64 = 2;

impl Core {
    /// Whether a plain command has said nothing for a while, and runs no job in its foreground. False for
    /// agents whose screen tells.
    pub(crate) fn is_quiet(&self, id: &InstanceId) -> Result<bool, Error> {
        let record = self.store.instance(id).record()?;
        let Readiness::Quiet(window) = self.provider_of(&record)?.readiness() else {
            return Ok(false);
        };
        let Some(pane) = self.server_of(&record).pane_of(id)? else {
            return Ok(false);
        };
        let window = i64::try_from(window.as_secs()).unwrap_or(i64::MAX);
        let silent = now().seconds_since_epoch() - pane.active_at;
        Ok(pane.death.is_none() && silent >= window.max(AT_LEAST) && is_in_foreground(pane.pid))
    }
}
