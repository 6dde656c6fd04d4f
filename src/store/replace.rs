//! Atomic replacement of files: a reader sees the old file or the new one.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::StoreError;

/// Writes a temporary file beside the target, syncs it, renames it over the target and syncs the
/// directory. Refuses to replace a file by an empty one.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    if content.is_empty() {
        return Err(StoreError::Corrupt {
            path: path.to_owned(),
            message: "nothing to write".to_owned(),
        });
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    // `tempfile` creates with 0600.
    let mut temporary = tempfile::NamedTempFile::new_in(directory)
        .map_err(StoreError::io("write in", directory))?;
    temporary
        .write_all(content)
        .and_then(|()| temporary.as_file().sync_all())
        .map_err(StoreError::io("write", path))?;
    temporary
        .persist(path)
        .map_err(|error| StoreError::io("replace", path)(error.error))?;
    sync_directory(directory)
}

/// The same without syncing: after a power cut the file may be the old one, or empty. For files that are
/// written often and can be lost.
pub(crate) fn replace_unsynced(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    // `tempfile` creates with 0600.
    let mut temporary = tempfile::NamedTempFile::new_in(directory)
        .map_err(StoreError::io("write in", directory))?;
    temporary
        .write_all(content)
        .map_err(StoreError::io("write", path))?;
    temporary
        .persist(path)
        .map_err(|error| StoreError::io("replace", path)(error.error))?;
    Ok(())
}

pub(super) fn sync_directory(directory: &Path) -> Result<(), StoreError> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(StoreError::io("sync", directory))
}
