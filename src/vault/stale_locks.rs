//! The lock files that git leaves behind when it is killed, or the power is cut, in the middle of a change of
//! refs. Every later change of the same ref would fail.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::refs::{HELD, KEEP, TRASH};
use super::repository::Vault;

/// A change of refs takes milliseconds; after this time its process is gone.
const STALE: Duration = Duration::from_secs(60);

/// Removes the stale locks on the refs of one instance, or of all. Only Bivouac changes these refs, and only with
/// a lock of its own, which the caller holds. Locks of the user's repository are left, but for those on our refs.
pub(super) fn remove_stale_locks(vault: &Vault, instance: Option<&str>) {
    let keeps = vault.repo().common_dir().join(KEEP);
    let mut locks = vec![vault.dir().join("packed-refs.lock")];
    match instance {
        Some(id) => locks.push(keeps.join(format!("{id}.lock"))),
        None => locks.extend(locks_in(&keeps)),
    }
    for namespace in [HELD, TRASH, KEEP].map(|name| vault.dir().join(name)) {
        let instances = match instance {
            Some(id) => vec![namespace.join(id)],
            None => entries(&namespace),
        };
        locks.extend(instances.iter().flat_map(|directory| locks_in(directory)));
    }
    for lock in locks.iter().filter(|lock| is_stale(lock)) {
        match std::fs::remove_file(lock) {
            Ok(()) => tracing::warn!(lock = %lock.display(), "a stale lock was removed"),
            Err(error) => tracing::warn!(%error, lock = %lock.display(), "a stale lock stays"),
        }
    }
}

fn locks_in(directory: &Path) -> Vec<PathBuf> {
    let mut found = entries(directory);
    found.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "lock")
    });
    found
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

fn is_stale(lock: &Path) -> bool {
    let Ok(file) = std::fs::symlink_metadata(lock) else {
        return false;
    };
    let age = file
        .modified()
        .ok()
        .and_then(|changed| SystemTime::now().duration_since(changed).ok());
    file.is_file() && age.is_some_and(|age| age >= STALE)
}
