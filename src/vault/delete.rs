//! Deleting the files of a parked worktree once they are stored. Only what is proved to be stored
//! goes; what cannot go is named.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ParkingPlace;
use super::manifest::{Item, Kind, Manifest, Source, above, stamp_of};
use super::objects::{Blob, Share, Wanted, read_blobs};
use super::remove::{Left, remove_tree};
use super::repository::Vault;
use super::stamp::Stamp;
use crate::git::GitError;
use crate::git::call::bytes_to_path;
use crate::git::disk::sync_dir;
use crate::process::crash;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ThinReport {
    /// Deleted without a copy, by policy: path and size.
    pub dropped: Vec<(PathBuf, u64)>,
    /// Kept on disk on purpose.
    pub kept: Vec<PathBuf>,
    /// To be tried again.
    pub left: Vec<Left>,
    pub freed_bytes: u64,
    pub stored_files: u64,
}

/// Whether a file may be one that a refill has begun to write and not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unfinished {
    Possible,
    Impossible,
}

/// Deletes each file that git has just given back byte for byte, then what the policy lets go,
/// then directories that became empty.
pub(super) fn delete(
    vault: &Vault,
    place: &ParkingPlace,
    commit: &str,
    manifest: &Manifest,
    unfinished: Unfinished,
) -> Result<ThinReport, GitError> {
    let dir = &place.parked_worktree;
    let mut report = ThinReport::default();
    let sources = manifest.sources(vault, commit)?;
    make_writable(dir, manifest);
    // Files that are still here; the rest went in an earlier, cut-off run.
    let mut present: Vec<usize> = Vec::new();
    let mut wanted: Vec<Wanted> = Vec::new();
    let replaced = replaced_directories(dir, manifest);
    for (number, item) in manifest.items.iter().enumerate() {
        if let Some(source) = &sources[number] {
            if replaced.contains(above(item)) {
                continue;
            }
            match stamp_of(dir, item) {
                Ok(None) => {}
                Ok(Some(_)) => {
                    present.push(number);
                    wanted.push(source.clone());
                }
                Err(error) => report.leave(item, reason(&error)),
            }
        }
    }
    delete_further_names(dir, manifest, &replaced, &mut report);
    read_blobs(vault, &wanted, |position, blob| {
        let item = &manifest.items[present[position]];
        match blob.map(|blob| compare(dir, item, &blob)) {
            Some(FileMatch::Whole) => {}
            Some(FileMatch::Part) if unfinished == Unfinished::Possible => {}
            Some(FileMatch::Nothing) => return Ok(()),
            Some(FileMatch::Part | FileMatch::Other) => {
                report.leave(item, "changed since it was stored".to_owned());
                return Ok(());
            }
            None => {
                report.leave(item, "not found where it was stored".to_owned());
                return Ok(());
            }
        }
        if report.remove(dir, item) {
            report.freed_bytes += item.size;
            report.stored_files += 1;
        }
        Ok(())
    })?;
    for path in &replaced {
        let left = Left::new(&bytes_to_path(path), "something else is there now");
        report.left.push(left);
    }
    let mut kept: HashSet<&[u8]> = HashSet::new();
    for item in &manifest.items {
        match item.kind {
            Kind::Dropped if replaced.contains(above(item)) => {}
            Kind::Dropped => {
                let path = bytes_to_path(&item.path);
                let before = report.left.len();
                let there = !matches!(stamp_of(dir, item), Ok(None));
                remove_tree(dir, &path, &mut report.left);
                if there && report.left.len() == before {
                    report.freed_bytes += item.size;
                }
                report.dropped.push((path, item.size));
                crash::effect();
            }
            Kind::Kept => {
                kept.insert(&item.path);
                if item.path != b".git" {
                    report.kept.push(bytes_to_path(&item.path));
                }
            }
            _ => {}
        }
    }
    for item in manifest.items.iter().rev() {
        if item.kind == Kind::Directory && !kept.contains(item.path.as_slice()) {
            // Fails, as it should, if something in it stays.
            drop(std::fs::remove_dir(dir.join(bytes_to_path(&item.path))));
            crash::effect();
        }
    }
    sync_dir(dir)?;
    Ok(report)
}

/// Further names of a file go while its first name is still there to prove them.
fn delete_further_names(
    dir: &Path,
    manifest: &Manifest,
    replaced: &HashSet<&[u8]>,
    report: &mut ThinReport,
) {
    for item in &manifest.items {
        let Source::SameAs(first) = item.source else {
            continue;
        };
        if replaced.contains(above(item)) {
            continue;
        }
        let stamp = match stamp_of(dir, item) {
            Ok(None) => continue,
            Ok(Some(stamp)) => stamp,
            Err(error) => {
                report.leave(item, reason(&error));
                continue;
            }
        };
        let original = manifest.items.get(first);
        let same = original
            .and_then(|original| stamp_of(dir, original).ok().flatten())
            .is_some_and(|original| original.inode == stamp.inode);
        if same {
            report.remove(dir, item);
        } else {
            report.leave(item, "changed since it was stored".to_owned());
        }
    }
}

impl ThinReport {
    fn leave(&mut self, item: &Item, why: String) {
        self.left.push(Left::new(&bytes_to_path(&item.path), why));
    }

    /// Whether it is gone.
    fn remove(&mut self, dir: &Path, item: &Item) -> bool {
        let path = dir.join(bytes_to_path(&item.path));
        let removed = std::fs::remove_file(&path);
        crash::effect();
        match removed {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
            Err(error) => {
                self.leave(item, error.kind().to_string());
                false
            }
        }
    }
}

/// Directories in whose place something else is now, a link perhaps: what they held is not there.
pub(super) fn replaced_directories<'a>(dir: &Path, manifest: &'a Manifest) -> HashSet<&'a [u8]> {
    let mut replaced: HashSet<&[u8]> = HashSet::new();
    for item in &manifest.items {
        if item.kind == Kind::Directory {
            let is_directory = |stamp: Option<Stamp>| stamp.is_none_or(|stamp| stamp.is_dir());
            let there = stamp_of(dir, item).is_ok_and(is_directory);
            if !there || replaced.contains(above(item)) {
                replaced.insert(&item.path);
            }
        }
    }
    replaced
}

/// Why something is left, without the path, which is named beside it.
fn reason(error: &GitError) -> String {
    match error {
        GitError::Unreadable { source, .. } | GitError::Unwritable { source, .. } => {
            source.kind().to_string()
        }
        other => other.to_string(),
    }
}

/// How the file on disk compares with an item and its blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileMatch {
    /// All that can be restored: bytes, type, mode and time.
    Whole,
    /// No byte that the blob does not have: an unfinished file of ours, or one that loses nothing when
    /// it is written again.
    Part,
    /// Something else.
    Other,
    /// Nothing.
    Nothing,
}

pub(super) fn compare(dir: &Path, item: &Item, blob: &Blob<'_>) -> FileMatch {
    use std::os::unix::ffi::OsStrExt;
    let path = dir.join(bytes_to_path(&item.path));
    let stamp = match stamp_of(dir, item) {
        Ok(Some(stamp)) => stamp,
        Ok(None) => return FileMatch::Nothing,
        Err(_) => return FileMatch::Other,
    };
    let (equal, part) = if item.kind == Kind::Symlink {
        let equal = stamp.is_symlink()
            && std::fs::read_link(&path)
                .is_ok_and(|target| Some(target.as_os_str().as_bytes()) == blob.bytes());
        (equal, equal)
    } else if stamp.is_file() && stamp.size <= blob.size() {
        match blob.compare(&path) {
            Ok(Share::All) => (true, true),
            Ok(Share::Beginning) => (false, true),
            Ok(Share::Other) | Err(_) => (false, false),
        }
    } else {
        (false, false)
    };
    // A file that has the time of the stored one was written by us, or never deleted.
    let stamped = stamp.mtime == item.mtime;
    if equal && stamped && stamp.mode == item.mode {
        FileMatch::Whole
    } else if part {
        FileMatch::Part
    } else {
        FileMatch::Other
    }
}

/// Makes directories writable, because names can only be removed from those; the refill restores
/// their modes. Where that is not allowed, the names stay and are reported.
fn make_writable(dir: &Path, manifest: &Manifest) {
    use std::os::unix::fs::PermissionsExt;
    for item in &manifest.items {
        if item.kind == Kind::Directory && item.mode & 0o700 != 0o700 {
            let path = dir.join(bytes_to_path(&item.path));
            let is_directory = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            if is_directory {
                let mode = std::fs::Permissions::from_mode(item.mode & 0o7777 | 0o700);
                drop(std::fs::set_permissions(&path, mode));
            }
        }
    }
}
