//! The last answers of hosts, so that one that is down can still be shown.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::HostError;
use super::name::HostName;
use crate::model::Timestamp;
use crate::store::{ensure_private, replace_unsynced};

/// What is known of a host.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Known {
    /// When it answered last.
    pub at: Option<Timestamp>,
    /// That answer to `list`.
    pub listing: Option<Value>,
    /// When it last failed to answer, if that was later.
    pub failed_at: Option<Timestamp>,
    pub failure: Option<String>,
}

/// The same without the answer, which is long: all that has to be known before a host is asked.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(crate) struct Standing {
    at: Option<Timestamp>,
    pub failed_at: Option<Timestamp>,
}

impl Standing {
    /// Whether nothing was heard or tried for this time.
    pub(crate) fn is_older_than(&self, now: Timestamp, age: Duration) -> bool {
        let last = self.failed_at.max(self.at);
        last.is_none_or(|last| last.until(now) >= age)
    }
}

/// The directory of the answers.
#[derive(Debug, Clone)]
pub(crate) struct KnownHosts {
    directory: PathBuf,
}

impl KnownHosts {
    pub(crate) fn new(state: &Path) -> Self {
        Self {
            directory: state.join("hosts"),
        }
    }

    /// What is known; nothing where the file is missing or damaged: it is a copy.
    pub(crate) fn get(&self, name: &HostName) -> Known {
        self.read(name)
    }

    pub(crate) fn standing(&self, name: &HostName) -> Standing {
        self.read(name)
    }

    fn read<T: Default + for<'de> Deserialize<'de>>(&self, name: &HostName) -> T {
        std::fs::read(self.file(name))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default()
    }

    pub(crate) fn set(&self, name: &HostName, known: &Known) -> Result<(), HostError> {
        ensure_private(&self.directory)?;
        let text = serde_json::to_vec(known).unwrap_or_default();
        Ok(replace_unsynced(&self.file(name), &text)?)
    }

    pub(crate) fn forget(&self, name: &HostName) {
        // Nothing is lost where there is none.
        drop(std::fs::remove_file(self.file(name)));
    }

    /// A file that is locked while hosts are asked in the background.
    pub(crate) fn lock_file(&self) -> Result<PathBuf, HostError> {
        ensure_private(&self.directory)?;
        Ok(self.directory.join("asking.lock"))
    }

    fn file(&self, name: &HostName) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }
}
