//! The target branch: where it is checked out, and its move by compare-and-swap.

use std::path::PathBuf;

use crate::git::{Checkout, GitError, Repo};

/// Where a branch is worked on.
#[derive(Debug, Default)]
pub(crate) struct BranchUse {
    pub checked_out: Vec<Checkout>,
    /// Its HEAD is detached until that is done.
    pub rebased_at: Option<PathBuf>,
}

impl Repo {
    /// Every checkout that has this branch now.
    pub(crate) fn checkouts_of(&self, branch: &str) -> Result<Vec<Checkout>, GitError> {
        Ok(self.branch_use(branch)?.checked_out)
    }

    /// Where a branch is checked out or rebased.
    pub(crate) fn branch_use(&self, branch: &str) -> Result<BranchUse, GitError> {
        let name = format!("refs/heads/{branch}");
        let mut found = BranchUse::default();
        for entry in self.worktrees()? {
            if entry.prunable.is_some() {
                continue;
            }
            match entry.branch.as_deref() {
                Some(other) if other == branch => {
                    found.checked_out.push(Checkout::live(self, &entry.path)?);
                }
                Some(_) => {}
                None => {
                    if let Ok(checkout) = Checkout::live(self, &entry.path)
                        && is_rebasing(&checkout, &name)
                    {
                        found.rebased_at = Some(entry.path);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Whether one commit is in the history of another.
    pub(crate) fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, GitError> {
        let command = self
            .git()
            .args(["merge-base", "--is-ancestor", older, newer]);
        Ok(command.output()?.success())
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

fn is_rebasing(checkout: &Checkout, branch: &str) -> bool {
    ["rebase-merge/head-name", "rebase-apply/head-name"]
        .iter()
        .filter_map(|file| std::fs::read_to_string(checkout.git_dir.join(file)).ok())
        .any(|text| text.trim() == branch)
}
