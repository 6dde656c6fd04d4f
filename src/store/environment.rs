//! The names of the variables that an agent was started with. Their values are never stored.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::replace::replace_unsynced;
use super::{InstanceDir, StoreError};

impl InstanceDir {
    /// The stored names; empty where none are known.
    pub(crate) fn environment_names(&self) -> BTreeSet<String> {
        std::fs::read(self.environment_path())
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default()
    }

    /// Stores the names. Not synced: only a later resume uses them, as a hint.
    pub(crate) fn save_environment_names(
        &self,
        names: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        let path = self.environment_path();
        let text = serde_json::to_vec(names).map_err(|error| StoreError::Corrupt {
            path: path.clone(),
            message: error.to_string(),
        })?;
        replace_unsynced(&path, &text)
    }

    fn environment_path(&self) -> PathBuf {
        self.path.join("environment.json")
    }
}
