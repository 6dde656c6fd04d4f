//! Which home an instance's saved work belongs to: two homes may share a repository, and its vault.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::repository::Vault;
use crate::git::GitError;
use crate::git::disk::ensure_private_dir;
use crate::model::InstanceId;

fn file(vault: &Vault, id: &InstanceId) -> PathBuf {
    vault.dir().join("homes").join(id.as_str())
}

/// The home that has saved this instance; None where an earlier version did.
pub(super) fn owner(vault: &Vault, id: &InstanceId) -> Option<PathBuf> {
    let path = std::fs::read(file(vault, id)).ok()?;
    Some(PathBuf::from(std::ffi::OsString::from_vec(path)))
}

/// Notes the home before anything of the instance is saved.
pub(super) fn record_owner(vault: &Vault, id: &InstanceId, home: &Path) -> Result<(), GitError> {
    if owner(vault, id).as_deref() == Some(home) {
        return Ok(());
    }
    let path = file(vault, id);
    let dir = crate::git::disk::parent(&path);
    ensure_private_dir(&dir)?;
    let mut fresh = tempfile::NamedTempFile::new_in(&dir).map_err(GitError::writing(&dir))?;
    std::io::Write::write_all(&mut fresh, home.as_os_str().as_bytes())
        .map_err(GitError::writing(&path))?;
    fresh
        .persist(&path)
        .map_err(|error| GitError::writing(&path)(error.error))?;
    Ok(())
}

/// Removes the note when nothing of the instance is left. One that stays does no harm.
pub(super) fn forget_owner(vault: &Vault, id: &InstanceId) {
    drop(std::fs::remove_file(file(vault, id)));
}
