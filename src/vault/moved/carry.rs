//! Changes a parked worktree as a merge says, by renames that can all be taken back.
//!
//! Everything new is first written into a directory of ours beside the parked worktree. Then the list
//! of moves is made durable, and only then is the first of them made: what is replaced moves into that
//! directory, what is new moves out of it, and no move ever replaces anything. Taking back is the same
//! list in reverse: the very files return, with their times and modes. Both can be run again after a
//! crash at any point.

use std::path::Path;

use super::content::{id_at, is_absence};
use super::moves::{Action, List, OLD_INDEX, PLANNED_INDEX, Store, Was, is_directory};
use super::plan::{Aside, MergeFact};
use crate::git::call::{SLOW, bytes_to_path};
use crate::git::disk::{rename_exclusively, sync_dir, sync_filesystems};
use crate::git::{Checkout, GitError, Repo};
use crate::process::crash;
use crate::vault::ParkingPlace;
use crate::vault::fact::SnapshotFact;
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

impl Store {
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
