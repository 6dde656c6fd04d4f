//! How many refusals of the seal of the running agent were told. One byte each, so that several threads can
//! add to it without a lock.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use super::{InstanceDir, StoreError};

impl InstanceDir {
    /// The directory of the files that belong to its seal.
    pub(crate) fn seal(&self) -> PathBuf {
        self.path.join("seal")
    }

    pub(crate) fn count_denied(&self) -> Result<(), StoreError> {
        let path = self.denied_path();
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        opened
            .and_then(|mut file| file.write_all(b"x"))
            .map_err(StoreError::io("write", &path))
    }

    pub(crate) fn denied(&self) -> u64 {
        std::fs::metadata(self.denied_path()).map_or(0, |file| file.len())
    }

    /// A new launch begins to count again.
    pub(crate) fn forget_denied(&self) {
        // Usually the file does not exist.
        drop(std::fs::remove_file(self.denied_path()));
    }

    fn denied_path(&self) -> PathBuf {
        self.seal().join("denied")
    }
}
