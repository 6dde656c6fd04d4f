//! What a pause cannot save, found before anything is stopped.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::read_ahead::{ReadAhead, read_ahead};
use super::stamp::Stamp;
use super::survey::{Depth, Survey, survey};
use crate::git::call::bytes_to_path;
use crate::git::disk::free_bytes;
use crate::git::{Checkout, GitError, Repo};

/// Kept free beyond what a snapshot takes.
const RESERVE: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) struct Preflight {
    pub unsavable: Vec<Unsavable>,
    /// Set if the disk is too full for a snapshot.
    pub shortage: Option<Shortage>,
    /// The snapshot, which is being read already where that makes sense.
    pub ahead: Option<ReadAhead>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unsavable {
    /// Relative to the worktree.
    pub path: PathBuf,
    pub why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    Socket,
    Device,
    Fifo,
    Unreadable,
    /// Another filesystem is mounted there.
    Mount,
}

impl Why {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Device => "device",
            Self::Fifo => "fifo",
            Self::Unreadable => "unreadable",
            Self::Mount => "mount",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortage {
    pub needed: u64,
    pub free: u64,
}

/// Looks where the snapshot will look; ignored directories are moved whole and not looked into.
pub(crate) fn preflight(repo: &Repo, checkout: &Checkout) -> Result<Preflight, GitError> {
    let mut unsavable = mounts(&checkout.dir);
    let found = match survey(repo, checkout, Depth::Files) {
        Ok(found) => found,
        Err(GitError::Unreadable { path, .. }) if !path.is_absolute() => {
            unsavable.push(Unsavable {
                path,
                why: Why::Unreadable,
            });
            return Ok(Preflight {
                unsavable,
                shortage: None,
                ahead: None,
            });
        }
        Err(error) => return Err(error),
    };
    let dirs = directories(&found);
    let mut bytes = 0;
    for file in found.changed.iter().chain(&found.untracked) {
        let path = bytes_to_path(&file.path);
        if file.stamp.is_file() {
            bytes += file.stamp.size;
            if !is_readable(&checkout.dir.join(&path), &file.stamp) {
                unsavable.push(Unsavable {
                    path,
                    why: Why::Unreadable,
                });
            }
        }
    }
    let needed = 2 * bytes + RESERVE;
    let free = free_bytes(repo.common_dir())?;
    let shortage = (free < needed).then_some(Shortage { needed, free });
    let ahead = match &shortage {
        None => read_ahead(repo, checkout, found),
        Some(_) => None,
    };
    for dir in dirs {
        special_files(&checkout.dir, &dir, &mut unsavable);
    }
    Ok(Preflight {
        unsavable,
        shortage,
        ahead,
    })
}

fn is_readable(path: &Path, stamp: &Stamp) -> bool {
    // For our own files the mode says it; for others the kernel is asked.
    let own = stamp.uid == rustix::process::geteuid().as_raw() && stamp.mode & 0o400 != 0;
    own || rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
}

/// Every directory that holds something tracked or untracked, the top included.
fn directories(found: &Survey) -> BTreeSet<PathBuf> {
    let tracked = found.index.entries.iter().map(|entry| &entry.path);
    let untracked = found.untracked.iter().map(|file| &file.path);
    let mut dirs = BTreeSet::from([PathBuf::new()]);
    let mut last = PathBuf::new();
    for path in tracked.chain(untracked) {
        let path = bytes_to_path(path);
        let Some(above) = path.parent() else { continue };
        if above != last {
            dirs.extend(above.ancestors().map(Path::to_owned));
            last = above.to_owned();
        }
    }
    dirs
}

fn special_files(top: &Path, dir: &Path, unsavable: &mut Vec<Unsavable>) {
    let entries = match std::fs::read_dir(top.join(dir)) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() == std::io::ErrorKind::PermissionDenied {
                unsavable.push(Unsavable {
                    path: dir.to_owned(),
                    why: Why::Unreadable,
                });
            }
            return;
        }
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let why = if kind.is_socket() {
            Why::Socket
        } else if kind.is_fifo() {
            Why::Fifo
        } else if kind.is_block_device() || kind.is_char_device() {
            Why::Device
        } else {
            continue;
        };
        unsavable.push(Unsavable {
            path: dir.join(entry.file_name()),
            why,
        });
    }
}

/// Filesystems mounted somewhere below, as the kernel lists them; none where it does not say.
fn mounts(dir: &Path) -> Vec<Unsavable> {
    let Ok(table) = std::fs::read("/proc/self/mountinfo") else {
        return Vec::new();
    };
    let dir = crate::git::canonical(dir).unwrap_or_else(|| dir.to_owned());
    table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|escaped| bytes_to_path(&unescaped(escaped)))
        .filter_map(|mount| Some(mount.strip_prefix(&dir).ok()?.to_owned()))
        .filter(|path| !path.as_os_str().is_empty())
        .map(|path| Unsavable {
            path,
            why: Why::Mount,
        })
        .collect()
}

/// The kernel writes blanks in names as three octal digits.
fn unescaped(escaped: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = escaped;
    while let [first, tail @ ..] = rest {
        let octal = (*first == b'\\')
            .then(|| tail.get(..3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match octal {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}
