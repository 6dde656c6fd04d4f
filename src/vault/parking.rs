//! Moving a worktree and git's record of it aside, and back, by rename alone.
//!
//! The admin directory goes first and comes back last: a worktree whose record is out of sight is
//! merely not a checkout for a moment, while a record whose worktree is gone would be pruned. In
//! its place stays a locked directory without content, so that git gives the name to no other
//! worktree: the links inside submodules lead through it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::remove::{Left, remove_tree};
use super::walk::weigh;
use crate::git::disk::{
    FileIdentity, device_of, ensure_private_dir, parent, rename_durably, sync_dir,
};
use crate::git::{Checkout, GitError, Repo};
use crate::model::InstanceId;
use crate::process::crash;

/// The old and the new place. Chosen and journalled before the first rename.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ParkingPlace {
    pub worktree: PathBuf,
    pub parked_worktree: PathBuf,
    pub worktree_identity: FileIdentity,
    /// `<common>/worktrees/<name>`.
    pub admin: PathBuf,
    pub parked_admin: PathBuf,
    pub admin_identity: FileIdentity,
    pub common_dir: PathBuf,
    /// Admin directories of worktrees that lie inside this one: git would prune them while their
    /// files are away.
    pub inside: Vec<PathBuf>,
}

impl ParkingPlace {
    /// The checkout while it is parked.
    pub(crate) fn checkout(&self) -> Checkout {
        Checkout {
            dir: self.parked_worktree.clone(),
            git_dir: self.parked_admin.clone(),
            common_dir: self.common_dir.clone(),
        }
    }

    /// The checkout wherever its two halves are.
    pub(super) fn checkout_now(&self) -> Result<Checkout, GitError> {
        let now = |place: &PathBuf, parked: &PathBuf| -> Result<PathBuf, GitError> {
            let is_parked = FileIdentity::at(parked)?.is_some();
            Ok(if is_parked { parked } else { place }.clone())
        };
        Ok(Checkout {
            dir: now(&self.worktree, &self.parked_worktree)?,
            git_dir: now(&self.admin, &self.parked_admin)?,
            common_dir: self.common_dir.clone(),
        })
    }

    /// The checkout at its usual place.
    pub(crate) fn live_checkout(&self) -> Checkout {
        Checkout {
            dir: self.worktree.clone(),
            git_dir: self.admin.clone(),
            common_dir: self.common_dir.clone(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParkState {
    /// Both halves are at their usual place.
    InPlace,
    /// One rename was made: park and unpark both carry on from here.
    Between,
    Parked,
    /// A half is nowhere to be found.
    Lost,
}

/// Left in place of the admin directory while it is away.
const PLACEHOLDER: &str = "locked";
const PLACEHOLDER_TEXT: &[u8] = b"parked by bivouac; `biv resume` brings it back\n";

/// Decides where a worktree is parked: inside the repository where that is one filesystem (out of
/// reach of `git clean` and of the user's tools), else hidden beside the worktree.
pub(crate) fn choose_parking(
    repo: &Repo,
    worktree: &Path,
    id: &InstanceId,
    n: u64,
) -> Result<ParkingPlace, GitError> {
    let checkout = Checkout::live(repo, worktree)?;
    if checkout.is_main() {
        return Err(GitError::MainCheckout {
            path: worktree.to_owned(),
        });
    }
    let beside = parent(worktree);
    if device_of(worktree)? != device_of(&beside)? {
        return Err(GitError::MountPoint {
            path: worktree.to_owned(),
        });
    }
    let name = format!("worktree-{id}-{n}");
    // Two levels below the repository, like `worktrees/<name>`: the relative `commondir` in it
    // stays true.
    let inside = repo.common_dir().join("bivouac");
    let parked_worktree = if can_rename(&beside, &inside)? {
        inside.join(name)
    } else {
        beside.join(".bivouac-parked").join(name)
    };
    Ok(ParkingPlace {
        worktree: worktree.to_owned(),
        parked_worktree,
        worktree_identity: FileIdentity::require(worktree)?,
        parked_admin: inside.join(format!("admin-{id}-{n}")),
        admin_identity: FileIdentity::require(&checkout.git_dir)?,
        admin: checkout.git_dir,
        common_dir: repo.common_dir().to_owned(),
        inside: worktrees_inside(repo, worktree),
    })
}

/// The records of this repository's other worktrees that are checked out below `worktree`.
fn worktrees_inside(repo: &Repo, worktree: &Path) -> Vec<PathBuf> {
    let Ok(records) = std::fs::read_dir(repo.common_dir().join("worktrees")) else {
        return Vec::new();
    };
    records
        .filter_map(|record| {
            let record = record.ok()?.path();
            let link = std::fs::read(record.join("gitdir")).ok()?;
            let link = link.strip_suffix(b"\n").unwrap_or(&link);
            let link = record.join(crate::git::call::bytes_to_path(link));
            (link.starts_with(worktree) && link != worktree.join(".git")).then_some(record)
        })
        .collect()
}

/// Tries it with an empty directory: equal device numbers do not promise it (bind mounts).
fn can_rename(from: &Path, to: &Path) -> Result<bool, GitError> {
    ensure_private_dir(to)?;
    if device_of(from)? != device_of(to)? {
        return Ok(false);
    }
    let probe = tempfile::Builder::new()
        .prefix(".biv-probe-")
        .tempdir_in(from)
        .map_err(GitError::writing(from))?;
    let target = to.join(probe.path().file_name().unwrap_or_default());
    if std::fs::rename(probe.path(), &target).is_err() {
        return Ok(false);
    }
    std::fs::remove_dir(&target).map_err(GitError::writing(&target))?;
    Ok(true)
}

/// Where the two halves are now.
pub(crate) fn park_state(place: &ParkingPlace) -> Result<ParkState, GitError> {
    let worktree = half(
        &place.worktree,
        place.worktree_identity,
        &place.parked_worktree,
    )?;
    let admin = half(&place.admin, place.admin_identity, &place.parked_admin)?;
    Ok(match (worktree, admin) {
        (Half::InPlace, Half::InPlace) => ParkState::InPlace,
        (Half::Parked, Half::Parked) => ParkState::Parked,
        (Half::Lost, _) | (_, Half::Lost) => ParkState::Lost,
        (Half::InPlace, Half::Parked) | (Half::Parked, Half::InPlace) => ParkState::Between,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    InPlace,
    Parked,
    Lost,
}

/// What lies in the parking place is always ours; at the usual place it may be something else.
fn half(place: &Path, identity: FileIdentity, parked: &Path) -> Result<Half, GitError> {
    if FileIdentity::at(parked)?.is_some() {
        return Ok(Half::Parked);
    }
    // Device numbers may change with a reboot, inodes do not.
    let found = FileIdentity::at(place)?;
    Ok(match found {
        Some(found) if found.inode == identity.inode => Half::InPlace,
        _ => Half::Lost,
    })
}

/// Moves both halves aside. Run again after a crash it completes what is missing. Callers hold the
/// repository's lock and have taken the snapshot.
pub(crate) fn park(place: &ParkingPlace) -> Result<(), GitError> {
    ensure_private_dir(&parent(&place.parked_admin))?;
    ensure_private_dir(&parent(&place.parked_worktree))?;
    match half(&place.admin, place.admin_identity, &place.parked_admin)? {
        Half::InPlace => {
            rename_durably(&place.admin, &place.parked_admin)?;
            crash::effect();
        }
        Half::Parked => {}
        Half::Lost => return Err(admin_lost(place)),
    }
    hold_name(&place.admin)?;
    crash::effect();
    for record in &place.inside {
        lock(record)?;
    }
    match half(
        &place.worktree,
        place.worktree_identity,
        &place.parked_worktree,
    )? {
        Half::InPlace => {
            rename_durably(&place.worktree, &place.parked_worktree)?;
            crash::effect();
        }
        Half::Parked => {}
        Half::Lost => return Err(worktree_lost(place)),
    }
    // The directories that hold them may be new, too.
    for dir in [&place.parked_admin, &place.parked_worktree] {
        sync_dir(&parent(&parent(dir)))?;
    }
    Ok(())
}

/// Whether [`unpark`] can succeed: both halves are there and nothing is in their way.
pub(crate) fn check_unpark(place: &ParkingPlace) -> Result<(), GitError> {
    let admin = half(&place.admin, place.admin_identity, &place.parked_admin)?;
    let worktree = half(
        &place.worktree,
        place.worktree_identity,
        &place.parked_worktree,
    )?;
    if admin == Half::Lost {
        return Err(admin_lost(place));
    }
    if worktree == Half::Lost {
        return Err(worktree_lost(place));
    }
    if admin == Half::Parked && FileIdentity::at(&place.admin)?.is_some() && !is_held(&place.admin)
    {
        return Err(GitError::AdminNameTaken {
            path: place.admin.clone(),
        });
    }
    if worktree == Half::Parked && FileIdentity::at(&place.worktree)?.is_some() {
        return Err(GitError::PathTaken {
            path: place.worktree.clone(),
        });
    }
    Ok(())
}

/// Moves both halves back. Run again after a crash it completes what is missing. Never replaces
/// anything that stands in the way.
pub(crate) fn unpark(place: &ParkingPlace) -> Result<(), GitError> {
    // All that can be in the way is looked for before the first rename.
    check_unpark(place)?;
    let admin = half(&place.admin, place.admin_identity, &place.parked_admin)?;
    let worktree = half(
        &place.worktree,
        place.worktree_identity,
        &place.parked_worktree,
    )?;
    if worktree == Half::Parked {
        let above = parent(&place.worktree);
        std::fs::create_dir_all(&above).map_err(GitError::writing(&above))?;
        rename_durably(&place.parked_worktree, &place.worktree)?;
        crash::effect();
    }
    if admin == Half::Parked {
        release_name(&place.admin)?;
        crash::effect();
        let above = parent(&place.admin);
        std::fs::create_dir_all(&above).map_err(GitError::writing(&above))?;
        rename_durably(&place.parked_admin, &place.admin)?;
        crash::effect();
    }
    for record in &place.inside {
        unlock(record)?;
    }
    Ok(())
}

/// How much of the disk a parked worktree takes.
pub(crate) fn parked_bytes(place: &ParkingPlace) -> Result<u64, GitError> {
    let path = &place.parked_worktree;
    match (FileIdentity::at(path)?, path.file_name()) {
        (Some(_), Some(name)) => Ok(weigh(&parent(path), name.as_bytes())?.0),
        _ => Ok(0),
    }
}

/// Deletes what is parked, for good. Only `gc` calls it: when the instance was killed and the
/// time for bringing it back is over. Refuses every path that is not a parking place of ours. Gives
/// back what cannot be deleted; until that is gone git's record stays as well.
pub(crate) fn discard_parked(place: &ParkingPlace) -> Result<Vec<Left>, GitError> {
    let mut left = Vec::new();
    for (path, prefix) in [
        (&place.parked_worktree, "worktree-"),
        (&place.parked_admin, "admin-"),
    ] {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let above = parent(path);
        let holder = above.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with(prefix) || !matches!(&*holder, "bivouac" | ".bivouac-parked") {
            return Err(GitError::NotAWorktree { path: path.clone() });
        }
        remove_tree(&above, Path::new(&*name), &mut left);
        crash::effect();
        if !left.is_empty() {
            return Ok(left);
        }
    }
    if FileIdentity::at(&place.admin)?.is_some() && is_held(&place.admin) {
        release_name(&place.admin)?;
    }
    for record in &place.inside {
        unlock(record)?;
    }
    Ok(left)
}

fn hold_name(admin: &Path) -> Result<(), GitError> {
    std::fs::create_dir_all(admin).map_err(GitError::writing(admin))?;
    lock(admin)
}

/// Git leaves a locked record alone. One that the user has locked stays as it is.
fn lock(record: &Path) -> Result<(), GitError> {
    let path = record.join(PLACEHOLDER);
    if !record.is_dir() || path.exists() {
        return Ok(());
    }
    std::fs::write(&path, PLACEHOLDER_TEXT).map_err(GitError::writing(&path))
}

/// Takes our own lock away, and no other.
fn unlock(record: &Path) -> Result<(), GitError> {
    let path = record.join(PLACEHOLDER);
    match std::fs::read(&path) {
        Ok(text) if text == PLACEHOLDER_TEXT => {
            std::fs::remove_file(&path).map_err(GitError::writing(&path))
        }
        // A lock of ours that a crash left empty looks like the user's; git can unlock it.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Whether our placeholder, whole or half made, and nothing else is there.
fn is_held(admin: &Path) -> bool {
    std::fs::read_dir(admin).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == PLACEHOLDER))
    })
}

fn release_name(admin: &Path) -> Result<(), GitError> {
    if FileIdentity::at(admin)?.is_none() {
        return Ok(());
    }
    let lock = admin.join(PLACEHOLDER);
    match std::fs::remove_file(&lock) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(GitError::writing(&lock)(error)),
    }
    std::fs::remove_dir(admin).map_err(GitError::writing(admin))
}

fn admin_lost(place: &ParkingPlace) -> GitError {
    GitError::AdminLost {
        place: place.admin.clone(),
        parked: place.parked_admin.clone(),
    }
}

fn worktree_lost(place: &ParkingPlace) -> GitError {
    GitError::WorktreeLost {
        place: place.worktree.clone(),
        parked: place.parked_worktree.clone(),
    }
}
