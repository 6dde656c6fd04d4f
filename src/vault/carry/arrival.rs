//! Unpacks an export into a fresh worktree and compares what is there with the manifest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::blobs::blob;
use super::incoming::Incoming;
use super::index_file::index_file;
use super::listing::{Listing, StagedEntry};
use crate::git::call::{SLOW, bytes_to_path};
use crate::git::disk::{FileIdentity, open_file, sync_filesystems};
use crate::git::index::Index;
use crate::git::{Checkout, GitError, MadeWorktree, Repo};
use crate::process::crash;
use crate::vault::closure::without;
use crate::vault::digest::blob_id;
use crate::vault::manifest::{Item, Kind, Manifest, Source};
use crate::vault::objects::sizes;
use crate::vault::refill::fill;
use crate::vault::remove::remove_tree;
use crate::vault::restat::refresh_index;
use crate::vault::stamp::Stamp;
use crate::vault::walk::{Descend, walk};

/// Larger files of git's record are not git's.
const LARGEST_ADMIN: u64 = 8 << 20;

/// Refs that are files in most repositories, and entries of a table in others.
const PSEUDO_REFS: &[&[u8]] = &[
    b"ORIG_HEAD",
    b"CHERRY_PICK_HEAD",
    b"REVERT_HEAD",
    b"REBASE_HEAD",
    b"AUTO_MERGE",
    b"MERGE_AUTOSTASH",
    b"BISECT_EXPECTED_REV",
];

impl Incoming {
    /// Copies into the user's repository what the worktree's commits, index and operation in progress
    /// name. Until a ref names them they are nothing to anybody.
    pub(crate) fn give_objects(&self, repo: &Repo) -> Result<(), GitError> {
        let vault = &self.scratch.vault;
        let mut tips: Vec<String> = self.parents.clone();
        tips.extend(self.keep.clone());
        if let Some(index) = &self.listing.index {
            tips.push(index.tree.clone());
            let wanted = super::blobs::wanted(
                index
                    .more
                    .iter()
                    .filter(|entry| entry.mode != 0o160_000)
                    .map(|entry| &entry.id),
            );
            let there = sizes(vault, &wanted)?;
            let found = wanted.into_iter().zip(there);
            tips.extend(
                found
                    .filter(|(_, size)| size.is_some())
                    .map(|(blob, _)| blob.id),
            );
        }
        let tips: Vec<&str> = tips.iter().map(String::as_str).collect();
        vault
            .git()
            .args(["-c", "core.fsync=committed"])
            .args([
                "pack-objects",
                "-q",
                "--revs",
                "--non-empty",
                "--delta-base-offset",
            ])
            .arg("--missing=allow-any")
            .arg(repo.common_dir().join("objects/pack/pack"))
            .stdin(without(&tips, &self.needed))
            .deadline(SLOW)
            .run()?;
        Ok(())
    }
}

/// Fills a worktree that was made without files. Everything is on the disk when it returns, and equal to
/// the manifest.
pub(crate) fn arrive(
    repo: &Repo,
    incoming: &Incoming,
    checkout: &Checkout,
) -> Result<(), GitError> {
    write_head(incoming, checkout)?;
    write_admin(incoming, checkout)?;
    crash::effect();
    if let Some(index) = &incoming.listing.index {
        let undo = match &index.undo {
            Some(id) => Some(blob(&incoming.scratch.vault, id, LARGEST_ADMIN)?),
            None => None,
        };
        let bytes = index_file(&incoming.entries, undo.as_deref(), repo.id_length() / 2);
        write(&checkout.index_path(), &bytes)?;
    } else {
        remove(&checkout.index_path())?;
    }
    let vault = &incoming.scratch.vault;
    // The ids are in the manifest itself: there is no commit to look into.
    let sources = incoming
        .manifest
        .items
        .iter()
        .map(wanted)
        .collect::<Vec<_>>();
    let stamps = fill(vault, &checkout.dir, &incoming.manifest, &sources)?;
    if incoming.listing.index.is_some() {
        refresh_index(repo, checkout, &incoming.manifest, &stamps)?;
    }
    sync_filesystems(&[&checkout.dir, &checkout.git_dir])?;
    crash::effect();
    let paths = differences(repo, incoming, checkout)?;
    if paths.is_empty() {
        Ok(())
    } else {
        Err(GitError::ArrivedDiffers { paths })
    }
}

/// Deletes the files of a worktree whose arrival is taken back. Only one that was made for it and was
/// never finished.
pub(crate) fn undo_arrival(repo: &Repo, made: &MadeWorktree) -> Result<(), GitError> {
    if FileIdentity::at(&made.path)? != Some(made.identity) {
        return Ok(());
    }
    let checkout = Checkout::live(repo, &made.path)?;
    if checkout.is_main() || !repo.is_unfinished(&checkout) {
        return Ok(());
    }
    let entries = std::fs::read_dir(&made.path).map_err(GitError::reading(&made.path))?;
    let mut left = Vec::new();
    for entry in entries.flatten() {
        // The link to git's record goes last: it says whose this is.
        if entry.file_name() != ".git" {
            remove_tree(&made.path, Path::new(&entry.file_name()), &mut left);
            crash::effect();
        }
    }
    repo.git()
        .args(["worktree", "remove", "--force", "--force", "--"])
        .arg(&made.path)
        .deadline(SLOW)
        .run()?;
    Ok(())
}

fn wanted(item: &Item) -> Option<crate::vault::objects::Wanted> {
    match &item.source {
        Source::Object(id) => Some(crate::vault::objects::Wanted {
            id: id.clone(),
            size: item.size,
        }),
        _ => None,
    }
}

/// HEAD as it was: on a branch, or at a commit.
fn write_head(incoming: &Incoming, checkout: &Checkout) -> Result<(), GitError> {
    let now = checkout.head_branch()?;
    match (&incoming.head_branch, &incoming.listing.head) {
        (Some(branch), _) if now.as_ref() == Some(branch) => {}
        (Some(branch), _) => checkout.point_head(branch)?,
        (None, Some(commit)) => {
            checkout
                .git()
                .args(["update-ref", "--no-deref", "HEAD", commit])
                .run()?;
        }
        (None, None) => {}
    }
    Ok(())
}

fn write_admin(incoming: &Incoming, checkout: &Checkout) -> Result<(), GitError> {
    let vault = &incoming.scratch.vault;
    let reftable = checkout.git_dir.join("reftable").is_dir();
    // Written when the worktree was made.
    for name in ["logs/HEAD", "ORIG_HEAD"] {
        remove(&checkout.git_dir.join(name))?;
    }
    for (path, id) in &incoming.listing.admin {
        let bytes = blob(vault, id, LARGEST_ADMIN)?;
        let is_ref = path.starts_with(b"refs/") || PSEUDO_REFS.contains(&path.as_slice());
        if reftable && path.starts_with(b"logs/") {
            continue;
        }
        if reftable && is_ref {
            let name = String::from_utf8_lossy(path).into_owned();
            let target = String::from_utf8_lossy(&bytes).trim().to_owned();
            set_ref(checkout, &name, &target)?;
        } else {
            write(&checkout.git_dir.join(bytes_to_path(path)), &bytes)?;
        }
    }
    for (name, id) in &incoming.listing.refs {
        set_ref(checkout, name, id)?;
    }
    Ok(())
}

fn set_ref(checkout: &Checkout, name: &str, id: &str) -> Result<(), GitError> {
    checkout
        .git()
        .args(["update-ref", "--no-deref", "--", name, id])
        .run()?;
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above).map_err(GitError::writing(above))?;
    }
    std::fs::write(path, bytes).map_err(GitError::writing(path))
}

fn remove(path: &Path) -> Result<(), GitError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::writing(path)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// What is not as the manifest says: every path by type, mode, size, time and the hash of its bytes; the
/// index by its entries; HEAD.
fn differences(
    repo: &Repo,
    incoming: &Incoming,
    checkout: &Checkout,
) -> Result<Vec<PathBuf>, GitError> {
    let mut found: BTreeMap<Vec<u8>, Stamp> = BTreeMap::new();
    walk(&checkout.dir, &mut |path| {
        if path.path != b".git" {
            found.insert(path.path, path.stamp);
        }
        Ok(Descend::Into)
    })?;
    let mut wrong = Vec::new();
    let items = &incoming.manifest.items;
    for item in items.iter().filter(|item| item.path != b".") {
        let same = match found.remove(&item.path) {
            Some(stamp) => is_same(repo, checkout, &incoming.manifest, item, &stamp)?,
            None => false,
        };
        if !same {
            wrong.push(bytes_to_path(&item.path));
        }
    }
    wrong.extend(found.into_keys().map(|path| bytes_to_path(&path)));
    if !same_index(repo, &incoming.listing, &incoming.entries, checkout)? {
        wrong.push("index".into());
    }
    let head = checkout.head_commit()?;
    if head != incoming.listing.head || checkout.head_branch()? != incoming.head_branch {
        wrong.push("HEAD".into());
    }
    Ok(wrong)
}

fn is_same(
    repo: &Repo,
    checkout: &Checkout,
    manifest: &Manifest,
    item: &Item,
    stamp: &Stamp,
) -> Result<bool, GitError> {
    let is_dir = item.kind == Kind::Directory;
    if stamp.mode != item.mode || stamp.mtime != item.mtime || !is_dir && stamp.size != item.size {
        return Ok(false);
    }
    let id = match &item.source {
        Source::Object(id) => id,
        Source::SameAs(first) => match manifest.items.get(*first).map(|first| &first.source) {
            Some(Source::Object(id)) => id,
            _ => return Ok(false),
        },
        Source::Nowhere | Source::Raw(_) => return Ok(is_dir),
    };
    let path = checkout.dir.join(bytes_to_path(&item.path));
    let length = repo.id_length() / 2;
    let now = if item.kind == Kind::Symlink {
        use std::os::unix::ffi::OsStrExt;
        let target = std::fs::read_link(&path).map_err(GitError::reading(&path))?;
        let bytes = target.as_os_str().as_bytes();
        blob_id(bytes, bytes.len() as u64, length)
    } else {
        match open_file(&path) {
            Some(file) => blob_id(file, stamp.size, length),
            // One that its owner may not read either was written by us a moment ago.
            None => return Ok(item.mode & 0o400 == 0),
        }
    };
    Ok(now.map_err(GitError::reading(&path))? == *id)
}

fn same_index(
    repo: &Repo,
    listing: &Listing,
    entries: &[StagedEntry],
    checkout: &Checkout,
) -> Result<bool, GitError> {
    if listing.index.is_none() {
        return Ok(!checkout.index_path().exists());
    }
    let index = Index::read(repo, checkout)?;
    let now = index.entries.iter().map(StagedEntry::of);
    Ok(now.eq(entries.iter().cloned()))
}
