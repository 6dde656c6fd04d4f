//! The refs under which snapshots live: listed, released into a trash namespace, deleted when old.

use std::collections::BTreeSet;

use super::keep::keep_exactly;
use super::vault::Vault;
use super::{GitError, Repo};
use crate::model::{InstanceId, Timestamp};

pub(super) const HELD: &str = "refs/bivouac/";
pub(super) const TRASH: &str = "refs/bivouac-trash/";
/// What the name of a snapshot ends with where its worktree was thinned.
pub(super) const THINNED: &str = "-thin";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredSnapshot {
    pub reference: String,
    pub commit: String,
    /// When the snapshot was taken, in seconds since the epoch.
    pub taken: i64,
}

impl StoredSnapshot {
    /// The instance that it belongs to, if its name is one of ours.
    pub(crate) fn instance(&self) -> Option<InstanceId> {
        let rest = self
            .reference
            .strip_prefix(HELD)
            .or_else(|| self.reference.strip_prefix(TRASH))?;
        InstanceId::parse(rest.split('/').next()?)
    }
}

/// The snapshots of one instance, or of all, that are in use.
pub(crate) fn list_snapshots(
    repo: &Repo,
    id: Option<&InstanceId>,
) -> Result<Vec<StoredSnapshot>, GitError> {
    list(repo, HELD, id)
}

/// The snapshots that were released and are kept for a while.
pub(crate) fn list_trashed(
    repo: &Repo,
    id: Option<&InstanceId>,
) -> Result<Vec<StoredSnapshot>, GitError> {
    list(repo, TRASH, id)
}

fn list(
    repo: &Repo,
    namespace: &str,
    id: Option<&InstanceId>,
) -> Result<Vec<StoredSnapshot>, GitError> {
    let prefix = match id {
        Some(id) => format!("{namespace}{id}/"),
        None => namespace.to_owned(),
    };
    let Some(vault) = Vault::existing(repo)? else {
        return Ok(Vec::new());
    };
    let listing = vault
        .git()
        .args([
            "for-each-ref",
            "--format=%(objectname) %(committerdate:unix) %(refname)",
        ])
        .arg(prefix)
        .text()?;
    Ok(listing
        .lines()
        .filter_map(|line| {
            let mut words = line.splitn(3, ' ');
            Some(StoredSnapshot {
                commit: words.next()?.to_owned(),
                taken: words.next()?.parse().ok()?,
                reference: words.next()?.to_owned(),
            })
        })
        .collect())
}

/// Moves the ref (and that of its thinned content) into the trash namespace, where it keeps the
/// work alive until it expires. Doing it twice is fine.
pub(crate) fn release_snapshot(repo: &Repo, reference: &str) -> Result<(), GitError> {
    let name = reference
        .strip_prefix(HELD)
        .or_else(|| reference.strip_prefix(TRASH))
        .ok_or_else(|| GitError::SnapshotMissing {
            reference: reference.to_owned(),
        })?;
    let vault = Vault::find(repo)?;
    let mut changes: Vec<String> = Vec::new();
    let mut there = false;
    for name in [name.to_owned(), thinned_name(name)] {
        let old = format!("{HELD}{name}");
        let new = format!("{TRASH}{name}");
        if let Some(commit) = vault.resolve(&old)? {
            changes.push(format!("update {new} {commit}\ndelete {old} {commit}\n"));
        } else {
            there = there || vault.resolve(&new)?.is_some();
        }
    }
    if changes.is_empty() {
        return if there {
            Ok(())
        } else {
            Err(GitError::SnapshotMissing {
                reference: reference.to_owned(),
            })
        };
    }
    vault
        .git()
        .args(["update-ref", "--stdin"])
        .stdin(changes.concat())
        .run()?;
    Ok(())
}

/// Where the content of a thinned worktree is kept, beside its snapshot.
pub(super) fn thinned_name(name: &str) -> String {
    format!("{name}{THINNED}")
}

/// Deletes released snapshots that were taken before a moment, except those that `keep` still
/// wants; gives back what was deleted. Git collects their objects in its own time.
pub(crate) fn delete_trashed(
    repo: &Repo,
    before: Timestamp,
    keep: impl Fn(&StoredSnapshot) -> bool,
) -> Result<Vec<StoredSnapshot>, GitError> {
    let expired: Vec<StoredSnapshot> = list_trashed(repo, None)?
        .into_iter()
        .filter(|stored| stored.taken < before.seconds_since_epoch() && !keep(stored))
        .collect();
    if expired.is_empty() {
        return Ok(expired);
    }
    let changes: String = expired
        .iter()
        .map(|stored| format!("delete {} {}\n", stored.reference, stored.commit))
        .collect();
    let vault = Vault::find(repo)?;
    let _lock = vault.exclude()?;
    vault
        .git()
        .args(["update-ref", "--stdin"])
        .stdin(changes)
        .run()?;
    let instances: BTreeSet<InstanceId> = expired
        .iter()
        .filter_map(StoredSnapshot::instance)
        .collect();
    for id in &instances {
        keep_exactly(&vault, id, before)?;
    }
    Ok(expired)
}
