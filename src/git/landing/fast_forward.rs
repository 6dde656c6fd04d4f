//! A branch and the one checkout that has it move forward together, by git's own fast-forward.

use crate::git::call::{SLOW, fetching};
use crate::git::{Checkout, GitError, Repo};

/// Whatever `merge.*` and `branch.*.mergeOptions` say: nothing is stashed, squashed or asked.
const PLAINLY: [&str; 7] = [
    "--ff-only",
    "--commit",
    "--no-squash",
    "--no-stat",
    "--no-autostash",
    "--no-verify-signatures",
    "--no-overwrite-ignore",
];

impl Checkout {
    /// Moves the branch that is checked out here from one commit to a later one, and its files with it; false
    /// if git refuses, before it has changed anything. `git read-tree` and `git update-ref` do the same in two
    /// calls, but drop what the index knows of whole directories, for which the next commit would wait.
    pub(crate) fn fast_forward(
        &self,
        repo: &Repo,
        branch: &str,
        (from, to): (&str, &str),
        why: &str,
    ) -> Result<bool, GitError> {
        let merge = fetching(self.git())
            .env("GIT_REFLOG_ACTION", why)
            // So that it says in full where it began.
            .args(["-c", "core.abbrev=no", "merge"])
            .args(PLAINLY)
            .arg(to);
        let output = merge.deadline(SLOW).output()?;
        // Nothing was moved where the branch has the commit already.
        let began = began(&output.stdout_text()).filter(|_| output.success());
        let Some(began) = began else {
            return Ok(false);
        };
        // Git compares with what it found when it began, not with what we saw before.
        let moved = self.head_branch()?;
        if moved.as_deref() == Some(branch) && began == from {
            return Ok(true);
        }
        if let Some(moved) = &moved {
            repo.move_branch(moved, to, &began, "moved meanwhile, taken back")?;
            self.follow(to, &began)?;
        }
        Err(GitError::BranchMoved {
            name: branch.to_owned(),
            expected: from.to_owned(),
            found: began,
        })
    }
}

/// Where a fast-forward began, as it says: `Updating OLD..NEW`.
fn began(said: &str) -> Option<String> {
    let moved = said
        .lines()
        .find_map(|line| line.strip_prefix("Updating "))?;
    Some(moved.split_once("..")?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    struct Scratch {
        _directory: tempfile::TempDir,
        root: PathBuf,
        repo: Repo,
        checkout: Checkout,
    }

    impl Scratch {
        /// Three commits on `main`, which is checked out at the second one.
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path().canonicalize().unwrap();
            git(&root, &["init", "-q", "-b", "main"]);
            std::fs::create_dir(root.join("dir")).unwrap();
            std::fs::write(root.join("dir/same"), "same\n").unwrap();
            for commit in ["first", "second", "third"] {
                std::fs::write(root.join("file"), commit).unwrap();
                git(&root, &["add", "."]);
                git(&root, &["commit", "-q", "-m", commit]);
                git(&root, &["tag", commit]);
            }
            git(&root, &["reset", "-q", "--hard", "second"]);
            let repo = Repo::discover(&root).unwrap();
            let checkout = Checkout::live(&repo, &root).unwrap();
            Self {
                _directory: directory,
                root,
                repo,
                checkout,
            }
        }

        fn forward(&self, from: &str, to: &str) -> Result<bool, GitError> {
            let (from, to) = (self.commit(from), self.commit(to));
            let moved = (from.as_str(), to.as_str());
            self.checkout
                .fast_forward(&self.repo, "main", moved, "test")
        }

        fn commit(&self, name: &str) -> String {
            git(&self.root, &["rev-parse", name])
        }

        /// The commit of `main`, the file, and what git finds changed.
        fn state(&self) -> (String, String, String) {
            (
                git(&self.root, &["describe", "--tags", "main"]),
                std::fs::read_to_string(self.root.join("file")).unwrap(),
                git(&self.root, &["status", "--porcelain"]),
            )
        }
    }

    fn git(directory: &Path, words: &[&str]) -> String {
        let call = crate::git::call::git().directory(directory).args(words);
        call.text().unwrap()
    }

    fn at(commit: &str, status: &str) -> (String, String, String) {
        (commit.to_owned(), commit.to_owned(), status.to_owned())
    }

    #[test]
    fn branch_index_and_files_move_together() {
        for setting in ["merge.ff=false", "merge.autoStash=true", "merge.log=true"] {
            let scratch = Scratch::new();
            let (name, value) = setting.split_once('=').unwrap();
            git(&scratch.root, &["config", name, value]);
            git(
                &scratch.root,
                &["config", "branch.main.mergeOptions", "--squash --no-ff"],
            );
            assert!(scratch.forward("second", "third").unwrap(), "{setting}");
            assert_eq!(scratch.state(), at("third", ""), "{setting}");
        }
    }

    #[test]
    fn a_branch_that_has_the_commit_is_left_alone() {
        for there in ["second", "first"] {
            let scratch = Scratch::new();
            assert!(!scratch.forward("second", there).unwrap(), "{there}");
            assert_eq!(scratch.state(), at("second", ""), "{there}");
        }
    }

    #[test]
    fn a_changed_file_is_never_written_over() {
        let scratch = Scratch::new();
        std::fs::write(scratch.root.join("file"), "mine").unwrap();
        git(&scratch.root, &["config", "merge.autoStash", "true"]);
        assert!(!scratch.forward("second", "third").unwrap());
        let (commit, file, status) = scratch.state();
        assert_eq!((commit.as_str(), file.as_str()), ("second", "mine"));
        assert_eq!(status, " M file");
    }

    #[test]
    fn one_that_was_moved_meanwhile_is_put_back() {
        let scratch = Scratch::new();
        git(&scratch.root, &["reset", "-q", "--hard", "first"]);
        let moved = scratch.forward("second", "third").unwrap_err();
        assert!(matches!(moved, GitError::BranchMoved { .. }), "{moved}");
        assert_eq!(scratch.state(), at("first", ""));
        // Another branch was checked out meanwhile.
        git(&scratch.root, &["checkout", "-q", "-b", "other"]);
        let moved = scratch.forward("second", "third").unwrap_err();
        assert!(matches!(moved, GitError::BranchMoved { .. }), "{moved}");
        assert_eq!(scratch.commit("other"), scratch.commit("first"));
        assert_eq!(scratch.state(), at("first", ""));
    }
}
