//! Changes a parked worktree as a merge says, by renames that can all be taken back.
//!
//! Everything new is first written into a directory of ours beside the parked worktree. Then the list
//! of moves is made durable, and only then is the first of them made: what is replaced moves into that
//! directory, what is new moves out of it, and no move ever replaces anything. Taking back is the same
//! list in reverse: the very files return, with their times and modes. Both can be run again after a
//! crash at any point.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde::{Deserialize, Serialize};

use super::content::{id_at, is_absence};
use super::obstacles::{Act, ancestors, is_submodule, way};
use super::plan::{Aside, MergeFact, Step, steps};
use crate::git::call::{SLOW, bytes_to_path};
use crate::git::disk::{
    ensure_private_dir, rename_exclusively, sync_dir, sync_filesystem, sync_filesystems,
};
use crate::git::{Checkout, GitError, Repo};
use crate::process::crash;
use crate::vault::ParkingPlace;
use crate::vault::fact::SnapshotFact;
use crate::vault::index::Index;
use crate::vault::repository::Vault;

/// Makes the worktree, wherever it lies now, what the merge says. An error names every path that is
/// in the way and has no other name in the merge.
pub(crate) fn carry_over(
    repo: &Repo,
    place: &ParkingPlace,
    fact: &SnapshotFact,
    merge: &MergeFact,
) -> Result<(), GitError> {
    carry_part(repo, place, fact, merge, usize::MAX)
}

/// As [`carry_over`], cut off after so many moves, as a crash would.
pub(in crate::vault) fn carry_part(
    repo: &Repo,
    place: &ParkingPlace,
    fact: &SnapshotFact,
    merge: &MergeFact,
    most: usize,
) -> Result<(), GitError> {
    let checkout = place.checkout_now()?;
    let store = Store::of(place);
    let list = match store.list()? {
        Some(list) => list,
        None => store.prepare(repo, &checkout, fact, merge)?,
    };
    for action in list.actions.iter().take(most) {
        store.perform(&checkout, action)?;
        crash::effect();
    }
    if most <= list.actions.len() {
        return Ok(());
    }
    store.replace_index(&Vault::find(repo)?, &checkout)?;
    sync_filesystems(&[&checkout.dir, &checkout.git_dir])
}

/// Takes it back, from any point. Returns the new names of files that were changed meanwhile.
pub(crate) fn take_back_carry(repo: &Repo, place: &ParkingPlace) -> Result<Vec<Aside>, GitError> {
    take_back_part(repo, place, usize::MAX)
}

/// As [`take_back_carry`], cut off after so many moves.
pub(in crate::vault) fn take_back_part(
    repo: &Repo,
    place: &ParkingPlace,
    most: usize,
) -> Result<Vec<Aside>, GitError> {
    let store = Store::of(place);
    let mut changed = Vec::new();
    if let Some(list) = store.list()? {
        let checkout = place.checkout_now()?;
        for action in list.actions.iter().rev().take(most) {
            changed.extend(store.take_back(repo, &checkout, &list, action)?);
            crash::effect();
        }
        if most <= list.actions.len() {
            return Ok(changed);
        }
        store.restore_index(&checkout)?;
        list.restore_directories(&checkout.dir)?;
        sync_filesystems(&[&checkout.dir, &checkout.git_dir])?;
    }
    store.remove()?;
    Ok(changed)
}

/// Deletes what was replaced; the snapshot holds all of it. A file that was written to all the same
/// gets a name beside its old place, which is returned.
pub(crate) fn settle_carry(
    place: &ParkingPlace,
    checkout: &Checkout,
) -> Result<Vec<Aside>, GitError> {
    let store = Store::of(place);
    let mut changed = Vec::new();
    for action in store.list()?.unwrap_or_default().actions {
        if let Action::Out { path, number, was } = action {
            let old = store.old(number);
            if Was::at(&old)?.is_some_and(|now| now != was) {
                changed.push(beside(&checkout.dir, &old, &path)?);
            }
        }
    }
    store.remove()?;
    Ok(changed)
}

/// The directory that holds the moves and what is moved; on the worktree's own filesystem.
struct Store {
    dir: PathBuf,
}

/// What is to be done, in this order.
#[derive(Debug, Default, Serialize, Deserialize)]
struct List {
    actions: Vec<Action>,
    /// Every directory that one of them changes, the outermost first.
    directories: Vec<DirectoryWas>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
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
struct Was {
    inode: u64,
    size: u64,
    mtime: (i64, i64),
}

impl Was {
    fn at(path: &Path) -> Result<Option<Self>, GitError> {
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
struct DirectoryWas {
    path: Vec<u8>,
    mode: u32,
    mtime: (i64, i64),
}

const LIST: &str = "list.json";
const PLANNED_INDEX: &str = "index-planned";
const OLD_INDEX: &str = "index-before";

impl Store {
    fn of(place: &ParkingPlace) -> Self {
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

    fn old(&self, number: usize) -> PathBuf {
        self.dir.join("old").join(number.to_string())
    }

    fn new_tree(&self) -> PathBuf {
        self.dir.join("new")
    }

    /// The moves, if the first of them may have been made.
    fn list(&self) -> Result<Option<List>, GitError> {
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

    fn remove(&self) -> Result<(), GitError> {
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

    /// Writes all that is new, and the list. Nothing of the worktree is touched.
    fn prepare(
        &self,
        repo: &Repo,
        checkout: &Checkout,
        fact: &SnapshotFact,
        merge: &MergeFact,
    ) -> Result<List, GitError> {
        self.remove()?;
        for dir in [&self.dir, &self.dir.join("old"), &self.new_tree()] {
            ensure_private_dir(dir)?;
        }
        let index = Index::read(repo, checkout)?;
        let vault = Vault::find(repo)?;
        let _lock = vault.share()?;
        let steps = steps(&vault, &merge.from_worktree, &merge.to_worktree)?;
        let found = way(repo, checkout, fact, &steps, &index)?;
        let blocked: Vec<PathBuf> = found
            .obstacles
            .iter()
            .filter(|path| !merge.aside.iter().any(|aside| aside.path_bytes() == **path))
            .map(|path| bytes_to_path(path))
            .collect();
        if !blocked.is_empty() {
            return Err(GitError::Conflict { files: blocked });
        }
        self.write_new(&vault, checkout, merge, &steps, &found.acts)?;
        self.write_indexes(&vault, checkout, merge)?;
        let list = self.moves(repo, checkout, merge, &steps, &found.acts)?;
        sync_filesystem(&self.dir)?;
        let path = self.dir.join(LIST);
        let fresh = self.dir.join("list-new");
        let bytes = serde_json::to_vec(&list).map_err(|error| GitError::Unexpected {
            call: "the list of moves".to_owned(),
            answer: error.to_string(),
        })?;
        std::fs::write(&fresh, bytes)
            .and_then(|()| std::fs::File::open(&fresh)?.sync_all())
            .and_then(|()| std::fs::rename(&fresh, &path))
            .map_err(GitError::writing(&path))?;
        sync_dir(&self.dir)?;
        crash::effect();
        Ok(list)
    }

    /// The files that come, as a checkout of the merged tree into an empty directory makes them:
    /// filters, modes and line endings are left to git.
    fn write_new(
        &self,
        vault: &Vault,
        checkout: &Checkout,
        merge: &MergeFact,
        steps: &[Step],
        acts: &[Act],
    ) -> Result<(), GitError> {
        let mut names: Vec<u8> = Vec::new();
        for (step, act) in steps.iter().zip(acts) {
            if comes(step, *act) && !is_submodule(&step.to) {
                names.extend_from_slice(&step.path);
                names.push(0);
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        let index = self.dir.join("tree-index");
        let git = || {
            vault
                .seen_by(checkout.git())
                .directory(self.new_tree())
                .env("GIT_WORK_TREE", self.new_tree())
                .env("GIT_INDEX_FILE", &index)
                .deadline(SLOW)
        };
        git().args(["read-tree", &merge.to_worktree]).run()?;
        git()
            .args(["checkout-index", "-z", "--stdin"])
            .stdin(names)
            .run()?;
        Ok(())
    }

    fn write_indexes(
        &self,
        vault: &Vault,
        checkout: &Checkout,
        merge: &MergeFact,
    ) -> Result<(), GitError> {
        let index = checkout.index_path();
        let before = self.dir.join(OLD_INDEX);
        let planned = self.dir.join(PLANNED_INDEX);
        if index.exists() {
            std::fs::copy(&index, &before).map_err(GitError::writing(&before))?;
            std::fs::copy(&index, &planned).map_err(GitError::writing(&planned))?;
        }
        if merge.from_index == merge.to_index {
            return Ok(());
        }
        vault
            .seen_by(checkout.git())
            .args(["read-tree", "-i", "-m", &merge.from_index, &merge.to_index])
            .env("GIT_INDEX_FILE", &planned)
            .deadline(SLOW)
            .run()?;
        Ok(())
    }

    fn moves(
        &self,
        repo: &Repo,
        checkout: &Checkout,
        merge: &MergeFact,
        steps: &[Step],
        acts: &[Act],
    ) -> Result<List, GitError> {
        let aside: BTreeSet<&[u8]> = merge.aside.iter().map(Aside::path_bytes).collect();
        let at = |path: &[u8]| checkout.dir.join(bytes_to_path(path));
        let mut list = List::default();
        let mut changed: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut emptied: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut needed: BTreeSet<Vec<u8>> = BTreeSet::new();
        for (number, (step, act)) in steps.iter().zip(acts).enumerate() {
            if *act == Act::Leave {
                continue;
            }
            changed.extend(ancestors(&step.path).map(<[u8]>::to_vec));
            let goes = matches!(act, Act::Remove | Act::Replace);
            if goes && !aside.contains(step.path.as_slice()) {
                match Was::at(&at(&step.path))? {
                    Some(_) if is_directory(&at(&step.path)) => {
                        emptied.insert(step.path.clone());
                        changed.insert(step.path.clone());
                    }
                    Some(was) => list.actions.push(Action::Out {
                        path: step.path.clone(),
                        number,
                        was,
                    }),
                    None => {}
                }
            }
            if *act == Act::Remove {
                emptied.extend(ancestors(&step.path).map(<[u8]>::to_vec));
            }
            if comes(step, *act) {
                needed.extend(ancestors(&step.path).map(<[u8]>::to_vec));
                if is_submodule(&step.to) {
                    needed.insert(step.path.clone());
                }
            }
        }
        for aside in &merge.aside {
            changed.extend(ancestors(aside.path_bytes()).map(<[u8]>::to_vec));
        }
        // The innermost first.
        for path in emptied.iter().rev() {
            if !needed.contains(path) {
                list.actions.push(Action::Empty { path: path.clone() });
            }
        }
        for aside in &merge.aside {
            if let Some(was) = Was::at(&at(aside.path_bytes()))? {
                list.actions.push(Action::Aside {
                    aside: aside.clone(),
                    inode: was.inode,
                });
            }
        }
        // What is not a directory of its own now is gone by then, and so is all that is below it.
        let mut made: BTreeSet<&[u8]> = BTreeSet::new();
        for path in &needed {
            let stays = is_directory(&at(path))
                && !aside.contains(path.as_slice())
                && !ancestors(path).any(|above| made.contains(above));
            if !stays {
                made.insert(path);
                list.actions.push(Action::Directory { path: path.clone() });
            }
        }
        for (step, act) in steps.iter().zip(acts) {
            if !comes(step, *act) || is_submodule(&step.to) {
                continue;
            }
            let new = self.new_tree().join(bytes_to_path(&step.path));
            let id = id_at(repo, &new)?.ok_or_else(|| GitError::StoredDiffers {
                path: bytes_to_path(&step.path),
            })?;
            list.actions.push(Action::In {
                path: step.path.clone(),
                id,
            });
        }
        list.directories = directories(&checkout.dir, changed);
        Ok(list)
    }

    fn perform(&self, checkout: &Checkout, action: &Action) -> Result<(), GitError> {
        let at = |path: &[u8]| checkout.dir.join(bytes_to_path(path));
        match action {
            Action::Out { path, number, .. } => {
                let old = self.old(*number);
                match Was::at(&old)? {
                    Some(_) => Ok(()),
                    None => rename_exclusively(&at(path), &old),
                }
            }
            Action::Empty { path } => match std::fs::remove_dir(at(path)) {
                // Gone already, or something is in it that stays.
                Ok(()) | Err(_) => Ok(()),
            },
            Action::Aside { aside, inode } => {
                let (from, to) = (at(aside.path_bytes()), at(aside.to_bytes()));
                if Was::at(&to)?.is_some_and(|was| was.inode == *inode) {
                    return Ok(());
                }
                rename_exclusively(&from, &to)
            }
            Action::Directory { path } => match std::fs::create_dir(at(path)) {
                Ok(()) => Ok(()),
                Err(_) if is_directory(&at(path)) => Ok(()),
                Err(error) => Err(GitError::writing(at(path))(error)),
            },
            Action::In { path, .. } => {
                let new = self.new_tree().join(bytes_to_path(path));
                match Was::at(&new)? {
                    Some(_) => rename_exclusively(&new, &at(path)),
                    None => Ok(()),
                }
            }
        }
    }

    /// Stat data is taken from the files in their place; then git need not read them again.
    fn replace_index(&self, vault: &Vault, checkout: &Checkout) -> Result<(), GitError> {
        let planned = self.dir.join(PLANNED_INDEX);
        if !planned.exists() {
            return Ok(());
        }
        let fresh = self.dir.join("index");
        std::fs::copy(&planned, &fresh).map_err(GitError::writing(&fresh))?;
        // Files that differ from the index are as they should be.
        vault
            .seen_by(checkout.git())
            .args(["update-index", "-q", "--refresh"])
            .env("GIT_INDEX_FILE", &fresh)
            .deadline(SLOW)
            .output()?;
        put_index(&fresh, checkout)
    }

    fn restore_index(&self, checkout: &Checkout) -> Result<(), GitError> {
        let before = self.dir.join(OLD_INDEX);
        if before.exists() {
            return put_index(&before, checkout);
        }
        let index = checkout.index_path();
        match std::fs::remove_file(&index) {
            Err(error) if !is_absence(&error) => Err(GitError::writing(&index)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn take_back(
        &self,
        repo: &Repo,
        checkout: &Checkout,
        list: &List,
        action: &Action,
    ) -> Result<Option<Aside>, GitError> {
        let at = |path: &[u8]| checkout.dir.join(bytes_to_path(path));
        match action {
            Action::In { path, id } => {
                let new = self.new_tree().join(bytes_to_path(path));
                if Was::at(&new)?.is_some() || Was::at(&at(path))?.is_none() {
                    return Ok(None);
                }
                if id_at(repo, &at(path))?.as_ref() == Some(id) {
                    rename_exclusively(&at(path), &new)?;
                    return Ok(None);
                }
                // Changed since it was placed: it is new work now.
                let aside = beside(&checkout.dir, &at(path), path)?;
                std::fs::write(&new, []).map_err(GitError::writing(&new))?;
                return Ok(Some(aside));
            }
            // Fails, as it should, if something was put into it.
            Action::Directory { path } => drop(std::fs::remove_dir(at(path))),
            Action::Aside { aside, inode } => {
                let (from, to) = (at(aside.to_bytes()), at(aside.path_bytes()));
                let moved = Was::at(&from)?.is_some_and(|was| was.inode == *inode);
                if moved && Was::at(&to)?.is_none() {
                    list.make_above(&checkout.dir, aside.path_bytes())?;
                    rename_exclusively(&from, &to)?;
                }
            }
            Action::Empty { path } => {
                list.make_above(&checkout.dir, path)?;
                if Was::at(&at(path))?.is_none() {
                    std::fs::create_dir(at(path)).map_err(GitError::writing(at(path)))?;
                }
            }
            Action::Out { path, number, .. } => {
                if Was::at(&self.old(*number))?.is_some() {
                    list.make_above(&checkout.dir, path)?;
                    let moved = match Was::at(&at(path))? {
                        None => None,
                        Some(_) => Some(beside(&checkout.dir, &at(path), path)?),
                    };
                    rename_exclusively(&self.old(*number), &at(path))?;
                    return Ok(moved);
                }
            }
        }
        Ok(None)
    }
}

impl List {
    /// Makes the directories above a path that were there before.
    fn make_above(&self, top: &Path, path: &[u8]) -> Result<(), GitError> {
        for above in ancestors(path) {
            let dir = top.join(bytes_to_path(above));
            if Was::at(&dir)?.is_none() {
                std::fs::create_dir(&dir).map_err(GitError::writing(&dir))?;
            }
        }
        Ok(())
    }

    /// Modes and times as they were, the innermost first.
    fn restore_directories(&self, top: &Path) -> Result<(), GitError> {
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

/// Those of the paths that are directories, and not behind a link, as they are now.
fn directories(top: &Path, mut paths: BTreeSet<Vec<u8>>) -> Vec<DirectoryWas> {
    paths.insert(Vec::new());
    let mut links: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut found = Vec::new();
    for path in paths {
        let behind = ancestors(&path).any(|above| links.contains(above));
        match std::fs::symlink_metadata(top.join(bytes_to_path(&path))) {
            Ok(stat) if stat.is_dir() && !behind => found.push(DirectoryWas {
                path,
                mode: stat.permissions().mode() & 0o7777,
                mtime: (stat.mtime(), stat.mtime_nsec()),
            }),
            _ => drop(links.insert(path)),
        }
    }
    found
}

fn is_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Whether a step puts something at its path.
fn comes(step: &Step, act: Act) -> bool {
    step.to.is_some() && matches!(act, Act::Write | Act::Replace | Act::Blocked)
}

/// The index is replaced as a whole, on its own filesystem.
fn put_index(from: &Path, checkout: &Checkout) -> Result<(), GitError> {
    let fresh = checkout.git_dir.join("bivouac-index");
    std::fs::copy(from, &fresh)
        .and_then(|_| std::fs::File::open(&fresh)?.sync_all())
        .map_err(GitError::writing(&fresh))?;
    let index = checkout.index_path();
    std::fs::rename(&fresh, &index).map_err(GitError::writing(&index))?;
    crash::effect();
    sync_dir(&checkout.git_dir)
}

/// Moves something to a free name beside the path that it had.
fn beside(top: &Path, found: &Path, path: &[u8]) -> Result<Aside, GitError> {
    let mut number = 1;
    loop {
        let to = match number {
            1 => [path, b".saved"].concat(),
            number => [path, format!(".saved-{number}").as_bytes()].concat(),
        };
        match rename_exclusively(found, &top.join(bytes_to_path(&to))) {
            Ok(()) => return Ok(Aside::new(path.to_vec(), to)),
            Err(GitError::PathTaken { .. }) => number += 1,
            Err(error) => return Err(error),
        }
    }
}
