//! Whether an instance's dialogs are answered by the policy.

use crate::engine::core::now;
use crate::engine::recover::Held;
use crate::engine::{Engine, Error, Scope};
use crate::model::Title;

impl Engine {
    pub(crate) fn set_autoyes(&self, given: &str, on: bool) -> Result<Title, Error> {
        self.prepare()?;
        let Held {
            dir,
            mut record,
            lock: _lock,
        } = self.hold(given, Scope::Living, "autoyes")?;
        if record.autoyes != on {
            record.autoyes = on;
            record.updated_at = now();
            dir.save(&mut record)?;
        }
        Ok(record.title)
    }
}
