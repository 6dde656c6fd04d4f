//! The safety snapshot: what git cannot reproduce of a checkout, as objects under one ref of the
//! vault.
//!
//! ```text
//! refs/bivouac/<id>/<n> ── W   tree: tracked files as they are on disk
//!                          ├─ HEAD          (an empty commit where HEAD is unborn)
//!                          ├─ I   tree: the index
//!                          ├─ U   tree: untracked files
//!                          └─ X   tree: manifest, raw bytes, admin files, guarded objects
//!                                 parents: commits that only the admin directory names
//! ```
//! W, I and U are what `git stash` makes, so that a person who fetches the ref out of the vault
//! (`git fetch .git/bivouac/vault <ref>`) can `git stash apply FETCH_HEAD` without us. X has the
//! exact bytes (W holds them as the clean filters make them), the index file, and keeps alive what
//! an operation in progress still needs. It is written through one stream and no private checkout:
//! a held `index.lock`, `skip-worktree` or `intent-to-add` cannot blind it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk::sync_filesystems;
use super::draft::Draft;
use super::keep::keep_more;
use super::owner::own;
use super::read_ahead::ReadAhead;
use super::sight::join;
use super::survey::{Depth, Seen, survey};
use super::vault::Vault;
use super::{Checkout, GitError, Repo};
use crate::model::{InstanceId, Timestamp};

/// How often files that change under our eyes are read again.
const ATTEMPTS: usize = 8;

/// After so many attempts files that still change are left out.
const PATIENCE: usize = 2;

/// A snapshot that exists, as the journal and the pause record keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SnapshotFact {
    pub reference: String,
    pub commit: String,
    /// What HEAD was; None before the first commit.
    pub head: Option<String>,
    /// The branch that HEAD named; None when detached.
    pub branch: Option<String>,
    /// The commit that holds manifest and raw bytes.
    pub extra: String,
    /// A digest of every stamp, to know the same worktree again without reading it.
    pub evidence: String,
    /// An operation that stood open.
    pub operation: Option<String>,
    pub changed: u64,
    pub untracked: u64,
    /// How many objects it names that the user's repository may drop; None where nobody counted.
    #[serde(default)]
    pub guarded: Option<u64>,
}

impl SnapshotFact {
    /// The id of its instance.
    pub(super) fn instance(&self) -> Option<&str> {
        self.reference.rsplit('/').nth(1)
    }

    /// Which of its instance's snapshots it is.
    pub(crate) fn number(&self) -> Option<u64> {
        self.reference.rsplit('/').next()?.parse().ok()
    }
}

pub(super) fn reference(id: &InstanceId, n: u64) -> String {
    format!("refs/bivouac/{id}/{n}")
}

/// A snapshot that was just taken.
#[derive(Debug)]
pub(crate) struct Taken {
    pub fact: SnapshotFact,
    /// The checkout as it was then.
    pub seen: Seen,
}

/// What a snapshot is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label<'a> {
    pub instance: &'a InstanceId,
    /// Which of the instance's snapshots it is.
    pub number: u64,
    pub at: Timestamp,
    /// The home that the instance belongs to.
    pub home: &'a Path,
}

/// Takes the snapshot and makes it durable. Running it again for the same number replaces the ref.
///
/// What was read ahead is used if it is still so.
pub(crate) fn take_snapshot(
    repo: &Repo,
    checkout: &Checkout,
    label: Label<'_>,
    ahead: Option<ReadAhead>,
) -> Result<Taken, GitError> {
    if let Some(ahead) = ahead
        && let Some(taken) = ahead.written(repo, checkout, label)?
    {
        return Ok(taken);
    }
    let mut unsettled: Vec<PathBuf> = Vec::new();
    for attempt in 0..ATTEMPTS {
        let mut found = survey(repo, checkout, Depth::All)?;
        if attempt >= PATIENCE {
            // Somebody writes to them without pause (a log). They are left to the parking place, and
            // verification will say that this snapshot lacks them.
            found.leave_out(&unsettled);
        }
        let draft = Draft::of(repo, checkout, found)?;
        match write(repo, checkout, draft, label)? {
            Written::Whole(taken) => return Ok(*taken),
            Written::Unsettled(paths) => unsettled.extend(paths),
        }
    }
    Err(GitError::Unsettled { paths: unsettled })
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
    own(&vault, label.instance, label.home)?;
    let stands_on = draft.stands.on.clone();
    let (kept, imported) = std::thread::scope(|scope| {
        let keep = scope.spawn(|| keep_more(repo, label.instance, &stands_on, label.at));
        let imported = draft.write(&vault, checkout, label);
        (join(keep), imported)
    });
    let (imported, ()) = (imported?, kept?);
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
