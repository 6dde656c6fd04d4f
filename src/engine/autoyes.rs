//! Whether an instance's dialogs are answered by the policy.

use super::core::now;
use super::recover::Held;
use super::{Engine, Error, Scope};
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
