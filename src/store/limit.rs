//! The usage limit that an agent has shown last: when it was first seen, and which one was continued.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::replace::{replace_file, replace_unsynced};
use super::{InstanceDir, StoreError};
use crate::model::Timestamp;

/// A limit as it was first seen. Agents name a time of day, so a later look alone could not tell which day is
/// meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeenLimit {
    /// The time at which it resets, as the screen says it.
    pub text: String,
    pub resets_at: Timestamp,
    /// The agent has worked since: the same text is another limit.
    pub left: bool,
}

impl InstanceDir {
    /// None also where it cannot be read: then the limit counts as seen now.
    pub(crate) fn seen_limit(&self) -> Option<SeenLimit> {
        serde_json::from_slice(&std::fs::read(self.limit_path()).ok()?).ok()
    }

    pub(crate) fn save_seen_limit(&self, limit: &SeenLimit) -> Result<(), StoreError> {
        let path = self.limit_path();
        let text = serde_json::to_vec(limit).map_err(|error| StoreError::Corrupt {
            path: path.clone(),
            message: error.to_string(),
        })?;
        replace_unsynced(&path, &text)
    }

    /// Removes the limit of an earlier process, which is not about the next one.
    pub(crate) fn forget_limit(&self) {
        if let Err(error) = std::fs::remove_file(self.limit_path())
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the last usage limit was not removed");
        }
    }

    /// The reset after which the work was taken up last. It has a file of its own, so that a look that
    /// writes at the same time does not undo it.
    pub(crate) fn continued_limit(&self) -> Option<Timestamp> {
        let text = std::fs::read_to_string(self.continued_path()).ok()?;
        Timestamp::parse(text.trim())
    }

    pub(crate) fn save_continued_limit(&self, resets_at: Timestamp) -> Result<(), StoreError> {
        replace_file(&self.continued_path(), resets_at.to_string().as_bytes())
    }

    fn limit_path(&self) -> PathBuf {
        self.path.join("limit.json")
    }

    fn continued_path(&self) -> PathBuf {
        self.path.join("limit-continued")
    }
}
