//! What the files of an export must be before any of them is written.

use std::collections::BTreeMap;
use std::path::Path;

use super::blobs::wanted;
use super::listing::StagedEntry;
use super::names::{Trouble, is_relative, trouble};
use super::refusal::{refused, refused_path};
use crate::git::GitError;
use crate::git::call::bytes_to_path;
use crate::git::disk::free_bytes;
use crate::vault::manifest::{Item, Kind, Manifest, Source};
use crate::vault::objects::sizes;
use crate::vault::repository::Vault;

/// Kept free beyond what an export takes.
pub(super) const RESERVE: u64 = 64 << 20;

/// No path leads out of the worktree, into git's directory, or through something that is no directory.
pub(super) fn check_paths(
    manifest: &Manifest,
    entries: &[StagedEntry],
    nested: bool,
) -> Result<(), GitError> {
    let mut kinds: BTreeMap<&[u8], Kind> = BTreeMap::new();
    for item in &manifest.items {
        if item.path == b"." && item.kind == Kind::Directory {
            continue;
        }
        kinds.insert(&item.path, item.kind);
    }
    for path in kinds.keys() {
        match trouble(path) {
            None => {}
            Some(Trouble::Nested) if nested => {}
            Some(Trouble::Nested) => {
                return Err(GitError::NestedRepository {
                    path: bytes_to_path(path),
                });
            }
            Some(Trouble::LeadsOut) => return Err(refused_path(path, "leads out of the worktree")),
            Some(Trouble::GitDirectory) => {
                return Err(refused_path(path, "leads into git's own directory"));
            }
        }
        let mut above = *path;
        while let Some(cut) = above.iter().rposition(|byte| *byte == b'/') {
            above = &above[..cut];
            if kinds.get(above) != Some(&Kind::Directory) {
                return Err(refused_path(path, "lies in something that is no directory"));
            }
        }
    }
    for entry in entries {
        // Git judges them again, whenever it writes one of them.
        if !is_relative(&entry.path) || trouble(&entry.path).is_some() {
            return Err(refused_path(&entry.path, "may not be in an index"));
        }
    }
    Ok(())
}

/// The bytes are as many as the manifest says, and fit on the disk.
pub(super) fn check_sizes(vault: &Vault, manifest: &Manifest, disk: &Path) -> Result<(), GitError> {
    let with_bytes: Vec<(&Item, &String)> = manifest
        .items
        .iter()
        .filter_map(|item| match &item.source {
            Source::Object(id) => Some((item, id)),
            _ => None,
        })
        .collect();
    let found = sizes(vault, &wanted(with_bytes.iter().map(|(_, id)| *id)))?;
    let mut total = 0_u64;
    for ((item, _), size) in with_bytes.iter().zip(found) {
        if size != Some(item.size) {
            return Err(refused_path(
                &item.path,
                "has not the bytes that its manifest says",
            ));
        }
        if item.kind == Kind::Symlink && item.size > 4095 {
            return Err(refused_path(&item.path, "is a link that is too long"));
        }
        total = total.saturating_add(item.size);
    }
    let free = free_bytes(disk)?.saturating_sub(RESERVE);
    if total > free {
        return Err(refused(&format!(
            "its files take {total} bytes, and {free} are free"
        )));
    }
    Ok(())
}
