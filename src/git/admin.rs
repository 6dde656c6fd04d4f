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

/// The commit in the file of a branch; None where there is no such file, or something else in it.
pub(crate) fn loose_branch(common_dir: &Path, name: &str, length: usize) -> Option<String> {
    // Only names that git allows: none of them leads out of the directory.
    let plain = !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    let file = common_dir.join("refs/heads").join(plain.then_some(name)?);
    let text = std::fs::read_to_string(file).ok()?;
    let id = text.strip_suffix('\n')?;
    let whole = id.len() == length && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| id.to_owned())
}

pub(crate) fn canonical(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}
