//! Every path of a parked worktree, and what thinning does with it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::manifest::{Item, Kind, Source};
use super::objects::{Share, Wanted, read_blobs, sizes};
use super::repository::Vault;
use super::stamp::Stamp;
use super::survey::unchanged;
use super::walk::{Descend, has_attributes, is_open, walk, weigh};
use crate::git::call::{SLOW, bytes_to_path, fields};
use crate::git::index::{Entry, GITLINK, Index};
use crate::git::{Checkout, GitError, Repo, untracked};

/// What thinning may delete without a copy.
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

pub(super) type Inventory = Vec<(Item, Stamp)>;

/// Every path of the parked worktree with what is to become of it. Files that the index seems to
/// name have that blob as their source, still unproved.
pub(super) fn inventory(
    repo: &Repo,
    checkout: &Checkout,
    policy: &ThinPolicy,
) -> Result<Inventory, GitError> {
    let index = Index::read(repo, checkout)?;
    let entries: HashMap<&[u8], &Entry> = index
        .entries
        .iter()
        .filter(|entry| entry.stage == 0)
        .map(|entry| (entry.path.as_slice(), entry))
        .collect();
    let (whole, dropped) = set_aside(checkout, &index, policy)?;
    let mut items: Inventory = vec![top(&checkout.dir)?];
    let mut linked: HashMap<u64, usize> = HashMap::new();
    let us = rustix::process::geteuid().as_raw();
    walk(&checkout.dir, &mut |found| {
        let stamp = found.stamp;
        let path = checkout.dir.join(bytes_to_path(&found.path));
        let mut item = Item {
            kind: Kind::File,
            mode: stamp.mode,
            size: stamp.size,
            mtime: stamp.mtime,
            inode: stamp.inode,
            source: Source::Nowhere,
            path: found.path,
        };
        let mut descend = Descend::Into;
        // What it is beside its bytes would not come back: access lists, another owner.
        let special = |path: &Path| stamp.uid != us || has_attributes(path);
        if let Some(bytes) = dropped.get(&item.path) {
            item.kind = Kind::Dropped;
            item.size = *bytes;
            descend = Descend::Over;
        } else if item.path == b".git" || whole.contains(&item.path) || !is_open(&path, &stamp) {
            item.kind = Kind::Kept;
            descend = Descend::Over;
        } else if stamp.is_dir() {
            item.kind = Kind::Directory;
            if special(&path) || is_mount(&checkout.dir, &path) {
                items.push((
                    Item {
                        kind: Kind::Kept,
                        ..item.clone()
                    },
                    stamp,
                ));
            }
        } else if special(&path) || !(stamp.is_file() || stamp.is_symlink()) {
            item.kind = Kind::Kept;
        } else if let (Some(first), true) = (linked.get(&stamp.inode), stamp.is_file()) {
            item.source = Source::SameAs(*first);
        } else {
            if stamp.is_symlink() {
                item.kind = Kind::Symlink;
            }
            if stamp.is_file() && stamp.links > 1 {
                linked.insert(stamp.inode, items.len());
            }
            if let Some(entry) = entries.get(item.path.as_slice())
                && stamp.is_file()
            {
                item.source = Source::Object(entry.id());
            }
        }
        if item.kind == Kind::File
            && let Some(entry) = entries.get(item.path.as_slice())
            // Most builds of git compare whole seconds: what is younger they read.
            && unchanged(entry, &stamp, (index.written.0, 0))
        {
            item.kind = Kind::Clean;
        }
        items.push((item, stamp));
        Ok(descend)
    })?;
    keep_shared(&mut items);
    Ok(items)
}

/// The worktree's own directory: its mode and time are part of it.
fn top(dir: &Path) -> Result<(Item, Stamp), GitError> {
    let stat = rustix::fs::lstat(dir).map_err(|errno| GitError::reading(dir)(errno.into()))?;
    let stamp = Stamp::of(&stat);
    let item = Item {
        kind: Kind::Directory,
        mode: stamp.mode,
        size: 0,
        mtime: stamp.mtime,
        inode: stamp.inode,
        source: Source::Nowhere,
        path: b".".to_vec(),
    };
    Ok((item, stamp))
}

/// A file that has a name outside of the worktree, too, stays: deleting ours frees nothing, and no
/// copy would be the same file.
fn keep_shared(items: &mut Inventory) {
    let mut names: HashMap<u64, u64> = HashMap::new();
    for (_, stamp) in items.iter().filter(|(_, stamp)| stamp.links > 1) {
        *names.entry(stamp.inode).or_default() += 1;
    }
    for (item, stamp) in items {
        let ours = names.get(&stamp.inode).copied().unwrap_or(1);
        let is_name = matches!(item.kind, Kind::File | Kind::Clean | Kind::Symlink);
        if is_name && stamp.links > ours {
            item.kind = Kind::Kept;
            item.source = Source::Nowhere;
        }
    }
}

type SetAside = (HashSet<Vec<u8>>, HashMap<Vec<u8>, u64>);

/// What stays on disk as a whole, and what is deleted without a copy.
fn set_aside(
    checkout: &Checkout,
    index: &Index,
    policy: &ThinPolicy,
) -> Result<SetAside, GitError> {
    let mut whole = HashSet::new();
    let mut dropped = HashMap::new();
    let ignored = checkout
        .git()
        .args(["ls-files", "-z", "--others", "--ignored"])
        .args(["--exclude-standard", "--directory"])
        .deadline(SLOW)
        .run()?;
    for path in fields(&ignored) {
        let path = path.strip_suffix(b"/").unwrap_or(path).to_vec();
        if path.is_empty() {
            continue;
        }
        let (bytes, repository) = weigh(&checkout.dir, &path)?;
        if bytes > policy.ignored_limit_bytes {
            if repository {
                whole.insert(path);
            } else {
                dropped.insert(path, bytes);
            }
        }
    }
    let (_, nested) = untracked(checkout)?;
    let submodules = index
        .entries
        .iter()
        .filter(|entry| entry.mode == GITLINK)
        .map(|entry| entry.path.clone());
    for path in nested.into_iter().chain(submodules) {
        if checkout.dir.join(bytes_to_path(&path)).is_dir()
            && weigh(&checkout.dir, &path)?.0 > policy.nested_limit_bytes
        {
            whole.insert(path);
        }
    }
    Ok((whole, dropped))
}

fn is_mount(top: &Path, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| {
        std::fs::symlink_metadata(path)
            .map(|found| found.dev())
            .ok()
    };
    device(top) != device(path)
}

/// Takes the source from every file whose bytes are not those of the blob that the index names:
/// it was converted at checkout, or changed, or the blob is missing.
pub(super) fn forget_differing(
    vault: &Vault,
    dir: &Path,
    items: &mut Inventory,
) -> Result<(), GitError> {
    let candidates: Vec<usize> = (0..items.len())
        .filter(|number| matches!(items[*number].0.source, Source::Object(_)))
        .collect();
    let wanted: Vec<Wanted> = candidates
        .iter()
        .filter_map(|number| match &items[*number].0 {
            Item {
                source: Source::Object(id),
                size,
                ..
            } => Some(Wanted {
                id: id.clone(),
                size: *size,
            }),
            _ => None,
        })
        .collect();
    // A blob of another size is another one, and not worth reading: a huge one may have been emptied.
    let sizes = sizes(vault, &wanted)?;
    let mut equal = vec![false; candidates.len()];
    let (alike, wanted): (Vec<usize>, Vec<Wanted>) = wanted
        .into_iter()
        .enumerate()
        .filter(|(number, blob)| sizes.get(*number) == Some(&Some(blob.size)))
        .unzip();
    read_blobs(vault, &wanted, |number, blob| {
        let item = &items[candidates[alike[number]]].0;
        let path = dir.join(bytes_to_path(&item.path));
        let share = blob.map(|blob| blob.compare(&path));
        equal[alike[number]] = matches!(share, Some(Ok(Share::All)));
        Ok(())
    })?;
    for (number, equal) in candidates.into_iter().zip(equal) {
        if !equal {
            items[number].0.source = Source::Nowhere;
        }
    }
    Ok(())
}
