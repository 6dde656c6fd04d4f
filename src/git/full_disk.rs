//! Free space, and the full disk that git does not name.

use std::path::{Path, PathBuf};

/// What git has written may be gone by now: a disk with less than this was full.
const LEAST_FREE: u64 = 1 << 20;

/// Bytes that this user can still write on the filesystem of `path`.
pub(super) fn free_bytes(path: &Path) -> std::io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The directory without free space in which git could not write a file: of a ref, git does not say why.
pub(super) fn full_disk(message: &str) -> Option<PathBuf> {
    // Git removes directories that are empty again.
    let directory = unwritten(message)?.ancestors().find(|path| path.is_dir())?;
    let free = free_bytes(directory).ok()?;
    (free < LEAST_FREE).then(|| directory.to_owned())
}

fn unwritten(message: &str) -> Option<&Path> {
    let (_, rest) = message.split_once("couldn't write '")?;
    let (path, _) = rest.split_once('\'')?;
    Some(Path::new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_git_could_not_write_is_read_from_its_words() {
        let said = "fatal: update_ref failed for ref 'refs/a': cannot update ref 'refs/a': couldn't write '/r/refs/a.lock'";
        assert_eq!(unwritten(said), Some(Path::new("/r/refs/a.lock")));
        assert_eq!(unwritten("fatal: cannot lock ref 'refs/a'"), None);
        // There is space here: something else was in the way.
        let here = format!("couldn't write '{}/x'", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(full_disk(&here), None);
    }
}
