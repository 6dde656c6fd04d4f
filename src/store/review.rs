//! The comments of a review on disk: one small file, replaced atomically, with its own lock.

use std::time::Duration;

use super::document::{read_if_there, write_document};
use super::{InstanceDir, Lock, LockMode, StoreError};
use crate::model::Review;

/// A change takes milliseconds.
const WAIT: Duration = Duration::from_secs(5);

impl InstanceDir {
    /// The review; an empty one where there is no file.
    pub(crate) fn review(&self) -> Result<Review, StoreError> {
        Ok(read_if_there(&self.review_path())?.unwrap_or_default())
    }

    /// Changes the review. The change is on disk when this returns.
    pub(crate) fn change_review<T>(
        &self,
        change: impl FnOnce(&mut Review) -> T,
    ) -> Result<T, StoreError> {
        let _lock = Lock::take(
            &self.path.join("review.lock"),
            LockMode::Exclusive,
            WAIT,
            "review",
        )?;
        let mut review = self.review()?;
        let before = review.clone();
        let outcome = change(&mut review);
        if review != before {
            write_document(&self.review_path(), &review)?;
        }
        Ok(outcome)
    }

    fn review_path(&self) -> std::path::PathBuf {
        self.path.join("review.json")
    }
}
