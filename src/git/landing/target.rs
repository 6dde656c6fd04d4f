//! The target branch: where it is checked out, and its move by compare-and-swap.

use std::path::{Path, PathBuf};

use crate::git::admin::{Head, canonical, heads};
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
        match self.branch_use_on_disk(branch) {
            Some(found) => Ok(found),
            None => self.branch_use_by_git(branch),
        }
    }

    /// The same without a call of git; None if git has to say.
    fn branch_use_on_disk(&self, branch: &str) -> Option<BranchUse> {
        let name = format!("refs/heads/{branch}");
        let mut found = BranchUse::default();
        if self.is_bare() {
            return None;
        }
        for (admin, place, head) in heads(self.common_dir(), self.id_length())? {
            let place = place.unwrap_or_else(|| self.root().to_owned());
            let ours = match head {
                Head::Branch(other) => other == branch,
                Head::Detached if head_name(&admin).any(|rebased| rebased == name) => return None,
                Head::Detached => false,
            };
            if ours {
                let checkout = Checkout::live_on_disk(self, &place)?;
                if canonical(&checkout.git_dir)? != canonical(&admin)? {
                    return None;
                }
                found.checked_out.push(checkout);
            }
        }
        Some(found)
    }

    fn branch_use_by_git(&self, branch: &str) -> Result<BranchUse, GitError> {
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
    head_name(&checkout.git_dir).any(|rebased| rebased == branch)
}

/// What is rebased in a checkout.
fn head_name(git_dir: &Path) -> impl Iterator<Item = String> {
    ["rebase-merge/head-name", "rebase-apply/head-name"]
        .into_iter()
        .filter_map(|file| std::fs::read_to_string(git_dir.join(file)).ok())
        .map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is said without git must be what git says; where it is not certain, git is asked.
    #[test]
    fn where_a_branch_is_used_is_what_git_says() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().canonicalize().unwrap();
        let root = directory.join("repo");
        std::fs::create_dir(&root).unwrap();
        let git = |words: &[&str]| {
            let call = crate::git::call::git().directory(&root).args(words);
            call.run().unwrap()
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        let repo = Repo::discover(&root).unwrap();
        let places = |found: BranchUse| {
            let mut places: Vec<_> = found.checked_out.into_iter().map(|it| it.dir).collect();
            places.sort();
            (places, found.rebased_at)
        };
        let compare = |branch: &str, certain: bool| {
            let read = repo.branch_use_on_disk(branch).map(places);
            assert_eq!(read.is_some(), certain, "{branch}");
            let asked = places(repo.branch_use_by_git(branch).unwrap());
            if let Some(read) = read {
                assert_eq!(read, asked, "{branch}");
            }
        };
        let other = directory.join("other");
        let loose = directory.join("loose");
        git(&[
            "worktree",
            "add",
            "-q",
            "-b",
            "a/b",
            other.to_str().unwrap(),
        ]);
        git(&["worktree", "add", "-q", "--detach", loose.to_str().unwrap()]);
        git(&[
            "worktree",
            "add",
            "-q",
            "-f",
            directory.join("twice").to_str().unwrap(),
            "main",
        ]);
        git(&["branch", "free"]);
        for branch in ["main", "a/b", "free", "none", "b", "a"] {
            compare(branch, true);
        }
        git(&["pack-refs", "--all"]);
        for branch in ["main", "a/b", "free"] {
            compare(branch, true);
        }
        // One that is rebased has its HEAD detached.
        let admin = crate::git::admin_dir_of(&loose).unwrap();
        std::fs::create_dir(admin.join("rebase-merge")).unwrap();
        std::fs::write(admin.join("rebase-merge/head-name"), "refs/heads/free\n").unwrap();
        compare("free", false);
        assert_eq!(repo.branch_use("free").unwrap().rebased_at, Some(loose));
        compare("main", true);
        // A directory that was deleted: git says whether it counts.
        std::fs::remove_dir_all(&other).unwrap();
        compare("a/b", false);
        compare("main", true);
        // A branch that is another name for one.
        git(&["symbolic-ref", "refs/heads/alias", "refs/heads/free"]);
        git(&["symbolic-ref", "HEAD", "refs/heads/alias"]);
        compare("free", false);
    }
}
