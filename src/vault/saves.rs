//! Work that is saved while its agent goes on, and what was saved of an instance altogether.
//!
//! Such a snapshot is released at once: it belongs to no pause, and is kept in the trash for as long as other
//! released ones. Its number is the second in which it was taken, far above those of pauses, which count from
//! one: so the two never have the same name.

use std::path::Path;

use super::fact::{Label, SnapshotFact};
use super::keep::keep_exactly;
use super::refs::{HELD, TRASH};
use super::repository::Vault;
use super::retention::release_snapshot;
use super::snapshot::take_snapshot;
use super::stale_locks::remove_stale_locks;
use crate::git::call::{SLOW, fetching};
use crate::git::{Checkout, GitError, Repo, ScratchDir};
use crate::model::{InstanceId, Timestamp};

/// The lowest number of a snapshot that was taken while the agent went on.
const FIRST: u64 = 1_000_000_000;

/// Work that was saved at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SavedState {
    pub commit: String,
    pub at: Timestamp,
    /// Taken while the agent went on, and not by a pause, a restart or a kill.
    pub in_passing: bool,
    /// A pause still needs it.
    pub in_use: bool,
    reference: String,
    object: String,
}

/// Saves the work of a live checkout, and lets go of all but the last `keep` that were saved so.
pub(crate) fn save_in_passing(
    repo: &Repo,
    worktree: &Path,
    instance: &InstanceId,
    at: Timestamp,
    home: &Path,
    keep: usize,
) -> Result<(), GitError> {
    snapshot_in_passing(repo, worktree, instance, at, home)?;
    release_passing(repo, instance, at)?;
    drop_all_but(repo, instance, keep, at)
}

/// Saves the work of a live checkout. It is to be released as soon as it is not needed any more.
pub(crate) fn snapshot_in_passing(
    repo: &Repo,
    worktree: &Path,
    instance: &InstanceId,
    at: Timestamp,
    home: &Path,
) -> Result<SnapshotFact, GitError> {
    let checkout = Checkout::live(repo, worktree)?;
    let number = u64::try_from(at.seconds_since_epoch()).unwrap_or(FIRST);
    let label = Label {
        instance,
        number,
        at,
        home,
    };
    Ok(take_snapshot(repo, &checkout, label, None)?.fact)
}

/// Releases all that was saved so.
pub(crate) fn release_passing(
    repo: &Repo,
    instance: &InstanceId,
    at: Timestamp,
) -> Result<(), GitError> {
    // Those too that a process has left behind which died in between.
    for saved in list_saved(repo, instance)? {
        if saved.in_passing && saved.in_use {
            release_snapshot(repo, &saved.reference, at)?;
        }
    }
    Ok(())
}

fn drop_all_but(
    repo: &Repo,
    instance: &InstanceId,
    keep: usize,
    at: Timestamp,
) -> Result<(), GitError> {
    let old: String = list_saved(repo, instance)?
        .iter()
        .filter(|saved| saved.in_passing)
        .skip(keep)
        .map(|saved| format!("delete {} {}\n", saved.reference, saved.object))
        .collect();
    if old.is_empty() {
        return Ok(());
    }
    let vault = Vault::find(repo)?;
    let _lock = vault.exclude()?;
    remove_stale_locks(&vault, Some(instance.as_str()));
    let update = vault.git().args(["update-ref", "--stdin"]);
    update.stdin(old).run()?;
    keep_exactly(&vault, instance, at)
}

/// All that is saved of an instance, the newest first.
pub(crate) fn list_saved(repo: &Repo, instance: &InstanceId) -> Result<Vec<SavedState>, GitError> {
    let Some(vault) = Vault::existing(repo)? else {
        return Ok(Vec::new());
    };
    let listing = vault
        .git()
        .args(["for-each-ref", "--format"])
        .arg("%(objectname)|%(*objectname)|%(committerdate:unix)|%(*committerdate:unix)|%(refname)")
        .args([HELD, TRASH].map(|namespace| format!("{namespace}{instance}/")))
        .text()?;
    let mut saved: Vec<SavedState> = listing.lines().filter_map(read).collect();
    saved.sort_by_key(|saved| std::cmp::Reverse(saved.at));
    Ok(saved)
}

fn read(line: &str) -> Option<SavedState> {
    let mut parts = line.splitn(5, '|');
    let (object, tagged) = (parts.next()?, parts.next()?);
    let (own, of_tagged) = (parts.next()?, parts.next()?);
    let reference = parts.next()?;
    let (commit, time) = if tagged.is_empty() {
        (object, own)
    } else {
        (tagged, of_tagged)
    };
    // What belongs to a thinned worktree is beside its snapshot, under a name that is no number.
    let number: u64 = reference.rsplit('/').next()?.parse().ok()?;
    Some(SavedState {
        commit: commit.to_owned(),
        at: Timestamp::from_epoch(time.parse().ok()?)?,
        in_passing: number >= FIRST,
        in_use: reference.starts_with(HELD),
        reference: reference.to_owned(),
        object: object.to_owned(),
    })
}

/// Writes the files of a snapshot, tracked and untracked, into an empty directory.
pub(crate) fn write_saved(repo: &Repo, commit: &str, directory: &Path) -> Result<(), GitError> {
    let vault = Vault::find(repo)?;
    let _lock = vault.share()?;
    let scratch = ScratchDir::new(repo, "saved-")?;
    for (at, tree) in [commit.to_owned(), format!("{commit}^3")]
        .iter()
        .enumerate()
    {
        let index = scratch.path().join(at.to_string());
        let git = || {
            fetching(vault.seen_by(repo.git()))
                .env("GIT_INDEX_FILE", &index)
                .env("GIT_WORK_TREE", directory)
                .directory(directory)
                .deadline(SLOW)
        };
        git().args(["read-tree", tree]).run()?;
        git().args(["checkout-index", "--all", "--quiet"]).run()?;
    }
    Ok(())
}
