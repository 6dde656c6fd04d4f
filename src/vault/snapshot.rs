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
//! W, I and U are what `git stash` makes, so that a user who fetches the ref out of the vault
//! (`git fetch .git/bivouac/vault <ref>`) can `git stash apply FETCH_HEAD` without us. X has the
//! exact bytes (W holds them as the clean filters make them), the index file, and keeps alive what
//! an operation in progress still needs. It is written through one stream and no private checkout:
//! a held `index.lock`, `skip-worktree` or `intent-to-add` cannot blind it.

use std::path::PathBuf;

use super::draft::Draft;
use super::fact::Label;
use super::read_ahead::ReadAhead;
use super::survey::{Depth, survey};
use super::write::{Taken, Written, write};
use crate::git::{Checkout, GitError, Repo};

/// How often files that change under our eyes are read again.
const ATTEMPTS: usize = 8;

/// After so many attempts files that still change are left out.
const PATIENCE: usize = 2;

/// Takes the snapshot and makes it durable. Running it again for the same number replaces the ref.
///
/// What was read ahead is used if it is still true.
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
            // A process writes to them all the time (a log). They are left to the parking place, and
            // verification reports that this snapshot lacks them.
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
