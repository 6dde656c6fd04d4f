//! Puts the saved work on a branch of its own, at the commit where it was saved. Neither it nor the
//! moved branch overwrites the other.

use serde::{Deserialize, Serialize};

use crate::git::{Checkout, GitError, Repo};
use crate::vault::fact::SnapshotFact;

/// The branch that takes the work. The journal keeps it before it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The branch that HEAD named before.
    pub was: String,
    pub branch: String,
    /// None where there was no commit yet.
    pub commit: Option<String>,
}

impl Kept {
    /// For work whose branch was moved: `<branch>-kept`, or the next name that is free.
    pub(crate) fn choose(repo: &Repo, fact: &SnapshotFact, branch: &str) -> Result<Self, GitError> {
        let mut number = 1;
        loop {
            let name = match number {
                1 => format!("{branch}-kept"),
                number => format!("{branch}-kept-{number}"),
            };
            match repo.validate_branch_name(&name) {
                Ok(()) if repo.branch_in_use(&name)?.is_none() => {
                    return Ok(Self {
                        was: branch.to_owned(),
                        branch: name,
                        commit: fact.head.clone(),
                    });
                }
                Ok(()) | Err(GitError::BranchExists { .. } | GitError::BranchPrefix { .. }) => {
                    number += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Makes the branch and lets HEAD of the checkout name it. Index, files and an operation in progress
/// stay as they are.
pub(crate) fn keep_on_branch(
    repo: &Repo,
    checkout: &Checkout,
    kept: &Kept,
) -> Result<(), GitError> {
    if let Some(commit) = &kept.commit {
        repo.create_branch(&kept.branch, commit)?;
    }
    checkout.point_head(&kept.branch)
}

/// Takes it back. A branch that was moved meanwhile stays.
pub(crate) fn take_back_kept(
    repo: &Repo,
    checkout: &Checkout,
    kept: &Kept,
) -> Result<(), GitError> {
    if checkout.head_branch()?.as_deref() == Some(&kept.branch) {
        checkout.point_head(&kept.was)?;
    }
    match &kept.commit {
        Some(commit) if repo.branch_commit(&kept.branch)?.as_ref() == Some(commit) => {
            repo.delete_branch(&kept.branch, commit)
        }
        _ => Ok(()),
    }
}
