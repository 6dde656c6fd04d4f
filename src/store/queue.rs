//! The queue of an instance on disk: one small file, replaced atomically, with its own lock.

use std::time::Duration;

use super::document::{read_if_there, write_document};
use super::{InstanceDir, Lock, LockMode, StoreError};
use crate::model::Queue;

/// A change takes milliseconds.
const WAIT: Duration = Duration::from_secs(5);

impl InstanceDir {
    /// The queue; an empty one where there is no file.
    pub(crate) fn queue(&self) -> Result<Queue, StoreError> {
        Ok(read_if_there(&self.queue_path())?.unwrap_or_default())
    }

    /// Changes the queue. The change is on disk when this returns.
    pub(crate) fn change_queue<T>(
        &self,
        change: impl FnOnce(&mut Queue) -> T,
    ) -> Result<T, StoreError> {
        let _lock = Lock::take(
            &self.path.join("queue.lock"),
            LockMode::Exclusive,
            WAIT,
            "queue",
        )?;
        let mut queue = self.queue()?;
        let before = queue.clone();
        let outcome = change(&mut queue);
        if queue != before {
            write_document(&self.queue_path(), &queue)?;
        }
        Ok(outcome)
    }

    pub(crate) fn queue_path(&self) -> std::path::PathBuf {
        self.path.join("queue.json")
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{InstanceId, Timestamp};
    use crate::store::Store;

    #[test]
    fn what_was_queued_is_there_again_and_damage_is_not_taken_for_emptiness() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("state"));
        store.prepare().unwrap();
        let instance = store.claim(&InstanceId::random()).unwrap();
        let now = Timestamp::from_epoch(1_800_000_000).unwrap();
        for prompt in ["one", "two\nlines"] {
            instance
                .change_queue(|queue| queue.add(prompt.to_owned(), now))
                .unwrap();
        }
        let queue = instance.queue().unwrap();
        assert_eq!(queue.counts().waiting, 2);
        let whole = std::fs::read(instance.queue_path()).unwrap();
        for cut in [1, whole.len() / 2, whole.len() - 3] {
            std::fs::write(instance.queue_path(), &whole[..cut]).unwrap();
            assert!(instance.change_queue(|queue| queue.clear()).is_err());
            assert_eq!(std::fs::read(instance.queue_path()).unwrap(), &whole[..cut]);
        }
    }
}
