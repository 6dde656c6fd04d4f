//! The administrative directory of a linked worktree, found without asking git.

use std::path::{Path, PathBuf};

use super::call::bytes_to_path;

/// What a linked worktree's `.git` file points to, without asking git.
pub(crate) fn admin_dir_of(worktree: &Path) -> Option<PathBuf> {
    let link = std::fs::read(worktree.join(".git")).ok()?;
    let target = link.strip_prefix(b"gitdir: ")?;
    let target = target.strip_suffix(b"\n").unwrap_or(target);
    Some(worktree.join(bytes_to_path(target)))
}

/// The directory of the repository that an administrative directory belongs to.
pub(crate) fn common_dir_of(git_dir: &Path) -> Option<PathBuf> {
    let said = std::fs::read(git_dir.join("commondir")).ok()?;
    let said = said.strip_suffix(b"\n").unwrap_or(&said);
    canonical(&git_dir.join(bytes_to_path(said)))
}

pub(crate) fn canonical(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}
