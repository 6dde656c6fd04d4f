//! One process at a time makes or removes worktrees of a repository.

use std::path::Path;
use std::time::Duration;

use crate::engine::base::{Core, Error};
use crate::model::InstanceRecord;
use crate::store::Lock;

/// Worktrees of one repository are made one after another: git's own `worktree add` races with itself.
const REPOSITORY_WAIT: Duration = Duration::from_secs(60);

impl Core {
    /// The lock for adding and removing worktrees of the instance's repository.
    pub(in crate::engine) fn lock_repository(
        &self,
        record: &InstanceRecord,
        purpose: &str,
    ) -> Result<Lock, Error> {
        self.lock_repository_at(&record.repository.common_dir, purpose)
    }

    /// The same by the directory that all worktrees share.
    pub(in crate::engine) fn lock_repository_at(
        &self,
        common_dir: &Path,
        purpose: &str,
    ) -> Result<Lock, Error> {
        let name = repository_lock(common_dir);
        Ok(self.store.lock(&name, REPOSITORY_WAIT, purpose)?)
    }
}

/// A file name for a repository's lock.
fn repository_lock(common_dir: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let hash = stable_hash(&[common_dir.as_os_str().as_bytes()]);
    format!("repo-{hash:016x}")
}

/// The FNV hash of these parts, which is the same in every version of the program.
pub(in crate::engine) fn stable_hash(parts: &[&[u8]]) -> u64 {
    parts
        .join(&0)
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
}
