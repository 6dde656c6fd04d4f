//! Bringing back what was thinned: plain bytes into plain files, then modes and times, then fresh
//! stat data into the index so that git need not read every file again.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde::{Deserialize, Serialize};

use super::call::bytes_to_path;
use super::digest::index_checksum;
use super::disk::{sync_dir, sync_filesystems};
use super::index::Index;
use super::manifest::{Item, Kind, Manifest, Source};
use super::objects::{Wanted, read_blobs};
use super::thin::{marker, sources, stamp_of, thinned_from};
use super::{GitError, ParkingPlace, Repo};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RefillReport {
    pub files: u64,
    /// Let go by policy when the worktree was thinned: path and size.
    pub missing: Vec<(PathBuf, u64)>,
}

/// Refills a thinned worktree in its parking place; a whole one is left as it is. Run again after a
/// crash it completes what is missing.
pub(crate) fn refill(repo: &Repo, place: &ParkingPlace) -> Result<RefillReport, GitError> {
    let Some(commit) = thinned_from(place)? else {
        return Ok(RefillReport::default());
    };
    let manifest = Manifest::load(repo, &commit)?;
    let sources = sources(repo, &commit, &manifest)?;
    let dir = &place.parked_worktree;
    make_directories(dir, &manifest)?;
    let files = write_files(repo, dir, &manifest, &sources)?;
    link_names(dir, &manifest)?;
    finish_directories(dir, &manifest)?;
    for item in &manifest.items {
        require_restored(dir, item)?;
    }
    refresh_index(repo, place, &manifest)?;
    // Without it a power cut would leave empty files where the parked ones were.
    sync_filesystems(&[dir, &place.parked_admin])?;
    let path = marker(place);
    std::fs::remove_file(&path).map_err(GitError::writing(&path))?;
    sync_dir(&place.parked_admin)?;
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

fn make_directories(dir: &Path, manifest: &Manifest) -> Result<(), GitError> {
    for item in manifest
        .items
        .iter()
        .filter(|item| item.kind == Kind::Directory)
    {
        let path = dir.join(bytes_to_path(&item.path));
        match std::fs::create_dir(&path) {
            Ok(()) => {}
            Err(_) if path.is_dir() => {}
            Err(error) => return Err(GitError::writing(&path)(error)),
        }
        // Whatever its own mode is: files have to be put into it first.
        if item.mode & 0o700 != 0o700 {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700))
                .map_err(GitError::writing(&path))?;
        }
    }
    Ok(())
}

/// Writes every file and symlink that is not there yet, in as many threads as there are cores.
fn write_files(
    repo: &Repo,
    dir: &Path,
    manifest: &Manifest,
    sources: &[Option<Wanted>],
) -> Result<u64, GitError> {
    let mut missing: Vec<(&Item, Wanted)> = Vec::new();
    for (item, source) in manifest.items.iter().zip(sources) {
        if let Some(source) = source
            && !is_there(dir, item)?
        {
            missing.push((item, source.clone()));
        }
    }
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(8);
    let share = missing.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = missing
            .chunks(share)
            .map(|part| {
                scope.spawn(move || {
                    let wanted: Vec<Wanted> =
                        part.iter().map(|(_, source)| source.clone()).collect();
                    read_blobs(repo, &wanted, |number, blob| {
                        let item = part[number].0;
                        let blob = blob.ok_or_else(|| GitError::StoredDiffers {
                            path: bytes_to_path(&item.path),
                        })?;
                        write(dir, item, blob)
                    })
                })
            })
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
    // What is there is our own unfinished attempt.
    match std::fs::remove_file(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    if item.kind == Kind::Symlink {
        std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(blob), &path).map_err(failed)?;
        return set_time(&path, item);
    }
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
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

fn require_restored(dir: &Path, item: &Item) -> Result<(), GitError> {
    let restored = match item.kind {
        Kind::File | Kind::Clean | Kind::Symlink | Kind::Directory => stamp_of(dir, item)?
            .is_some_and(|stamp| {
                stamp.mode == item.mode
                    && stamp.mtime == item.mtime
                    && (stamp.size == item.size || item.kind == Kind::Directory)
            }),
        _ => true,
    };
    if restored {
        Ok(())
    } else {
        Err(GitError::StoredDiffers {
            path: bytes_to_path(&item.path),
        })
    }
}

/// Writes the stat data of the new files over that of the old ones, for entries that git knew to be
/// unchanged; nothing else in the index is touched. A split index keeps its old data: git reads
/// the files once.
fn refresh_index(repo: &Repo, place: &ParkingPlace, manifest: &Manifest) -> Result<(), GitError> {
    let checkout = place.checkout();
    let path = checkout.index_path();
    let Some(index) = Index::read_plain(repo, &checkout)? else {
        return Ok(());
    };
    let mut bytes = std::fs::read(&path).map_err(GitError::reading(&path))?;
    for item in manifest
        .items
        .iter()
        .filter(|item| item.kind == Kind::Clean)
    {
        let Some(entry) = index.find(&item.path) else {
            continue;
        };
        let file = checkout.dir.join(bytes_to_path(&item.path));
        let found = std::fs::symlink_metadata(&file).map_err(GitError::reading(&file))?;
        let fields = [
            (0, found.ctime() as u32),
            (4, found.ctime_nsec() as u32),
            (8, found.mtime() as u32),
            (12, entry.stat.mtime.1),
            (16, found.dev() as u32),
            (20, found.ino() as u32),
            // The mode, at 24, is git's own.
            (28, found.uid()),
            (32, found.gid()),
            (36, found.size() as u32),
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
        let sum = index_checksum(&bytes[..body], hash);
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
