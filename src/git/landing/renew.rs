//! Brings a checkout of our own from one commit to another, so that a check finds exactly the files of the
//! second one, and build output of the first.
//!
//! Nothing that the last check has done to the files, to the index or to HEAD is relied upon: every file is
//! compared by its content. Files that are the same keep their time of change, by which build tools decide
//! what to build again.

use std::path::{Path, PathBuf};

use crate::git::admin::{admin_dir_of, canonical};
use crate::git::call::{SLOW, bytes_to_path, fetching, fields};
use crate::git::landing::uncommitted;
use crate::git::{Checkout, GitError, Repo};

/// Left behind by a git call that was killed.
const LOCKS: [&str; 3] = ["index.lock", "HEAD.lock", "config.worktree.lock"];

impl Repo {
    /// Makes a checkout that was made for `before` one of `commit`. Ignored files stay, other untracked ones are
    /// deleted. After an error it is not to be used.
    pub(crate) fn renew_scratch(
        &self,
        path: &Path,
        before: &str,
        commit: &str,
    ) -> Result<Checkout, GitError> {
        let unfit = || GitError::NotAWorktree {
            path: path.to_owned(),
        };
        let checkout = own_checkout(self, path).ok_or_else(unfit)?;
        if checkout.operation_in_progress().is_some() {
            return Err(unfit());
        }
        for name in LOCKS {
            remove_file(&checkout.git_dir.join(name))?;
        }
        let git = || fetching(checkout.git()).deadline(SLOW);
        // Not the branch that the last check may have switched to.
        git()
            .args(["update-ref", "--no-deref", "HEAD", commit])
            .run()?;
        // Without what the index knows about the files: flags may hide changes, and so may times.
        remove_file(&checkout.index_path())?;
        git().args(["read-tree", before]).run()?;
        // Its status only says whether some differ.
        git()
            .args(["update-index", "-q", "--refresh"])
            .output()
            .map_err(GitError::from)?;
        empty_submodules(&checkout)?;
        let switch = ["read-tree", "--reset", "-u", commit];
        git().args(switch).run()?;
        if self.attributes_differ(before, commit)? {
            // The same content may be another file now (ends of lines, filters).
            git().args(["read-tree", "--empty"]).run()?;
            git().args(switch).run()?;
        }
        empty_submodules(&checkout)?;
        git().args(["clean", "-ffdq"]).run()?;
        match uncommitted(&checkout)?.is_empty() {
            true => Ok(checkout),
            false => Err(unfit()),
        }
    }

    /// Leaves such a checkout on no branch. False where that is not possible.
    pub(crate) fn detach_scratch(&self, path: &Path) -> bool {
        let Some(checkout) = own_checkout(self, path) else {
            return false;
        };
        if checkout.operation_in_progress().is_some() {
            return false;
        }
        let detached = || -> Result<bool, GitError> {
            if checkout.head_branch()?.is_none() {
                return Ok(true);
            }
            let Some(commit) = checkout.head_commit()? else {
                return Ok(false);
            };
            checkout
                .git()
                .args(["update-ref", "--no-deref", "HEAD", &commit])
                .run()?;
            Ok(true)
        };
        detached().unwrap_or(false)
    }

    fn attributes_differ(&self, before: &str, commit: &str) -> Result<bool, GitError> {
        let changed = self
            .git()
            .args(["diff-tree", "-r", "-z", "--name-only", before, commit])
            .deadline(SLOW)
            .run()?;
        Ok(fields(&changed).any(|path| {
            let name = path.rsplit(|byte| *byte == b'/').next();
            name == Some(b".gitattributes")
        }))
    }
}

/// The linked worktree at a path, if its two halves name each other. What stands in its `.git` was in the
/// hands of a check: it must not lead to a worktree of the user.
fn own_checkout(repo: &Repo, path: &Path) -> Option<Checkout> {
    let admin = canonical(&admin_dir_of(path)?)?;
    let below = canonical(&repo.common_dir().join("worktrees"))?;
    let link = std::fs::read(admin.join("gitdir")).ok()?;
    let link = bytes_to_path(link.strip_suffix(b"\n").unwrap_or(&link));
    // A relative one (`worktree.useRelativePaths`) starts at the administrative directory.
    let named = canonical(&admin.join(link))?;
    let ours = admin.parent() == Some(below.as_path()) && named == canonical(&path.join(".git"))?;
    ours.then(|| Checkout::live(repo, path).ok()).flatten()
}

/// Submodules are not checked out by us. What the last check has checked out there is of another commit.
fn empty_submodules(checkout: &Checkout) -> Result<(), GitError> {
    let listing = checkout
        .git()
        .args(["ls-files", "--stage", "-z"])
        .deadline(SLOW)
        .run()?;
    let submodules = fields(&listing).filter_map(|line| {
        let path = line.strip_prefix(b"160000 ")?;
        path.splitn(2, |byte| *byte == b'\t').nth(1)
    });
    for path in submodules.map(bytes_to_path) {
        let Some(directory) = real_directory(&checkout.dir, &path) else {
            continue;
        };
        std::fs::remove_dir_all(&directory)
            .and_then(|()| std::fs::create_dir(&directory))
            .map_err(GitError::writing(&directory))?;
    }
    Ok(())
}

/// A directory inside another one that no link on the way leads out of.
fn real_directory(root: &Path, relative: &Path) -> Option<PathBuf> {
    let mut path = root.to_owned();
    for part in relative.components() {
        path.push(part);
        let found = path.symlink_metadata().ok()?;
        found.is_dir().then_some(())?;
    }
    Some(path)
}

fn remove_file(path: &Path) -> Result<(), GitError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::writing(path)(error))
        }
        _ => Ok(()),
    }
}
