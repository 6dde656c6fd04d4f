//! Writes what was read of a checkout into the vault, and waits until the disk has it.

use std::path::PathBuf;

use super::draft::Draft;
use super::fact::{Label, SnapshotFact};
use super::keep::keep_more;
use super::owner::record_owner;
use super::refs::{keep_of, reference};
use super::repository::Vault;
use super::stale_locks::remove_stale_locks;
use super::stamp::join;
use super::survey::Seen;
use crate::git::disk::sync_filesystems;
use crate::git::{Checkout, GitError, Repo};

/// A snapshot that was just taken.
#[derive(Debug)]
pub(crate) struct Taken {
    pub fact: SnapshotFact,
    /// The checkout as it was then.
    pub seen: Seen,
}

pub(super) enum Written {
    Whole(Box<Taken>),
    /// These files were not what their stamp said when they were read.
    Unsettled(Vec<PathBuf>),
}

/// Writes what was read, and waits until the disk has it.
pub(super) fn write(
    repo: &Repo,
    checkout: &Checkout,
    mut draft: Draft,
    label: Label<'_>,
) -> Result<Written, GitError> {
    let vault = Vault::open(repo)?;
    let _lock = vault.share()?;
    remove_stale_locks(&vault, Some(label.instance.as_str()));
    record_owner(&vault, label.instance, label.home)?;
    let base_commits = draft.base_commits.public.clone();
    let is_new = !vault.may_have(&reference(label.instance, label.number));
    let (kept, imported) = std::thread::scope(|scope| {
        let keep = scope.spawn(|| keep_more(repo, label.instance, &base_commits, label.at));
        let imported = draft.write(&vault, checkout, label);
        (join(keep), imported)
    });
    let imported = match (imported, kept) {
        (Ok(imported), Ok(())) => imported,
        (Err(error), _) | (_, Err(error)) => {
            // One of the two may have succeeded: a snapshot whose base commits are not kept.
            if is_new {
                forget(&vault, label);
            }
            return Err(error);
        }
    };
    if !imported.unsettled.is_empty() {
        return Ok(Written::Unsettled(imported.unsettled));
    }
    let [.., extra, commit] = &imported.commits[..] else {
        return Err(GitError::SnapshotMissing {
            reference: reference(label.instance, label.number),
        });
    };
    sync_filesystems(&[repo.common_dir(), &checkout.dir, &checkout.git_dir])?;
    let guarded = Some(draft.guarded());
    let found = draft.survey;
    let fact = SnapshotFact {
        reference: reference(label.instance, label.number),
        commit: commit.clone(),
        head: found.head.clone(),
        branch: found.branch.clone(),
        extra: extra.clone(),
        evidence: found.evidence.clone(),
        operation: checkout.operation_in_progress().map(str::to_owned),
        changed: (found.changed.len() + found.gone.len()) as u64,
        untracked: found.untracked.len() as u64,
        guarded,
    };
    let seen = found.seen();
    Ok(Written::Whole(Box::new(Taken { fact, seen })))
}

/// Removes the refs of a snapshot that could not be completed.
fn forget(vault: &Vault, label: Label<'_>) {
    for name in [
        reference(label.instance, label.number),
        keep_of(label.instance, label.number),
    ] {
        if !vault.may_have(&name) {
            continue;
        }
        if let Err(error) = vault.git().args(["update-ref", "-d", &name]).run() {
            tracing::warn!(%error, %name, "an unfinished snapshot was not removed");
        }
    }
}
