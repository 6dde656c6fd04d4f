//! A checkout of our own for a command: hooks, or a check.

use std::path::Path;

use crate::git::call::{SLOW, fetching};
use crate::git::disk::FileIdentity;
use crate::git::{Checkout, GitError, Repo};

impl Repo {
    /// Checks a commit out at a path, on no branch. Callers hold the repository's lock.
    pub(crate) fn add_scratch(&self, path: &Path, commit: &str) -> Result<Checkout, GitError> {
        fetching(self.git())
            .args(["worktree", "add", "--quiet", "--detach", "--force", "--"])
            .arg(path)
            .arg(commit)
            .deadline(SLOW)
            .run()?;
        Checkout::live(self, path)
    }

    /// Deletes it with everything in it. Callers hold the repository's lock.
    pub(crate) fn remove_scratch(&self, path: &Path) -> Result<(), GitError> {
        if FileIdentity::at(path)?.is_some() {
            std::fs::remove_dir_all(path).map_err(GitError::writing(path))?;
        }
        self.deregister_missing(path)
    }
}
