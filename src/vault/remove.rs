//! Removing whole directories for good: never through a link, never into another filesystem, and as
//! much of them as can be removed.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// What is still on the disk although it was to be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    /// Relative to the worktree, as text for the user: bytes that are not UTF-8 are replaced.
    pub path: String,
    pub why: String,
}

impl Left {
    pub(crate) fn new(path: &Path, why: impl Into<String>) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
            why: why.into(),
        }
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Deletes a file or directory of our own below `top`, and says what stays.
pub(crate) fn delete_tree(top: &Path, path: &Path) -> Vec<Left> {
    let mut left = Vec::new();
    remove_tree(top, path, &mut left);
    left
}

/// Removes a file, or a directory with all that is in it. Directories of our own that forbid it (as
/// those of Go's module cache do) are made writable first. Each path that stays is added to `left`,
/// relative to `top`.
pub(super) fn remove_tree(top: &Path, path: &Path, left: &mut Vec<Left>) {
    let mut tree = Tree { device: None, left };
    let whole = top.join(path);
    let name = whole.file_name().map(OsStr::to_owned);
    let above = openat(
        CWD,
        whole.parent().unwrap_or(top),
        DIRECTORY.difference(OFlags::NOFOLLOW),
        Mode::empty(),
    );
    match (above, name) {
        (Ok(above), Some(name)) => tree.remove(above.as_fd(), name.as_bytes(), path),
        (Err(Errno::NOENT | Errno::NOTDIR), _) => {}
        (Err(errno), _) => tree.leave(path, errno),
        (Ok(_), None) => tree.leave(path, Errno::INVAL),
    }
}

struct Tree<'a> {
    /// Of what is removed, once that is known.
    device: Option<u64>,
    left: &'a mut Vec<Left>,
}

impl Tree<'_> {
    fn leave(&mut self, path: &Path, errno: Errno) {
        let why = std::io::Error::from(errno).kind().to_string();
        self.left.push(Left::new(path, why));
    }

    fn remove(&mut self, above: BorrowedFd<'_>, name: &[u8], path: &Path) {
        let found = match statat(above, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::NOENT) => return,
            Err(errno) => return self.leave(path, errno),
        };
        let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let flags = if is_directory {
            let device = found.st_dev as u64;
            if *self.device.get_or_insert(device) != device {
                return self.leave(path, Errno::BUSY);
            }
            let before = self.left.len();
            match enter(above, name, &found) {
                Ok(directory) => self.empty(&directory, path),
                Err(errno) => return self.leave(path, errno),
            }
            if self.left.len() > before {
                return;
            }
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        match unlinkat(above, name, flags) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => self.leave(path, errno),
        }
    }

    fn empty(&mut self, directory: &OwnedFd, path: &Path) {
        let entries = match Dir::read_from(directory) {
            Ok(entries) => entries,
            Err(errno) => return self.leave(path, errno),
        };
        for entry in entries {
            match entry {
                Ok(entry) if is_itself_or_above(entry.file_name()) => {}
                Ok(entry) => {
                    let name = entry.file_name().to_bytes();
                    let below: PathBuf = path.join(OsStr::from_bytes(name));
                    self.remove(directory.as_fd(), name, &below);
                }
                Err(errno) => return self.leave(path, errno),
            }
        }
    }
}

fn is_itself_or_above(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Opens a directory whose names are to be removed.
fn enter(above: BorrowedFd<'_>, name: &[u8], found: &Stat) -> rustix::io::Result<OwnedFd> {
    let wanted = Mode::RWXU;
    let closed = !Mode::from_raw_mode(found.st_mode).contains(wanted);
    if closed {
        // If it is not ours to change, opening or removing reports the error.
        rustix::fs::chmodat(above, name, wanted, AtFlags::empty()).ok();
    }
    openat(above, name, DIRECTORY, Mode::empty())
}
