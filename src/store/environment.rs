//! The names of the variables that an agent was started with. Their values are never stored.

use std::collections::BTreeSet;
use std::path::PathBuf;

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
        let mut fresh = tempfile::NamedTempFile::new_in(&self.path)
            .map_err(StoreError::io("write in", &self.path))?;
        std::io::Write::write_all(&mut fresh, &text).map_err(StoreError::io("write", &path))?;
        fresh
            .persist(&path)
            .map_err(|error| StoreError::io("replace", &path)(error.error))?;
        Ok(())
    }

    fn environment_path(&self) -> PathBuf {
        self.path.join("environment.json")
    }
}
