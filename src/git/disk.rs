//! Filesystem questions: the identity of a file, durable writes and renames, free space.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{GitError, full_disk};

/// Identifies a file for as long as it exists, whatever its name is. It is recorded before an
/// effect, so that a later run recognises its own work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct FileIdentity {
    pub device: u64,
    pub inode: u64,
}

impl FileIdentity {
    /// The file at this path now (not following a symlink); None if there is none.
    pub(crate) fn at(path: &Path) -> Result<Option<Self>, GitError> {
        match std::fs::symlink_metadata(path) {
            Ok(found) => Ok(Some(Self {
                device: found.dev(),
                inode: found.ino(),
            })),
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(source) => Err(GitError::Unreadable {
                path: path.to_owned(),
                source,
            }),
        }
    }

    pub(crate) fn require(path: &Path) -> Result<Self, GitError> {
        Self::at(path)?.ok_or_else(|| GitError::Unreadable {
            path: path.to_owned(),
            source: std::io::Error::from(std::io::ErrorKind::NotFound),
        })
    }
}

/// Makes a directory (and its parents) that only the owner can enter.
pub(crate) fn ensure_private_dir(dir: &Path) -> Result<(), GitError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(GitError::writing(dir))
}

/// Everything written to the filesystem that holds `path` is on the disk when this returns:
/// git syncs neither loose objects nor objects that existed before.
pub(crate) fn sync_filesystem(path: &Path) -> Result<(), GitError> {
    let handle = File::open(path).map_err(GitError::reading(path))?;
    sync(&handle).map_err(|errno| GitError::writing(path)(errno.into()))
}

#[cfg(target_os = "linux")]
fn sync(handle: &File) -> rustix::io::Result<()> {
    rustix::fs::syncfs(handle)
}

#[cfg(not(target_os = "linux"))]
fn sync(_handle: &File) -> rustix::io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Starts a sync in the background, so that a later [`sync_filesystems`] has less to wait for.
pub(crate) fn begin_sync(paths: &[&Path]) {
    let paths: Vec<PathBuf> = paths.iter().map(|path| (*path).to_owned()).collect();
    std::thread::spawn(move || {
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        // Only a head start: a caller that depends on the sync repeats it and gets the error.
        if let Err(error) = sync_filesystems(&paths) {
            tracing::debug!(%error, "sync in the background");
        }
    });
}

/// Syncs each filesystem that one of the paths lies on, once.
pub(crate) fn sync_filesystems(paths: &[&Path]) -> Result<(), GitError> {
    let mut done: Vec<u64> = Vec::new();
    for path in paths {
        let device = device_of(path)?;
        if !done.contains(&device) {
            sync_filesystem(path)?;
            done.push(device);
        }
    }
    Ok(())
}

/// A rename is on the disk when both directories are.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), GitError> {
    File::open(dir)
        .and_then(|handle| handle.sync_all())
        .map_err(GitError::writing(dir))
}

/// Names, modes, times and sizes of everything below `dir` are on the disk when this returns, or the
/// sizes are smaller than they were; the bytes may be missing. Waiting for those takes longer.
/// The caller has changed `dir` itself last.
pub(crate) fn sync_names(dir: &Path) -> Result<(), GitError> {
    if has_one_journal(dir) {
        sync_dir(dir)
    } else {
        sync_filesystem(dir)
    }
}

/// Whether syncing a directory also syncs every earlier change: true where all changes go through
/// one journal, in order. Other filesystems are synced whole.
#[cfg(target_os = "linux")]
fn has_one_journal(dir: &Path) -> bool {
    const EXT4: i64 = 0xef53;
    const XFS: i64 = 0x5846_5342;
    const TMPFS: i64 = 0x0102_1994;
    #[expect(clippy::unnecessary_cast, reason = "types differ by system")]
    rustix::fs::statfs(dir).is_ok_and(|found| matches!(found.f_type as i64, EXT4 | XFS | TMPFS))
}

#[cfg(not(target_os = "linux"))]
fn has_one_journal(_: &Path) -> bool {
    false
}

/// Suffix of a file that is being written, until it is on the disk. A crash may leave it behind.
pub(crate) const UNFINISHED: &str = "bivouac-new";

/// Puts a file in the place of another, or of none: after a crash the old one is there or the new
/// one. One process at a time does this in a directory. What fails leaves no draft behind.
pub(crate) fn replace_durably(
    path: &Path,
    bytes: &[u8],
    permissions: Option<std::fs::Permissions>,
) -> Result<(), GitError> {
    let above = parent(path);
    let fresh = above.join(UNFINISHED);
    let replaced = write_synced(&fresh, bytes, permissions)
        .map_err(GitError::writing(&fresh))
        .and_then(|()| std::fs::rename(&fresh, path).map_err(GitError::writing(path)));
    if replaced.is_err() {
        // The first error is what the caller needs; the next write replaces a draft that stays.
        drop(std::fs::remove_file(&fresh));
    }
    replaced?;
    sync_dir(&above)
}

fn write_synced(
    path: &Path,
    bytes: &[u8],
    permissions: Option<std::fs::Permissions>,
) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

pub(crate) fn device_of(path: &Path) -> Result<u64, GitError> {
    std::fs::metadata(path)
        .map(|found| found.dev())
        .map_err(GitError::reading(path))
}

/// Bytes that this user can still write on the filesystem of `path`.
pub(crate) fn free_bytes(path: &Path) -> Result<u64, GitError> {
    full_disk::free_bytes(path).map_err(GitError::reading(path))
}

/// Renames, then makes the rename durable. Never replaces anything but an empty directory.
pub(crate) fn rename_durably(from: &Path, to: &Path) -> Result<(), GitError> {
    rename_exclusively(from, to)?;
    for parent in [parent(from), parent(to)] {
        sync_dir(&parent)?;
    }
    Ok(())
}

/// `rename(2)` silently replaces an empty directory, which may not be ours; this does not.
pub(crate) fn rename_exclusively(from: &Path, to: &Path) -> Result<(), GitError> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::EXIST) => {
                return Err(GitError::PathTaken {
                    path: to.to_owned(),
                });
            }
            // Not every filesystem knows the flag.
            Err(
                rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP,
            ) => {}
            Err(errno) => return Err(GitError::writing(to)(errno.into())),
        }
    }
    if FileIdentity::at(to)?.is_some() {
        return Err(GitError::PathTaken {
            path: to.to_owned(),
        });
    }
    std::fs::rename(from, to).map_err(GitError::writing(to))
}

pub(crate) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        Some(_) | None => PathBuf::from("."),
    }
}

/// Never waits: what was a file may have become a fifo.
pub(crate) fn open_file(path: &Path) -> Option<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_replaced_leaves_no_draft() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("place");
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("inside"), "").unwrap();
        assert!(replace_durably(&place, b"text", None).is_err());
        assert!(!dir.path().join(UNFINISHED).exists());
        assert!(place.join("inside").exists());
    }
}
