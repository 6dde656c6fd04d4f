//! Takes up the work again after a usage limit has reset: once for each reset.

use std::time::Duration;

use serde_json::json;

use crate::engine::base::{Core, Error, Scope};
use crate::engine::talk::queue::FeedResult;
use crate::engine::typing::delivery::{Wording, require_empty_box};
use crate::engine::typing::lock::{TypingAccess, TypingLock};
use crate::engine::typing::ready::{Patience, await_ready};
use crate::engine::watch::look::screen_of;
use crate::model::{EventKind, InstanceId, RestingState};

/// How long to wait for an agent that was just seen at its prompt, and for another sender.
const READY: Duration = Duration::from_secs(5);

/// What the agent is told.
const PROMPT: &str = "The usage limit has reset. Continue where you stopped.";

impl Core {
    /// Prompts an agent whose usage limit is over to continue. Nothing is typed where the limit is no longer on its
    /// screen, or where this was done already for the same reset.
    pub(crate) fn continue_after_limit(&self, id: &InstanceId) -> Result<FeedResult, Error> {
        let found = self.find(id.as_str(), Scope::Living)?;
        let (dir, record) = (found.dir, found.record);
        let running = record.state == RestingState::Running && found.journal.is_none();
        let Some(place) = record.place.clone().filter(|_| running) else {
            return Ok(FeedResult::Nothing);
        };
        if !self.settings().limits.continues || self.camp_is_paused()? {
            return Ok(FeedResult::Nothing);
        }
        // From here on the idle timer cannot pause it.
        let Ok(_presence) = dir.lock_presence("usage limit") else {
            return Ok(FeedResult::NotNow);
        };
        let Ok(_typing) = dir.lock_typing(READY) else {
            return Ok(FeedResult::NotNow);
        };
        let server = self.server_of(&record);
        let patience = Patience {
            starting: READY,
            busy: Some(READY),
        };
        let agent = self.watched(&server, &dir, &record, &place)?;
        if await_ready(&agent, &record.title, patience).is_err() {
            return Ok(FeedResult::NotNow);
        }
        let shot = agent.look()?;
        let verdict =
            shot.map(|shot| agent.verdict(&screen_of(&shot), &shot.title, Duration::ZERO));
        let limit = verdict.and_then(|verdict| verdict.limit);
        let Some(limit) = limit.filter(|limit| limit.is_over && !limit.is_continued) else {
            return Ok(FeedResult::Nothing);
        };
        let Ok(TypingAccess::Granted(typing)) = TypingLock::acquire(&dir, &place) else {
            return Ok(FeedResult::NotNow);
        };
        // The user has to send or delete a draft.
        let last = || self.last_prompt(&dir, &record);
        if require_empty_box(&agent, &last).is_err() {
            return Ok(FeedResult::NotNow);
        }
        // Recorded before the first key, so that it is never typed twice.
        dir.save_continued_limit(limit.resets_at)?;
        drop(typing.type_to(self, &agent, &record, &place, PROMPT, Wording::Text)?);
        let data = json!({ "resets_at": limit.resets_at });
        self.emit(EventKind::LimitContinued, &record, data);
        Ok(FeedResult::Sent)
    }
}
