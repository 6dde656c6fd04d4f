//! The part of a fingerprint that travels: what is the same on another machine, at another path.

use std::path::Path;

use crate::fingerprint::fingerprint;

/// What is the same wherever the worktree lies.
pub(crate) fn portable(main: &Path, worktree: &Path) -> Vec<String> {
    const KINDS: &[&str] = &[
        "path ",
        "admin ",
        "status: ",
        "entries: ",
        "flags: ",
        "resolve-undo: ",
        "HEAD: ",
        "branch: ",
        "own refs: ",
        "log: ",
        "staged: ",
        "submodules: ",
    ];
    // The links between the two halves of a worktree, and files that git writes to speed itself up.
    const NOT: &[&str] = &[
        "path .git: ",
        "admin gitdir: ",
        "admin commondir: ",
        "admin sharedindex.",
        "admin index.lock",
    ];
    fingerprint(main, worktree)
        .into_iter()
        .filter(|line| KINDS.iter().any(|kind| line.starts_with(kind)))
        .filter(|line| !NOT.iter().any(|kind| line.starts_with(kind)))
        .collect()
}
