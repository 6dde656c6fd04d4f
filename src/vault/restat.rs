//! Fresh stat data for the index of a refilled worktree, so that git need not read every file again.

use super::digest::checksum;
use super::manifest::{Kind, Manifest};
use super::stamp::Stamp;
use crate::git::disk::{device_of, replace_durably};
use crate::git::index::Index;
use crate::git::{Checkout, GitError, Repo};

/// Writes the stat data of the new files over that of the old ones, for entries that git knew to be
/// unchanged; nothing else in the index is touched. A split index keeps its old data: git reads
/// the files once.
pub(super) fn refresh_index(
    repo: &Repo,
    checkout: &Checkout,
    manifest: &Manifest,
    stamps: &[Option<Stamp>],
) -> Result<(), GitError> {
    let path = checkout.index_path();
    let Some(index) = Index::read_plain(repo, checkout)? else {
        return Ok(());
    };
    let mut bytes = std::fs::read(&path).map_err(GitError::reading(&path))?;
    let device = device_of(&checkout.dir)? as u32;
    for (item, stamp) in manifest.items.iter().zip(stamps) {
        let (Kind::Clean, Some(stamp)) = (item.kind, stamp) else {
            continue;
        };
        let Some(entry) = index.find(&item.path) else {
            continue;
        };
        let fields = [
            (0, stamp.ctime.0 as u32),
            (4, stamp.ctime.1),
            (8, stamp.mtime.0 as u32),
            (12, entry.stat.mtime.1),
            (16, device),
            (20, stamp.inode as u32),
            // The mode, at 24, is git's own.
            (28, stamp.uid),
            (32, stamp.gid),
            (36, stamp.size as u32),
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
        let sum = checksum(&bytes[..body], hash);
        bytes.truncate(body);
        bytes.extend_from_slice(&sum);
    }
    let mode = std::fs::metadata(&path)
        .map_err(GitError::reading(&path))?
        .permissions();
    replace_durably(&path, &bytes, Some(mode))
}
