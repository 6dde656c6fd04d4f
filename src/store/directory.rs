//! Directories that only this user can access.

use std::fs::{DirBuilder, Metadata, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use super::StoreError;

/// Creates the directory (0700) with its parents, and removes the rights of others from an existing one. A
/// directory of another user is refused: its owner could replace files in it.
pub(crate) fn ensure_private(path: &Path) -> Result<(), StoreError> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(path)
                .map_err(StoreError::io("make", path))?;
            std::fs::metadata(path).map_err(StoreError::io("look at", path))?
        }
        Err(error) => return Err(StoreError::io("look at", path)(error)),
    };
    refuse_foreign(path, &metadata)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o700))
            .map_err(StoreError::io("close to others", path))?;
    }
    Ok(())
}

fn refuse_foreign(path: &Path, metadata: &Metadata) -> Result<(), StoreError> {
    if metadata.uid() == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err(StoreError::ForeignOwner {
            path: path.to_owned(),
            owner: metadata.uid(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_made_private_and_stays_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        ensure_private(&path).unwrap();
        assert_eq!(mode(), 0o700);
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        ensure_private(&path).unwrap();
        assert_eq!(mode(), 0o700);
    }
}
