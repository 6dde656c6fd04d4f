//! Compares the branch of a paused worktree with its snapshot.

use std::path::PathBuf;

use crate::git::{GitError, Repo};
use crate::vault::fact::SnapshotFact;
use crate::vault::stamp::join;

/// What became of the branch while its worktree was away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BranchPosition {
    /// It is at the same commit, or HEAD was detached: the parked worktree fits as it is.
    Same,
    Moved {
        branch: String,
        from: Option<String>,
        to: String,
        /// Whether the new commit has the old one in its history.
        forward: bool,
    },
    Deleted {
        branch: String,
        was: String,
    },
    Elsewhere {
        branch: String,
        path: PathBuf,
    },
}

/// Compares the branch with what the snapshot remembers of it.
pub(crate) fn branch_position(
    repo: &Repo,
    fact: &SnapshotFact,
) -> Result<BranchPosition, GitError> {
    let Some(branch) = fact.branch.clone() else {
        return Ok(BranchPosition::Same);
    };
    let (in_use, now) = std::thread::scope(|scope| {
        let now = scope.spawn(|| repo.branch_commit(&branch));
        (repo.branch_in_use(&branch), join(now))
    });
    if let Some(path) = in_use? {
        return Ok(BranchPosition::Elsewhere { branch, path });
    }
    let now = now?;
    Ok(match (fact.head.clone(), now) {
        (was, now) if was == now => BranchPosition::Same,
        (Some(was), None) => BranchPosition::Deleted { branch, was },
        (from, Some(to)) => {
            let forward = match &from {
                Some(from) => repo
                    .git()
                    .args(["merge-base", "--is-ancestor", from, &to])
                    .output()?
                    .success(),
                None => true,
            };
            BranchPosition::Moved {
                branch,
                from,
                to,
                forward,
            }
        }
        (None, None) => BranchPosition::Same,
    })
}
