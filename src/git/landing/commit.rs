//! Commits that are the user's: with their name, and signed if their git would sign.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::git::call::{SLOW, git_of_user};
use crate::git::{GitError, Repo};
use crate::process::Command;

/// Whose work a commit is. Its committer is always the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Author {
    User,
    /// The author of a commit that is replayed, as bytes: old commits are in any encoding.
    As {
        name: Vec<u8>,
        email: Vec<u8>,
        date: Vec<u8>,
    },
}

impl Repo {
    pub(super) fn git_as_user(&self) -> Command {
        git_of_user()
            .directory(self.common_dir())
            .env("GIT_DIR", self.common_dir())
    }

    /// Makes a commit of a tree. The porcelain's `commit.gpgSign` is asked for here, because
    /// `commit-tree` does not look at it.
    pub(crate) fn commit_tree(
        &self,
        tree: &str,
        parents: &[&str],
        message: &[u8],
        author: &Author,
    ) -> Result<String, GitError> {
        let mut command = self.git_as_user().args(["commit-tree", tree]);
        for parent in parents {
            command = command.args(["-p", parent]);
        }
        if self.signs_commits()? {
            command = command.arg("-S");
        }
        if let Author::As { name, email, date } = author {
            let value = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
            command = command
                .env("GIT_AUTHOR_NAME", value(name))
                .env("GIT_AUTHOR_EMAIL", value(email))
                .env("GIT_AUTHOR_DATE", value(date));
        }
        // A key may have to be unlocked by the user.
        let made = command
            .args(["-F", "-"])
            .stdin(message)
            .deadline(SLOW)
            .text()?;
        Ok(made)
    }

    fn signs_commits(&self) -> Result<bool, GitError> {
        let output = self
            .git_as_user()
            .args(["config", "--type=bool", "--get", "commit.gpgSign"])
            .output()?;
        Ok(output.stdout_text() == "true")
    }
}
