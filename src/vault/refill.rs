//! Bringing back what was thinned: plain bytes into plain files, then modes and times, then fresh
//! stat data into the index so that git need not read every file again.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde::{Deserialize, Serialize};

use super::ParkingPlace;
use super::delete::{FileMatch, compare};
use super::manifest::{Item, Kind, Manifest, Source, above, stamp_of};
use super::objects::{Blob, Wanted, read_blobs};
use super::repository::Vault;
use super::restat::refresh_index;
use super::settle::mend_power_cut;
use super::stamp::Stamp;
use super::thinned::{Marker, Phase};
use crate::git::call::bytes_to_path;
use crate::git::disk::sync_names;
use crate::git::{GitError, Repo};
use crate::process::crash;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RefillReport {
    pub files: u64,
    /// Let go by policy when the worktree was thinned: path and size.
    pub missing: Vec<(PathBuf, u64)>,
    /// Something else was there, and was left as it is.
    pub changed: Vec<PathBuf>,
}

/// Refills a thinned worktree in its parking place; a whole one is left as it is. Run again after a
/// crash it completes what is missing. It writes where nothing is, or where its own unfinished work is,
/// and nowhere else. The bytes are not on the disk yet when it returns: waiting for that takes longer
/// than writing them. [`super::settle_refill`] waits, once the agent runs.
pub(crate) fn refill(repo: &Repo, place: &ParkingPlace) -> Result<RefillReport, GitError> {
    let checkout = place.checkout();
    let Some(marker) = Marker::read(&checkout)? else {
        return Ok(RefillReport::default());
    };
    if let Phase::Refilled { .. } = marker.phase {
        // The user may have worked there since.
        mend_power_cut(repo, &checkout, &marker)?;
        return Ok(RefillReport::default());
    }
    let dir = &place.parked_worktree;
    if !std::fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir()) {
        return Err(GitError::WorktreeLost {
            place: place.worktree.clone(),
            parked: dir.clone(),
        });
    }
    let marker = match marker.phase {
        Phase::Refilling { .. } => marker,
        _ => marker.enter(&checkout, Phase::refilling())?,
    };
    let vault = Vault::find(repo)?;
    let manifest = Manifest::load(&vault, &marker.commit)?;
    let sources = manifest.sources(&vault, &marker.commit)?;
    let fresh = make_directories(dir, &manifest)?;
    let trust = if marker.phase.power_cut_possible() {
        Stamps::Doubtful
    } else {
        Stamps::Reliable
    };
    let (files, mut changed) = write_files(&vault, dir, &manifest, &sources, &fresh, trust)?;
    link_names(&vault, dir, &manifest, &sources, &mut changed)?;
    finish_directories(dir, &manifest, &mut changed)?;
    let stamps = manifest
        .items
        .iter()
        .map(|item| {
            if changed.contains(&item.path) {
                Ok(None)
            } else {
                require_restored(dir, item)
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    refresh_index(repo, &checkout, &manifest, &stamps)?;
    crash::effect();
    // The directory's own time was set last.
    sync_names(dir)?;
    marker.enter(&checkout, Phase::refilled())?;
    Ok(RefillReport {
        files,
        missing: manifest
            .items
            .iter()
            .filter(|item| {
                item.kind == Kind::Dropped && stamp_of(dir, item).is_ok_and(|s| s.is_none())
            })
            .map(|item| (bytes_to_path(&item.path), item.size))
            .collect(),
        changed: manifest
            .items
            .iter()
            .filter(|item| changed.contains(&item.path))
            .map(|item| bytes_to_path(&item.path))
            .collect(),
    })
}

/// Writes everything that the manifest lists into a directory in which nothing of it is yet; gives the
/// stamp of each. An error if anything is not what was stored.
pub(super) fn fill(
    vault: &Vault,
    dir: &Path,
    manifest: &Manifest,
    sources: &[Option<Wanted>],
) -> Result<Vec<Option<Stamp>>, GitError> {
    let fresh = make_directories(dir, manifest)?;
    let (_, mut changed) = write_files(vault, dir, manifest, sources, &fresh, Stamps::Reliable)?;
    link_names(vault, dir, manifest, sources, &mut changed)?;
    finish_directories(dir, manifest, &mut changed)?;
    if let Some(path) = changed.iter().next() {
        return Err(GitError::PathTaken {
            path: dir.join(bytes_to_path(path)),
        });
    }
    manifest
        .items
        .iter()
        .map(|item| require_restored(dir, item))
        .collect()
}

/// Whether a file that looks finished is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stamps {
    Reliable,
    /// The power may have gone off before its bytes were on the disk.
    Doubtful,
}

fn required<'a>(item: &Item, blob: Option<Blob<'a>>) -> Result<Blob<'a>, GitError> {
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
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                // A link to a directory is no directory: what is written through it lands elsewhere.
                if !std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                    return Err(GitError::PathTaken { path });
                }
            }
            Err(error) => return Err(GitError::writing(&path)(error)),
        }
        // Files have to be written into it before it gets its own mode. A failure does not matter:
        // from a directory that we cannot change nothing was deleted.
        if item.mode & 0o700 != 0o700 {
            drop(std::fs::set_permissions(
                &path,
                std::fs::Permissions::from_mode(0o700),
            ));
        }
        crash::effect();
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
    trust: Stamps,
) -> Result<(u64, HashSet<Vec<u8>>), GitError> {
    let mut missing: Vec<(&Item, Wanted)> = Vec::new();
    for (item, source) in manifest.items.iter().zip(sources) {
        let Some(source) = source else { continue };
        if fresh.contains(above(item)) || trust == Stamps::Doubtful || !is_there(dir, item)? {
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
    let changed = Mutex::new(HashSet::new());
    let work = || -> Result<(), GitError> {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let wanted: Vec<Wanted> = part.iter().map(|(_, source)| source.clone()).collect();
            read_blobs(vault, &wanted, |number, blob| {
                let item = part[number].0;
                if write(dir, item, &required(item, blob)?)? == Written::LeftAlone
                    && let Ok(mut changed) = changed.lock()
                {
                    changed.insert(item.path.clone());
                }
                Ok(())
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
        Ok::<(), GitError>(())
    })?;
    let changed = changed.into_inner().unwrap_or_default();
    Ok((missing.len() as u64 - changed.len() as u64, changed))
}

/// Whether the file was never deleted, or is back already, whole. Its time was set last but for its
/// mode. An inode number proves nothing: filesystems give it to the next file.
fn is_there(dir: &Path, item: &Item) -> Result<bool, GitError> {
    Ok(stamp_of(dir, item)?.is_some_and(|stamp| {
        stamp.mode == item.mode && stamp.size == item.size && stamp.mtime == item.mtime
    }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Done,
    /// Something is there that is not ours.
    LeftAlone,
}

fn write(dir: &Path, item: &Item, blob: &Blob<'_>) -> Result<Written, GitError> {
    let path = dir.join(bytes_to_path(&item.path));
    let failed = |error| GitError::writing(&path)(error);
    let make = || {
        if item.kind == Kind::Symlink {
            let target = blob.bytes().unwrap_or_default();
            std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), &path).map(|()| None)
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
            match compare(dir, item, blob) {
                FileMatch::Whole => return Ok(Written::Done),
                FileMatch::Part => {}
                FileMatch::Other if is_torn(dir, item)? => {}
                FileMatch::Other => return Ok(Written::LeftAlone),
                FileMatch::Nothing => {}
            }
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(failed(error));
                }
                Ok(()) | Err(_) => make(),
            }
        }
        made => made,
    };
    let Some(mut file) = made.map_err(failed)? else {
        crash::effect();
        set_time(&path, item)?;
        return Ok(Written::Done);
    };
    crash::effect();
    blob.write_to(&mut file).map_err(failed)?;
    crash::effect();
    rustix::fs::futimens(&file, &times(item)).map_err(|errno| failed(errno.into()))?;
    // The mode comes last: until then the owner can read the file, even after a crash.
    let mode = rustix::fs::Mode::from_raw_mode(item.mode & 0o7777);
    rustix::fs::fchmod(&file, mode).map_err(|errno| failed(errno.into()))?;
    Ok(Written::Done)
}

/// Whether a power cut has left something else in a file than we wrote. The file's time shows that
/// we wrote it.
fn is_torn(dir: &Path, item: &Item) -> Result<bool, GitError> {
    Ok(stamp_of(dir, item)?.is_some_and(|stamp| {
        stamp.is_file() && stamp.mtime == item.mtime && stamp.size <= item.size
    }))
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

/// Further names of files that had several. If something else is at the first name, each of
/// the others gets a file of its own.
fn link_names(
    vault: &Vault,
    dir: &Path,
    manifest: &Manifest,
    sources: &[Option<Wanted>],
    changed: &mut HashSet<Vec<u8>>,
) -> Result<(), GitError> {
    for item in &manifest.items {
        let Source::SameAs(first) = item.source else {
            continue;
        };
        let (Some(source), Some(first)) = (sources.get(first), manifest.items.get(first)) else {
            continue;
        };
        if changed.contains(&first.path) {
            let wanted: Vec<Wanted> = source.iter().cloned().collect();
            read_blobs(vault, &wanted, |_, blob| {
                if write(dir, item, &required(item, blob)?)? == Written::LeftAlone {
                    changed.insert(item.path.clone());
                }
                Ok(())
            })?;
            continue;
        }
        let path = dir.join(bytes_to_path(&item.path));
        let original = dir.join(bytes_to_path(&first.path));
        match std::fs::hard_link(&original, &path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let (found, wanted) = (stamp_of(dir, item)?, stamp_of(dir, first)?);
                if found.map(|stamp| stamp.inode) != wanted.map(|stamp| stamp.inode) {
                    changed.insert(item.path.clone());
                }
            }
            Err(error) => return Err(GitError::writing(&path)(error)),
        }
        crash::effect();
    }
    Ok(())
}

/// Modes and times of directories, from the inside out. Those of directories that are not ours stay.
fn finish_directories(
    dir: &Path,
    manifest: &Manifest,
    changed: &mut HashSet<Vec<u8>>,
) -> Result<(), GitError> {
    for item in manifest.items.iter().rev() {
        if item.kind == Kind::Directory {
            let path = dir.join(bytes_to_path(&item.path));
            let mode = std::fs::Permissions::from_mode(item.mode & 0o7777);
            let done = utimensat(CWD, &path, &times(item), AtFlags::SYMLINK_NOFOLLOW)
                .map_err(std::io::Error::from)
                .and_then(|()| std::fs::set_permissions(&path, mode));
            match done {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    if require_restored(dir, item).is_err() {
                        changed.insert(item.path.clone());
                    }
                }
                Err(error) => return Err(GitError::writing(&path)(error)),
            }
            crash::effect();
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
