//! What a checkout has that is in no commit.

use std::path::PathBuf;

use crate::git::call::{SLOW, bytes_to_path, fields};
use crate::git::{Checkout, GitError, Repo, ScratchDir};

/// What is in no commit, by what can be done about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Uncommitted {
    /// Changed, staged or untracked files.
    pub files: Vec<PathBuf>,
    /// Files with an unresolved conflict.
    pub unmerged: Vec<PathBuf>,
    /// Untracked directories that are repositories: a commit would hold a link and no content.
    pub nested: Vec<PathBuf>,
}

impl Uncommitted {
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.unmerged.is_empty() && self.nested.is_empty()
    }
}

/// Looks at a checkout without a lock on its index.
pub(crate) fn uncommitted(checkout: &Checkout) -> Result<Uncommitted, GitError> {
    let listing = checkout
        .git()
        .args(["status", "--porcelain=v1", "-z", "--no-renames"])
        .args(["--untracked-files=all", "--ignore-submodules=none"])
        .deadline(SLOW)
        .run()?;
    let mut found = Uncommitted::default();
    for line in fields(&listing) {
        let (Some(state), Some(path)) = (line.get(..2), line.get(3..)) else {
            continue;
        };
        let list = match state {
            b"??" if path.ends_with(b"/") => &mut found.nested,
            b"AA" | b"DD" => &mut found.unmerged,
            state if state.contains(&b'U') => &mut found.unmerged,
            _ => &mut found.files,
        };
        list.push(bytes_to_path(path));
    }
    Ok(found)
}

/// The tree that `git add -A` and a commit would make. The index of the checkout is not touched.
pub(crate) fn tree_of_everything(repo: &Repo, checkout: &Checkout) -> Result<String, GitError> {
    let scratch = ScratchDir::new(repo, "commit-")?;
    let private = scratch.path().join("index");
    std::fs::copy(checkout.index_path(), &private).map_err(GitError::writing(&private))?;
    let git = || checkout.git().env("GIT_INDEX_FILE", &private);
    git().args(["add", "-A", "--", "."]).deadline(SLOW).run()?;
    Ok(git().arg("write-tree").deadline(SLOW).text()?)
}
