//! Types what stood in an agent's input box before a pause, where a dialog kept it out at the resume.

use std::time::Duration;

use crate::engine::base::resolve::require_here;
use crate::engine::base::{Core, Error};
use crate::engine::talk::asking::TYPING;
use crate::engine::typing::dialog::was_typed_at;
use crate::engine::typing::lock::{TypingAccess, TypingLock};
use crate::engine::typing::put_back::put_back;
use crate::engine::typing::ready::{Patience, await_ready};
use crate::model::{InstanceId, RestingState};

/// How long to wait for an agent that was just seen at its prompt, and for another sender.
const READY: Duration = Duration::from_secs(5);

/// The result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DraftReturn {
    /// Nothing waits any more: it stands in the box, or the record keeps it for the next resume.
    Over,
    /// Not possible now; it is tried again.
    NotNow,
}

impl Core {
    /// Into an empty box, once: a user who types something else meanwhile is not disturbed.
    pub(crate) fn return_draft(&self, id: &InstanceId) -> Result<DraftReturn, Error> {
        let dir = self.store.instance(id);
        let Ok(_lock) = dir.try_lock_operation("typing a draft") else {
            return Ok(DraftReturn::NotNow);
        };
        let mut record = dir.record()?;
        require_here(&record)?;
        let running = record.state == RestingState::Running && dir.journal().read_open()?.is_none();
        let (Some(draft), Some(place)) = (record.draft.clone(), record.place.clone()) else {
            return Ok(DraftReturn::Over);
        };
        if !running || !record.draft_waits {
            return Ok(DraftReturn::Over);
        }
        let Ok(_typing) = dir.lock_typing(READY) else {
            return Ok(DraftReturn::NotNow);
        };
        let Ok(TypingAccess::Granted(_keys)) = TypingLock::acquire(&dir, &place) else {
            return Ok(DraftReturn::NotNow);
        };
        let server = self.server_of(&record);
        let agent = self.watched(&server, &dir, &record, &place)?;
        let look = server.take_detailed_screenshot(&place.pane)?;
        let patience = Patience {
            starting: READY,
            busy: Some(READY),
        };
        if look.is_none_or(|look| was_typed_at(&look, TYPING))
            || await_ready(&agent, &record.title, patience).is_err()
        {
            return Ok(DraftReturn::NotNow);
        }
        if put_back(&agent, &draft)? {
            record.draft = None;
        }
        record.draft_waits = false;
        dir.save(&mut record)?;
        Ok(DraftReturn::Over)
    }
}
