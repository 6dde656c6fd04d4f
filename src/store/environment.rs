//! The names of the variables that an agent was started with. Their values never reach the disk.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{InstanceDir, StoreError};

impl InstanceDir {
    /// Empty where nothing is known.
    pub(crate) fn environment_names(&self) -> BTreeSet<String> {
        std::fs::read(self.environment_path())
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default()
    }

    /// Not synced: a start does not wait for a hint that only a later resume looks at.
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
