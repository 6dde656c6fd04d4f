//! Writes all that a merge brings, and the list of moves, before anything of the worktree is touched.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::content::id_at;
use super::moves::{
    Action, DirectoryWas, LIST, List, OLD_INDEX, PLANNED_INDEX, Store, Was, is_directory,
};
use super::obstacles::{Act, ancestors, is_submodule, way};
use super::plan::{Aside, MergeFact, Step, steps};
use crate::git::call::{SLOW, bytes_to_path};
use crate::git::disk::{ensure_private_dir, sync_dir, sync_filesystem};
use crate::git::index::Index;
use crate::git::{Checkout, GitError, Repo};
use crate::process::crash;
use crate::vault::fact::SnapshotFact;
use crate::vault::repository::Vault;

impl Store {
    /// Writes all that is new, and the list. Nothing of the worktree is touched.
    pub(super) fn prepare(
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

/// Whether a step puts something at its path.
fn comes(step: &Step, act: Act) -> bool {
    step.to.is_some() && matches!(act, Act::Write | Act::Replace | Act::Blocked)
}
