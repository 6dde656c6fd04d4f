//! The end of a refill: its bytes are waited for, and what a power cut took before is written again.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{OFlags, Timespec, Timestamps};

use super::manifest::{Item, Kind, Manifest, stamp_of};
use super::objects::{Blob, Share, Wanted, read_blobs};
use super::repository::Vault;
use super::thinned::Marker;
use crate::git::call::bytes_to_path;
use crate::git::disk::sync_filesystems;
use crate::git::{Checkout, GitError, Repo};
use crate::process::crash;

/// Waits until refilled files are on the disk, parked or back in place. Then the marker of the
/// thinning is removed.
pub(crate) fn settle_refill(repo: &Repo, checkout: &Checkout) -> Result<(), GitError> {
    let Some(marker) = Marker::read(checkout)? else {
        return Ok(());
    };
    mend_power_cut(repo, checkout, &marker)?;
    sync_filesystems(&[&checkout.dir, &checkout.git_dir])?;
    crash::effect();
    Marker::remove(checkout)
}

/// Writes again what a power cut has taken from refilled files. A file is known to be one of those by
/// three things: the machine was booted since the refill, the file still has the time and the mode
/// that the refill gave it, so it was not written to since, and it is not longer than what was
/// written. It keeps its inode, and so its further names.
pub(super) fn mend_power_cut(
    repo: &Repo,
    checkout: &Checkout,
    marker: &Marker,
) -> Result<(), GitError> {
    if !marker.phase.power_cut_possible() {
        return Ok(());
    }
    let vault = Vault::find(repo)?;
    let manifest = Manifest::load(&vault, &marker.commit)?;
    let sources = manifest.sources(&vault, &marker.commit)?;
    let mut untouched: Vec<&Item> = Vec::new();
    let mut wanted: Vec<Wanted> = Vec::new();
    for (item, source) in manifest.items.iter().zip(sources) {
        let is_file = matches!(item.kind, Kind::File | Kind::Clean) && item.size > 0;
        if let (true, Some(source)) = (is_file, source)
            && stamp_of(&checkout.dir, item)?.is_some_and(|stamp| {
                stamp.is_file()
                    && stamp.mtime == item.mtime
                    && (stamp.mode == item.mode || stamp.mode == item.mode | 0o600)
                    && stamp.size <= item.size
            })
        {
            untouched.push(item);
            wanted.push(source);
        }
    }
    read_blobs(&vault, &wanted, |number, blob| {
        let item = untouched[number];
        let path = checkout.dir.join(bytes_to_path(&item.path));
        match blob {
            Some(blob) if blob.compare(&path).is_ok_and(|share| share == Share::All) => Ok(()),
            Some(blob) => write_again(&path, item, &blob).map_err(GitError::writing(&path)),
            None => Err(GitError::StoredDiffers {
                path: bytes_to_path(&item.path),
            }),
        }
    })
}

fn write_again(path: &Path, item: &Item, blob: &Blob<'_>) -> std::io::Result<()> {
    let mode = item.mode & 0o7777;
    std::fs::set_permissions(path, Permissions::from_mode(mode | 0o600))?;
    let mut file = OpenOptions::new()
        .write(true)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)?;
    let written = blob.write_to(&mut file);
    // Also where the disk is full: by its time it is known again when there is space.
    let time = Timespec {
        tv_sec: item.mtime.0,
        tv_nsec: item.mtime.1.into(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    rustix::fs::futimens(&file, &times)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    written
}
