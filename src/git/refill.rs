//! Bringing back what was thinned: plain bytes into plain files, then modes and times, then fresh
//! stat data into the index so that git need not read every file again.

use std::collections::HashSet;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde::{Deserialize, Serialize};

use super::call::bytes_to_path;
use super::digest::checksum;
use super::disk::{device_of, parent, sync_dir, sync_filesystems};
use super::index::Index;
use super::manifest::{Item, Kind, Manifest, Source};
use super::objects::{Wanted, read_blobs};
use super::sight::Stamp;
use super::thin::{Marker, sources, stamp_of};
use super::vault::Vault;
use super::{Checkout, GitError, ParkingPlace, Repo};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RefillReport {
    pub files: u64,
    /// Let go by policy when the worktree was thinned: path and size.
    pub missing: Vec<(PathBuf, u64)>,
}

/// Refills a thinned worktree in its parking place; a whole one is left as it is. Run again after a
/// crash it completes what is missing. The files are not on the disk yet when it returns: waiting
/// for that takes longer than writing them. [`settle_refill`] waits, once the agent runs.
pub(crate) fn refill(repo: &Repo, place: &ParkingPlace) -> Result<RefillReport, GitError> {
    let checkout = place.checkout();
    let Some(marker) = Marker::read(&checkout)? else {
        return Ok(RefillReport::default());
    };
    let vault = Vault::find(repo)?;
    let manifest = Manifest::load(&vault, &marker.commit)?;
    let sources = sources(&vault, &marker.commit, &manifest)?;
    let dir = &place.parked_worktree;
    let fresh = make_directories(dir, &manifest)?;
    let files = write_files(&vault, dir, &manifest, &sources, &fresh)?;
    link_names(dir, &manifest)?;
    finish_directories(dir, &manifest)?;
    let stamps = manifest
        .items
        .iter()
        .map(|item| require_restored(dir, item))
        .collect::<Result<Vec<_>, _>>()?;
    refresh_index(repo, place, &manifest, &stamps)?;
    Ok(RefillReport {
        files,
        missing: manifest
            .items
            .iter()
            .filter(|item| item.kind == Kind::Dropped)
            .map(|item| (bytes_to_path(&item.path), item.size))
            .collect(),
    })
}

/// Whether the power may have gone off between a refill and now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PowerCut {
    Possible,
    /// The process that refilled is still the same: a file that is empty now was emptied by the agent.
    Impossible,
}

/// Waits until refilled files are on the disk, parked or back in place. After a power cut it first
/// writes those that the cut has emptied.
pub(crate) fn settle_refill(
    repo: &Repo,
    checkout: &Checkout,
    cut: PowerCut,
) -> Result<(), GitError> {
    let Some(marker) = Marker::read(checkout)? else {
        return Ok(());
    };
    if cut == PowerCut::Possible {
        write_emptied(repo, checkout, &marker)?;
    }
    sync_filesystems(&[&checkout.dir, &checkout.git_dir])?;
    let path = Marker::path(checkout);
    std::fs::remove_file(&path).map_err(GitError::writing(&path))?;
    sync_dir(&checkout.git_dir)
}

fn write_emptied(repo: &Repo, checkout: &Checkout, marker: &Marker) -> Result<(), GitError> {
    let vault = Vault::find(repo)?;
    let manifest = Manifest::load(&vault, &marker.commit)?;
    let mut emptied = Vec::new();
    for (number, item) in manifest.items.iter().enumerate() {
        let has_content = matches!(item.kind, Kind::File | Kind::Clean) && item.size > 0;
        if has_content && stamp_of(&checkout.dir, item)?.is_some_and(|stamp| stamp.size == 0) {
            emptied.push(number);
        }
    }
    if !emptied.is_empty() {
        let sources = sources(&vault, &marker.commit, &manifest)?;
        let (numbers, wanted): (Vec<usize>, Vec<Wanted>) = emptied
            .into_iter()
            .filter_map(|number| Some((number, sources[number].clone()?)))
            .unzip();
        read_blobs(&vault, &wanted, |position, blob| {
            let item = &manifest.items[numbers[position]];
            let above = parent(&checkout.dir.join(bytes_to_path(&item.path)));
            keeping_time(&above, || write(&checkout.dir, item, required(item, blob)?))
        })?;
    }
    Ok(())
}

/// A name that is put back is no news for its directory.
fn keeping_time(
    directory: &Path,
    act: impl FnOnce() -> Result<(), GitError>,
) -> Result<(), GitError> {
    let failed = |errno: rustix::io::Errno| GitError::writing(directory)(errno.into());
    let before = rustix::fs::stat(directory).map_err(failed)?;
    act()?;
    let time = Timespec {
        tv_sec: before.st_mtime,
        tv_nsec: before.st_mtime_nsec.try_into().unwrap_or(0),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, directory, &times, AtFlags::empty()).map_err(failed)
}

fn required<'a>(item: &Item, blob: Option<&'a [u8]>) -> Result<&'a [u8], GitError> {
    blob.ok_or_else(|| GitError::StoredDiffers {
        path: bytes_to_path(&item.path),
    })
}

/// Makes every directory; gives those that were not there, whose content cannot be there either.
fn make_directories<'a>(dir: &Path, manifest: &'a Manifest) -> Result<HashSet<&'a [u8]>, GitError> {
    let mut fresh = HashSet::new();
    for item in &manifest.items {
        if item.kind != Kind::Directory {
            continue;
        }
        let path = dir.join(bytes_to_path(&item.path));
        match std::fs::create_dir(&path) {
            Ok(()) => {
                fresh.insert(item.path.as_slice());
            }
            Err(_) if path.is_dir() => {}
            Err(error) => return Err(GitError::writing(&path)(error)),
        }
        // Whatever its own mode is: files have to be put into it first.
        if item.mode & 0o700 != 0o700 {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700))
                .map_err(GitError::writing(&path))?;
        }
    }
    Ok(fresh)
}

/// Writes every file and symlink that is not there yet. More threads than cores: each waits for
/// git part of the time.
fn write_files(
    vault: &Vault,
    dir: &Path,
    manifest: &Manifest,
    sources: &[Option<Wanted>],
    fresh: &HashSet<&[u8]>,
) -> Result<u64, GitError> {
    let mut missing: Vec<(&Item, Wanted)> = Vec::new();
    for (item, source) in manifest.items.iter().zip(sources) {
        let Some(source) = source else { continue };
        let cut = item
            .path
            .iter()
            .rposition(|byte| *byte == b'/')
            .unwrap_or(0);
        if fresh.contains(&item.path[..cut]) || !is_there(dir, item)? {
            missing.push((item, source.clone()));
        }
    }
    let threads = std::thread::available_parallelism()
        .map_or(2, usize::from)
        .min(8)
        + 1;
    let parts: Vec<_> = missing
        .chunks(missing.len().div_ceil(threads * 2).max(200))
        .collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), GitError> {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let wanted: Vec<Wanted> = part.iter().map(|(_, source)| source.clone()).collect();
            read_blobs(vault, &wanted, |number, blob| {
                let item = part[number].0;
                write(dir, item, required(item, blob)?)
            })?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(parts.len()))
            .map(|_| scope.spawn(work))
            .collect();
        for worker in workers {
            worker.join().unwrap_or_else(|_| {
                Err(GitError::Unexpected {
                    call: "refill".to_owned(),
                    answer: "a thread ended early".to_owned(),
                })
            })?;
        }
        Ok(missing.len() as u64)
    })
}

/// Whether the file was never deleted, or is back already, whole.
fn is_there(dir: &Path, item: &Item) -> Result<bool, GitError> {
    Ok(stamp_of(dir, item)?.is_some_and(|stamp| {
        stamp.inode == item.inode
            || (stamp.mode == item.mode && stamp.size == item.size && stamp.mtime == item.mtime)
    }))
}

fn write(dir: &Path, item: &Item, blob: &[u8]) -> Result<(), GitError> {
    let path = dir.join(bytes_to_path(&item.path));
    let failed = |error| GitError::writing(&path)(error);
    let make = || {
        if item.kind == Kind::Symlink {
            std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(blob), &path).map(|()| None)
        } else {
            std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
                .map(Some)
        }
    };
    let made = match make() {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // Our own unfinished attempt, or one that a power cut emptied.
            std::fs::remove_file(&path).map_err(failed)?;
            make()
        }
        made => made,
    };
    let Some(mut file) = made.map_err(failed)? else {
        return set_time(&path, item);
    };
    file.write_all(blob).map_err(failed)?;
    let mode = rustix::fs::Mode::from_raw_mode(item.mode & 0o7777);
    rustix::fs::fchmod(&file, mode).map_err(|errno| failed(errno.into()))?;
    // Last: only a file with its time is complete.
    rustix::fs::futimens(&file, &times(item)).map_err(|errno| failed(errno.into()))
}

fn times(item: &Item) -> Timestamps {
    let time = Timespec {
        tv_sec: item.mtime.0,
        tv_nsec: item.mtime.1.into(),
    };
    Timestamps {
        last_access: time,
        last_modification: time,
    }
}

fn set_time(path: &Path, item: &Item) -> Result<(), GitError> {
    utimensat(CWD, path, &times(item), AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|errno| GitError::writing(path)(errno.into()))
}

/// Further names of files that had several.
fn link_names(dir: &Path, manifest: &Manifest) -> Result<(), GitError> {
    for item in &manifest.items {
        if let Source::SameAs(first) = item.source
            && let Some(first) = manifest.items.get(first)
        {
            let path = dir.join(bytes_to_path(&item.path));
            let original = dir.join(bytes_to_path(&first.path));
            let inode = |path: &Path| {
                std::fs::symlink_metadata(path)
                    .map(|found| found.ino())
                    .ok()
            };
            if inode(&path).is_some() && inode(&path) == inode(&original) {
                continue;
            }
            if inode(&path).is_some() {
                std::fs::remove_file(&path).map_err(GitError::writing(&path))?;
            }
            std::fs::hard_link(&original, &path).map_err(GitError::writing(&path))?;
        }
    }
    Ok(())
}

/// Modes and times of directories, from the inside out.
fn finish_directories(dir: &Path, manifest: &Manifest) -> Result<(), GitError> {
    for item in manifest.items.iter().rev() {
        if item.kind == Kind::Directory {
            let path = dir.join(bytes_to_path(&item.path));
            set_time(&path, item)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(item.mode & 0o7777))
                .map_err(GitError::writing(&path))?;
        }
    }
    Ok(())
}

/// The stamp of a restored path; an error if it is not what was stored.
fn require_restored(dir: &Path, item: &Item) -> Result<Option<Stamp>, GitError> {
    match item.kind {
        Kind::File | Kind::Clean | Kind::Symlink | Kind::Directory => {}
        _ => return Ok(None),
    }
    let stamp = stamp_of(dir, item)?.filter(|stamp| {
        stamp.mode == item.mode
            && stamp.mtime == item.mtime
            && (stamp.size == item.size || item.kind == Kind::Directory)
    });
    match stamp {
        Some(stamp) => Ok(Some(stamp)),
        None => Err(GitError::StoredDiffers {
            path: bytes_to_path(&item.path),
        }),
    }
}

/// Writes the stat data of the new files over that of the old ones, for entries that git knew to be
/// unchanged; nothing else in the index is touched. A split index keeps its old data: git reads
/// the files once.
fn refresh_index(
    repo: &Repo,
    place: &ParkingPlace,
    manifest: &Manifest,
    stamps: &[Option<Stamp>],
) -> Result<(), GitError> {
    let checkout = place.checkout();
    let path = checkout.index_path();
    let Some(index) = Index::read_plain(repo, &checkout)? else {
        return Ok(());
    };
    let mut bytes = std::fs::read(&path).map_err(GitError::reading(&path))?;
    let device = device_of(&checkout.dir)? as u32;
    for (item, stamp) in manifest.items.iter().zip(stamps) {
        let (Kind::Clean, Some(stamp)) = (item.kind, stamp) else {
            continue;
        };
        let Some(entry) = index.find(&item.path) else {
            continue;
        };
        let fields = [
            (0, stamp.ctime.0 as u32),
            (4, stamp.ctime.1),
            (8, stamp.mtime.0 as u32),
            (12, entry.stat.mtime.1),
            (16, device),
            (20, stamp.inode as u32),
            // The mode, at 24, is git's own.
            (28, stamp.uid),
            (32, stamp.gid),
            (36, stamp.size as u32),
        ];
        for (at, value) in fields {
            if let Some(field) = bytes.get_mut(entry.offset + at..entry.offset + at + 4) {
                field.copy_from_slice(&value.to_be_bytes());
            }
        }
    }
    let hash = repo.id_length() / 2;
    let body = bytes.len().saturating_sub(hash);
    // `index.skipHash` leaves zeros there; then zeros it stays.
    if bytes[body..].iter().any(|byte| *byte != 0) {
        let sum = checksum(&bytes[..body], hash);
        bytes.truncate(body);
        bytes.extend_from_slice(&sum);
    }
    let fresh = checkout.git_dir.join("bivouac-index");
    std::fs::write(&fresh, &bytes).map_err(GitError::writing(&fresh))?;
    let mode = std::fs::metadata(&path)
        .map_err(GitError::reading(&path))?
        .permissions();
    std::fs::set_permissions(&fresh, mode).map_err(GitError::writing(&fresh))?;
    std::fs::rename(&fresh, &path).map_err(GitError::writing(&path))
}
