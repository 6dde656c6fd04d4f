//! Freeing the disk of a parked worktree. Everything that git cannot reproduce is stored as objects
//! under a second ref, each file is compared with what git gives back for it, and only then it is
//! deleted. Refilling writes plain bytes: no filter, no checkout, so nothing can come out different.
//!
//! A file whose bytes equal the blob that the index names needs no copy. Git's record of the
//! worktree (index, operation in progress, repositories of submodules) stays on disk as it is, and
//! so does what no object can hold: special files, access lists, mounts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::call::{SLOW, bytes_to_path, fields};
use super::closure::complete;
use super::disk::{sync_dir, sync_filesystem, sync_filesystems};
use super::import::{Commit, Content, Edit, Import, Object};
use super::inventory::{forget_differing, inventory};
use super::manifest::{Item, Kind, Manifest, Source, raw_number, raw_path};
use super::objects::{Wanted, read_blobs};
use super::retention::thinned_name;
use super::sight::Stamp;
use super::snapshot::SnapshotFact;
use super::survey::Found;
use super::vault::Vault;
use super::{Checkout, GitError, ParkingPlace, Repo};
use crate::model::Timestamp;

/// What may be let go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ThinPolicy {
    /// An ignored file or directory above this size is deleted without a copy, unless a repository
    /// is in it; one below is stored.
    pub ignored_limit_bytes: u64,
    /// Nested repositories and submodules above this size stay on disk.
    pub nested_limit_bytes: u64,
}

impl Default for ThinPolicy {
    fn default() -> Self {
        Self {
            ignored_limit_bytes: 16 << 20,
            nested_limit_bytes: 256 << 20,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ThinReport {
    /// Deleted without a copy, by policy: path and size.
    pub dropped: Vec<(PathBuf, u64)>,
    /// Still on disk.
    pub kept: Vec<PathBuf>,
    pub freed_bytes: u64,
    pub stored_files: u64,
}

/// Written into the admin directory before the first file is deleted, removed when all of them are
/// back and on the disk: the commit that holds the manifest, and the snapshot that it belongs to.
const MARKER: &str = "bivouac-thinned";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    pub commit: String,
    pub reference: String,
}

impl Marker {
    pub(super) fn path(checkout: &Checkout) -> PathBuf {
        checkout.git_dir.join(MARKER)
    }

    pub(super) fn read(checkout: &Checkout) -> Result<Option<Self>, GitError> {
        let path = Self::path(checkout);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let mut lines = text.lines().map(str::to_owned);
                match (lines.next(), lines.next()) {
                    (Some(commit), Some(reference)) => Ok(Some(Self { commit, reference })),
                    // Cut off while it was written: nothing has been deleted yet.
                    _ => Ok(None),
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(GitError::reading(&path)(error)),
        }
    }

    fn write(&self, checkout: &Checkout) -> Result<(), GitError> {
        let path = Self::path(checkout);
        std::fs::write(&path, format!("{}\n{}\n", self.commit, self.reference))
            .map_err(GitError::writing(&path))?;
        sync_filesystem(&checkout.git_dir)
    }
}

/// Whether files of a parked worktree are kept as objects only.
pub(crate) fn is_thinned(place: &ParkingPlace) -> Result<bool, GitError> {
    Ok(Marker::read(&place.checkout())?.is_some())
}

/// Thins a parked worktree. Run again after a crash it completes what is missing.
pub(crate) fn thin(
    repo: &Repo,
    place: &ParkingPlace,
    fact: &SnapshotFact,
    policy: &ThinPolicy,
    at: Timestamp,
) -> Result<ThinReport, GitError> {
    let checkout = place.checkout();
    let marker = match Marker::read(&checkout)? {
        Some(marker) if marker.reference == fact.reference => marker,
        // One of an earlier pause: all of its files are back.
        Some(_) | None => {
            let marker = Marker {
                commit: store(repo, place, fact, policy, at)?,
                reference: fact.reference.clone(),
            };
            sync_filesystems(&[repo.common_dir(), &place.parked_worktree])?;
            marker.write(&checkout)?;
            marker
        }
    };
    let vault = Vault::find(repo)?;
    let manifest = Manifest::load(&vault, &marker.commit)?;
    let report = delete(&vault, place, &marker.commit, &manifest)?;
    sync_filesystem(&place.parked_worktree)?;
    Ok(report)
}

/// Decides for each path, stores what has to be stored, and gives the commit that names it all.
fn store(
    repo: &Repo,
    place: &ParkingPlace,
    fact: &SnapshotFact,
    policy: &ThinPolicy,
    at: Timestamp,
) -> Result<String, GitError> {
    let checkout = place.checkout();
    let vault = Vault::find(repo)?;
    let _lock = vault.share()?;
    let mut items = inventory(repo, &checkout, policy)?;
    forget_differing(&vault, &checkout.dir, &mut items)?;

    let mut import = Import::new(&checkout.dir, at);
    let mut edits = Vec::new();
    for (item, stamp) in &mut items {
        let content = matches!(item.kind, Kind::File | Kind::Clean | Kind::Symlink);
        if content && item.source == Source::Nowhere {
            let number = import.blob(Content::OnDisk(Found {
                path: item.path.clone(),
                stamp: *stamp,
            }));
            item.source = Source::Raw(number);
            edits.push(Edit::Put {
                mode: 0o100_644,
                path: raw_path(number),
                object: Object::Blob(number),
            });
        }
    }
    let manifest = Manifest {
        items: items.into_iter().map(|(item, _)| item).collect(),
    };
    let number = import.blob(Content::Bytes(manifest.to_bytes()));
    edits.push(Edit::Put {
        mode: 0o100_644,
        path: b"manifest".to_vec(),
        object: Object::Blob(number),
    });
    import.commit(Commit {
        message: format!("bivouac: content of {}", fact.reference),
        from: None,
        // Whoever holds this commit holds the snapshot, and with it all that the index names.
        parents: vec![Object::Id(fact.commit.clone())],
        edits,
    });
    let imported = import.run(&vault, &thinned_name(&fact.reference))?;
    if !imported.unsettled.is_empty() {
        return Err(GitError::Unsettled {
            paths: imported.unsettled,
        });
    }
    let commit =
        imported
            .commits
            .into_iter()
            .next_back()
            .ok_or_else(|| GitError::SnapshotMissing {
                reference: thinned_name(&fact.reference),
            })?;
    // The snapshot has all that it stands on and more.
    complete(&vault, &commit, std::slice::from_ref(&fact.commit))?;
    Ok(commit)
}

/// The blob behind each item that has one.
pub(super) fn sources(
    vault: &Vault,
    commit: &str,
    manifest: &Manifest,
) -> Result<Vec<Option<Wanted>>, GitError> {
    let listing = vault
        .git()
        .args(["ls-tree", "-r", "-z", "--full-tree", commit])
        .deadline(SLOW)
        .run()?;
    let mut raw: HashMap<usize, String> = HashMap::new();
    for line in fields(&listing) {
        // `100644 blob <id>\t<path>`
        let mut halves = line.splitn(2, |byte| *byte == b'\t');
        let id = halves
            .next()
            .and_then(|half| half.rsplit(|byte| *byte == b' ').next());
        if let (Some(id), Some(number)) = (id, halves.next().and_then(raw_number)) {
            raw.insert(number, String::from_utf8_lossy(id).into_owned());
        }
    }
    manifest
        .items
        .iter()
        .map(|item| {
            let id = match &item.source {
                Source::Nowhere | Source::SameAs(_) => return Ok(None),
                Source::Object(id) => id.clone(),
                Source::Raw(number) => {
                    raw.get(number).cloned().ok_or_else(|| GitError::Manifest {
                        reference: commit.to_owned(),
                        problem: format!("blob {number} is missing"),
                    })?
                }
            };
            Ok(Some(Wanted {
                id,
                size: item.size,
            }))
        })
        .collect()
}

/// Deletes each file that git has just given back byte for byte, then what the policy lets go,
/// then directories that became empty.
fn delete(
    vault: &Vault,
    place: &ParkingPlace,
    commit: &str,
    manifest: &Manifest,
) -> Result<ThinReport, GitError> {
    let dir = &place.parked_worktree;
    let mut report = ThinReport::default();
    let sources = sources(vault, commit, manifest)?;
    make_writable(dir, manifest)?;
    // Files that are still here; the rest went in an earlier, cut-off run.
    let mut present: Vec<usize> = Vec::new();
    let mut wanted: Vec<Wanted> = Vec::new();
    for (number, item) in manifest.items.iter().enumerate() {
        if let Some(source) = &sources[number]
            && stamp_of(dir, item)?.is_some()
        {
            present.push(number);
            wanted.push(source.clone());
        }
    }
    // Further names of a file go while its first name is still there to prove them.
    for item in &manifest.items {
        if let Source::SameAs(first) = item.source
            && let Some(stamp) = stamp_of(dir, item)?
        {
            let original = manifest.items.get(first);
            let same = match original {
                Some(original) => stamp_of(dir, original)?.is_some_and(|o| o.inode == stamp.inode),
                None => false,
            };
            if !same {
                return Err(differs(item));
            }
            remove(dir, item)?;
        }
    }
    read_blobs(vault, &wanted, |position, blob| {
        let item = &manifest.items[present[position]];
        if !blob.is_some_and(|blob| holds(dir, item, blob)) {
            return Err(differs(item));
        }
        remove(dir, item)?;
        report.freed_bytes += item.size;
        report.stored_files += 1;
        Ok(())
    })?;
    for item in &manifest.items {
        let path = dir.join(bytes_to_path(&item.path));
        match item.kind {
            Kind::Dropped => {
                if stamp_of(dir, item)?.is_some() {
                    discard(&path)?;
                    report.freed_bytes += item.size;
                }
                report.dropped.push((bytes_to_path(&item.path), item.size));
            }
            Kind::Kept if item.path != b".git" => report.kept.push(bytes_to_path(&item.path)),
            _ => {}
        }
    }
    for item in manifest.items.iter().rev() {
        if item.kind == Kind::Directory {
            // Not empty: something in it stays.
            drop(std::fs::remove_dir(dir.join(bytes_to_path(&item.path))));
        }
    }
    sync_dir(dir)?;
    Ok(report)
}

fn differs(item: &Item) -> GitError {
    GitError::StoredDiffers {
        path: bytes_to_path(&item.path),
    }
}

pub(super) fn stamp_of(dir: &Path, item: &Item) -> Result<Option<Stamp>, GitError> {
    let path = dir.join(bytes_to_path(&item.path));
    match rustix::fs::lstat(&path) {
        Ok(stat) => Ok(Some(Stamp::of(&stat))),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(GitError::reading(&path)(errno.into())),
    }
}

/// Whether the file on disk is what the item and its blob say, in all that can be restored.
fn holds(dir: &Path, item: &Item, blob: &[u8]) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let path = dir.join(bytes_to_path(&item.path));
    let Ok(Some(stamp)) = stamp_of(dir, item) else {
        return false;
    };
    let bytes_hold = if item.kind == Kind::Symlink {
        stamp.is_symlink()
            && std::fs::read_link(&path).is_ok_and(|target| target.as_os_str().as_bytes() == blob)
    } else {
        stamp.is_file() && std::fs::read(&path).is_ok_and(|bytes| bytes == blob)
    };
    bytes_hold && stamp.mode == item.mode && stamp.mtime == item.mtime
}

fn remove(dir: &Path, item: &Item) -> Result<(), GitError> {
    let path = dir.join(bytes_to_path(&item.path));
    std::fs::remove_file(&path).map_err(GitError::writing(&path))
}

/// Removes what the policy lets go. Never follows a symlink (`remove_dir_all` does not).
fn discard(path: &Path) -> Result<(), GitError> {
    let found = std::fs::symlink_metadata(path).map_err(GitError::reading(path))?;
    let result = if found.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    result.map_err(GitError::writing(path))
}

/// Names can only be removed from directories that we may write; their modes come back with the
/// refill.
fn make_writable(dir: &Path, manifest: &Manifest) -> Result<(), GitError> {
    use std::os::unix::fs::PermissionsExt;
    for item in &manifest.items {
        if item.kind == Kind::Directory && item.mode & 0o700 != 0o700 {
            let path = dir.join(bytes_to_path(&item.path));
            let mode = std::fs::Permissions::from_mode(item.mode & 0o7777 | 0o700);
            match std::fs::set_permissions(&path, mode) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(GitError::writing(&path)(error)),
            }
        }
    }
    Ok(())
}
