//! What is known of the pull request of an instance, on disk, with its own lock.

use std::path::PathBuf;
use std::time::Duration;

use super::document::{read_if_there, write_document};
use super::{Document, InstanceDir, Lock, LockMode, StoreError};
use crate::model::PullRequestRecord;

/// A change takes milliseconds.
const WAIT: Duration = Duration::from_secs(5);

impl Document for PullRequestRecord {
    const FORMAT: u32 = Self::FORMAT;
}

impl InstanceDir {
    /// None where none was opened from here.
    pub(crate) fn pull_request(&self) -> Result<Option<PullRequestRecord>, StoreError> {
        read_if_there(&self.pull_request_path())
    }

    /// Changes what is known. The change is on disk when this returns.
    pub(crate) fn change_pull_request<T>(
        &self,
        change: impl FnOnce(&mut Option<PullRequestRecord>) -> T,
    ) -> Result<T, StoreError> {
        let _lock = Lock::take(
            &self.path.join("pull-request.lock"),
            LockMode::Exclusive,
            WAIT,
            "pr",
        )?;
        let mut record = self.pull_request()?;
        let before = record.clone();
        let outcome = change(&mut record);
        if let Some(record) = record.filter(|record| Some(record) != before.as_ref()) {
            write_document(&self.pull_request_path(), &record)?;
        }
        Ok(outcome)
    }

    fn pull_request_path(&self) -> PathBuf {
        self.path.join("pull-request.json")
    }
}
