//! The moves that change a parked worktree as a merge says, and the directory that keeps them.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde::{Deserialize, Serialize};

use super::content::is_absence;
use super::obstacles::ancestors;
use super::plan::Aside;
use crate::git::GitError;
use crate::git::call::bytes_to_path;
use crate::git::disk::sync_dir;
use crate::vault::ParkingPlace;

/// The directory that holds the moves and what is moved; on the worktree's own filesystem.
pub(super) struct Store {
    pub dir: PathBuf,
}

/// What is to be done, in this order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct List {
    pub actions: Vec<Action>,
    /// Every directory that one of them changes, the outermost first.
    pub directories: Vec<DirectoryWas>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    /// Out of the worktree.
    Out {
        path: Vec<u8>,
        number: usize,
        was: Was,
    },
    /// A directory that has become empty, and goes where nothing needs it.
    Empty {
        path: Vec<u8>,
    },
    /// To another name in the worktree.
    Aside {
        aside: Aside,
        inode: u64,
    },
    Directory {
        path: Vec<u8>,
    },
    /// Into the worktree; `id` is that of its bytes.
    In {
        path: Vec<u8>,
        id: String,
    },
}

/// A file as it was proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Was {
    pub inode: u64,
    pub size: u64,
    pub mtime: (i64, i64),
}

impl Was {
    pub(super) fn at(path: &Path) -> Result<Option<Self>, GitError> {
        match std::fs::symlink_metadata(path) {
            Ok(found) => Ok(Some(Self {
                inode: found.ino(),
                size: found.len(),
                mtime: (found.mtime(), found.mtime_nsec()),
            })),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(GitError::reading(path)(error)),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DirectoryWas {
    pub path: Vec<u8>,
    pub mode: u32,
    pub mtime: (i64, i64),
}

pub(super) const LIST: &str = "list.json";
pub(super) const PLANNED_INDEX: &str = "index-planned";
pub(super) const OLD_INDEX: &str = "index-before";

impl Store {
    pub(super) fn of(place: &ParkingPlace) -> Self {
        let name = place
            .parked_worktree
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let name = name.strip_prefix("worktree-").unwrap_or(&name);
        Self {
            dir: place
                .parked_worktree
                .with_file_name(format!("merge-{name}")),
        }
    }

    pub(super) fn old(&self, number: usize) -> PathBuf {
        self.dir.join("old").join(number.to_string())
    }

    pub(super) fn new_tree(&self) -> PathBuf {
        self.dir.join("new")
    }

    /// The moves, if the first of them may have been made.
    pub(super) fn list(&self) -> Result<Option<List>, GitError> {
        let path = self.dir.join(LIST);
        match std::fs::read(&path) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes)
                    .map(Some)
                    .map_err(|error| GitError::Manifest {
                        reference: path.display().to_string(),
                        problem: error.to_string(),
                    })
            }
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(GitError::reading(&path)(error)),
        }
    }

    pub(super) fn remove(&self) -> Result<(), GitError> {
        // The list goes last: without it, what is left is known to be of no use.
        let list = self.dir.join(LIST);
        let done = self.dir.join("done");
        match std::fs::rename(&list, &done) {
            Ok(()) => sync_dir(&self.dir)?,
            Err(error) if is_absence(&error) => {}
            Err(error) => return Err(GitError::writing(&list)(error)),
        }
        match std::fs::remove_dir_all(&self.dir) {
            Ok(()) => Ok(()),
            Err(error) if is_absence(&error) => Ok(()),
            Err(error) => Err(GitError::writing(&self.dir)(error)),
        }
    }
}

impl List {
    /// Makes the directories above a path that were there before.
    pub(super) fn make_above(&self, top: &Path, path: &[u8]) -> Result<(), GitError> {
        for above in ancestors(path) {
            let dir = top.join(bytes_to_path(above));
            if Was::at(&dir)?.is_none() {
                std::fs::create_dir(&dir).map_err(GitError::writing(&dir))?;
            }
        }
        Ok(())
    }

    /// Modes and times as they were, the innermost first.
    pub(super) fn restore_directories(&self, top: &Path) -> Result<(), GitError> {
        for was in self.directories.iter().rev() {
            let path = top.join(bytes_to_path(&was.path));
            let failed = |errno: rustix::io::Errno| GitError::writing(&path)(errno.into());
            let Ok(found) = std::fs::symlink_metadata(&path) else {
                continue;
            };
            if !found.is_dir() {
                continue;
            }
            if found.permissions().mode() & 0o7777 != was.mode {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(was.mode))
                    .map_err(GitError::writing(&path))?;
            }
            let time = Timespec {
                tv_sec: was.mtime.0,
                tv_nsec: was.mtime.1,
            };
            let times = Timestamps {
                last_access: time,
                last_modification: time,
            };
            utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        }
        Ok(())
    }
}

pub(super) fn is_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
