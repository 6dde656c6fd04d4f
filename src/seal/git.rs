//! What git needs of a repository for one linked worktree.
//!
//! Measured with git 2.47: a commit creates objects, `<branch>.lock` beside the file of the branch and renames
//! it, and appends to the branch's log. A lock beside the branch needs the right to create and rename in that
//! directory, which is the right to replace every branch in it: so a sealed worktree has a branch in a
//! directory of its own. Commit, switch, cherry-pick and rebase also create `packed-refs.lock` in the common
//! directory, to delete a ref of the worktree's own: so with namespaces the common directory is a private one,
//! into which the parts of the real one are mounted.

use std::path::{Path, PathBuf};

use super::plan::{Grant, Replacement, Where};

/// The last part of the name of a branch in a directory of its own.
pub(crate) const OWN_BRANCH: &str = "work";
/// git removes directories of refs that are empty, and does not take this file for a branch.
pub(crate) const KEEPER: &str = ".bivouac-seal";

/// What is seen of the common directory. Not the other worktrees, nor the saved work of others.
const SEEN: [&str; 9] = [
    "HEAD",
    "description",
    "hooks",
    "info",
    "logs",
    "refs",
    "shallow",
    "lfs",
    "modules",
];
/// Names in the private common directory that are taken, so that git fails to create a file there. Packing refs
/// would write a private `packed-refs` and then delete the branches themselves.
pub(crate) const TAKEN: [&str; 2] = ["packed-refs.new", "gc.pid.lock"];
/// Added to the private copy of the configuration: what other worktrees still need is not seen here, so
/// nothing may be pruned.
const PRECIOUS: &str = "\n[extensions]\n\tpreciousObjects = true\n";

/// The linked worktree of a seal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SealedWorktree<'a> {
    pub worktree: &'a Path,
    /// The directory that all worktrees share.
    pub common: &'a Path,
    /// The worktree's own directory in it.
    pub admin: &'a Path,
    /// None for a detached HEAD: then no branch can be written.
    pub branch: Option<&'a str>,
    /// Where the private common directory is made.
    pub private: &'a Path,
}

/// What is granted, hidden and protected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GitRules {
    pub grants: Vec<Grant>,
    pub replacement: Replacement,
    pub masks: Vec<PathBuf>,
    pub shields: Vec<PathBuf>,
    /// Directories that must exist.
    pub directories: Vec<PathBuf>,
}

/// The directory of refs that belongs to this branch alone, if it has one: `a/b/work` → `a/b`.
pub(crate) fn own_directory(branch: &str) -> Option<&str> {
    branch.rsplit_once('/').map(|(directory, _)| directory)
}

/// `entries` are the names in the common directory.
pub(crate) fn rules(site: SealedWorktree<'_>, entries: &[String]) -> GitRules {
    let common = site.common;
    let mut rules = GitRules {
        grants: vec![
            Grant::write(site.worktree),
            Grant::write(site.admin),
            Grant::write(common.join("objects")),
        ],
        replacement: Replacement {
            source: site.private.to_owned(),
            target: common.to_owned(),
        },
        masks: TAKEN.iter().map(|name| common.join(name)).collect(),
        // By these a git outside would be led to another configuration, and to programs that it names.
        shields: vec![
            site.worktree.join(".git"),
            site.admin.join("commondir"),
            site.admin.join("gitdir"),
            site.admin.join("config.worktree"),
            common.join("config"),
        ],
        directories: Vec::new(),
    };
    let seen = SEEN.iter().map(|name| Grant::read(common.join(name)));
    rules
        .grants
        .extend(seen.map(|grant| grant.within(Where::WithNamespaces)));
    // Landlock alone cannot give another directory for this one, nor hide a part of what it grants.
    let shown = entries
        .iter()
        .filter(|name| !matches!(name.as_str(), "worktrees" | "bivouac"));
    rules
        .grants
        .extend(shown.map(|name| Grant::read(common.join(name)).within(Where::LandlockAlone)));
    if let Some(directory) = site.branch.and_then(own_directory) {
        for kind in ["refs/heads", "logs/refs/heads"] {
            let path = common.join(kind).join(directory);
            rules.grants.push(Grant::write(&path));
            rules.directories.push(path);
        }
    }
    rules
}

/// The text of the private configuration.
pub(crate) fn private_config(config: &str) -> String {
    format!("{config}{PRECIOUS}")
}
