//! Another title for an instance. Branch, worktree and session keep their names: they depend on the id.

use serde::Serialize;

use crate::engine::base::{Core, Error, Scope, now};
use crate::engine::operate::names::NAMES_WAIT;
use crate::model::{InstanceId, RestingState, Title, printable_line};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Renamed {
    pub id: InstanceId,
    pub title: Title,
    pub formerly: Title,
}

impl Core {
    /// Gives an instance another title.
    pub(crate) fn rename(&self, given: &str, title: &str) -> Result<Renamed, Error> {
        let title = Title::new(title)?;
        self.prepare()?;
        let held = self.lock_instance(given, Scope::Living, "rename")?;
        let mut record = held.record;
        let formerly = record.title.clone();
        if formerly != title {
            let _names = self.store.lock("names", NAMES_WAIT, "rename")?;
            let common_dir = &record.repository.common_dir;
            record.title = self.choose_title(title.as_str(), common_dir)?;
            record.updated_at = now();
            held.dir.save(&mut record)?;
        }
        drop(held.lock);
        if record.state == RestingState::Running {
            // Only its status line shows the title; the next start sets it again.
            let shown = printable_line(record.title.as_str());
            if let Err(error) = self.server_of(&record).set_title(&record.id, &shown) {
                tracing::warn!(%error, "the title of a session could not be set");
            }
        }
        self.wake_daemon(Some(&record.id));
        Ok(Renamed {
            id: record.id,
            title: record.title,
            formerly,
        })
    }
}
