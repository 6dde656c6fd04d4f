//! The target branch: where it is checked out, and its move by compare-and-swap.

use std::path::PathBuf;

use crate::git::{Checkout, GitError, Repo};

impl Repo {
    /// Every checkout that has this branch now.
    pub(crate) fn checkouts_of(&self, branch: &str) -> Result<Vec<PathBuf>, GitError> {
        Ok(self
            .worktrees()?
            .into_iter()
            .filter(|entry| entry.branch.as_deref() == Some(branch) && entry.prunable.is_none())
            .map(|entry| entry.path)
            .collect())
    }

    /// The checkout in which this branch is being rebased: its HEAD is detached until that is done.
    pub(crate) fn rebased_in(&self, branch: &str) -> Result<Option<PathBuf>, GitError> {
        let name = format!("refs/heads/{branch}");
        for entry in self.worktrees()? {
            if entry.branch.is_some() || entry.prunable.is_some() {
                continue;
            }
            let Ok(checkout) = Checkout::live(self, &entry.path) else {
                continue;
            };
            let named = ["rebase-merge/head-name", "rebase-apply/head-name"]
                .iter()
                .filter_map(|file| std::fs::read_to_string(checkout.git_dir.join(file)).ok())
                .any(|text| text.trim() == name);
            if named {
                return Ok(Some(entry.path));
            }
        }
        Ok(None)
    }

    /// Moves a branch if it is still at the commit that the caller saw.
    pub(crate) fn move_branch(
        &self,
        name: &str,
        from: &str,
        to: &str,
        why: &str,
    ) -> Result<(), GitError> {
        let command = self
            .git()
            .args(["update-ref", "-m", why])
            .arg(format!("refs/heads/{name}"))
            .args([to, from]);
        let output = command.output()?;
        if output.success() {
            return Ok(());
        }
        match self.branch_commit(name)? {
            Some(found) if found == to => Ok(()),
            Some(found) if found != from => Err(GitError::BranchMoved {
                name: name.to_owned(),
                expected: from.to_owned(),
                found,
            }),
            Some(_) => Err(command.status_failure(&output).into()),
            None => Err(GitError::NoSuchBranch {
                name: name.to_owned(),
            }),
        }
    }
}
