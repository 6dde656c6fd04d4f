//! Where the branch of a paused worktree stands now.

use std::path::PathBuf;

use crate::git::{GitError, Repo};
use crate::vault::fact::SnapshotFact;
use crate::vault::sight::join;

/// What became of the branch while its worktree was away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BranchStanding {
    /// It stands where it stood, or HEAD was detached: what was parked fits as it is.
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
pub(crate) fn branch_standing(
    repo: &Repo,
    fact: &SnapshotFact,
) -> Result<BranchStanding, GitError> {
    let Some(branch) = fact.branch.clone() else {
        return Ok(BranchStanding::Same);
    };
    let (in_use, now) = std::thread::scope(|scope| {
        let now = scope.spawn(|| repo.branch_commit(&branch));
        (repo.branch_in_use(&branch), join(now))
    });
    if let Some(path) = in_use? {
        return Ok(BranchStanding::Elsewhere { branch, path });
    }
    let now = now?;
    Ok(match (fact.head.clone(), now) {
        (was, now) if was == now => BranchStanding::Same,
        (Some(was), None) => BranchStanding::Deleted { branch, was },
        (from, Some(to)) => {
            let forward = match &from {
                Some(from) => repo
                    .git()
                    .args(["merge-base", "--is-ancestor", from, &to])
                    .output()?
                    .success(),
                None => true,
            };
            BranchStanding::Moved {
                branch,
                from,
                to,
                forward,
            }
        }
        (None, None) => BranchStanding::Same,
    })
}
