//! A checkout of the target that follows it: by the same two-tree merge as `git merge --ff`, and only
//! if nothing of the user's is in the way.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::changes::Change;
use super::unchanged::is_untouched;
use crate::git::call::{SLOW, bytes_to_path, fetching, fields};
use crate::git::{Checkout, GitError, Repo};
use crate::process::Command;

/// With more paths than this a call is not limited to them, because arguments have a limit.
const MOST_ARGUMENTS: usize = 500;

impl Checkout {
    /// What keeps this checkout from following: files among these paths that are changed, staged or
    /// hidden from git, and files that are in no commit where the new commit has one.
    pub(crate) fn obstacles(
        &self,
        repo: &Repo,
        changes: &[Change],
    ) -> Result<Vec<PathBuf>, GitError> {
        let mut found = match is_untouched(repo, self, changes) {
            true => Vec::new(),
            false => self.touched(changes)?,
        };
        found.extend(self.in_the_way(changes));
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Files among these paths that are changed, staged or hidden from git, as git says.
    fn touched(&self, changes: &[Change]) -> Result<Vec<PathBuf>, GitError> {
        let touched: HashSet<&Path> = changes.iter().map(|change| change.path.as_path()).collect();
        let mut found: Vec<PathBuf> = Vec::new();
        let status = limited(
            self.git()
                .args(["status", "--porcelain=v1", "-z", "--no-renames"])
                .args(["--untracked-files=no", "--ignore-submodules=none"]),
            changes,
        );
        // Git would not look at an `assume-unchanged` file before it writes over it.
        let listing = limited(self.git().args(["ls-files", "-v", "-z"]), changes);
        // Two independent calls run side by side.
        let (status, listing) = std::thread::scope(|scope| {
            let listing = scope.spawn(|| listing.deadline(SLOW).run());
            (status.deadline(SLOW).run(), listing.join())
        });
        let listing = listing.map_err(|_| GitError::Unexpected {
            call: "git ls-files -v".to_owned(),
            answer: String::new(),
        })?;
        for line in fields(&status?) {
            let path = bytes_to_path(line.get(3..).unwrap_or_default());
            if touched.contains(path.as_path()) {
                found.push(path);
            }
        }
        for line in fields(&listing?) {
            let path = bytes_to_path(line.get(2..).unwrap_or_default());
            if line.first().is_some_and(u8::is_ascii_lowercase) && touched.contains(path.as_path())
            {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// Files in no commit, ignored ones too, where the new commit has a file or a directory.
    fn in_the_way(&self, changes: &[Change]) -> Vec<PathBuf> {
        let leaving: HashSet<&Path> = changes
            .iter()
            .filter(|change| change.deleted)
            .map(|change| change.path.as_path())
            .collect();
        let mut found = Vec::new();
        for change in changes.iter().filter(|change| change.added) {
            for part in parents_first(&change.path) {
                let Ok(metadata) = std::fs::symlink_metadata(self.dir.join(part)) else {
                    break;
                };
                if leaving.contains(part) {
                    break;
                }
                match metadata.is_dir() {
                    true if part != change.path => {}
                    true => found.extend(self.kept_below(part, &leaving)),
                    // A file system that ignores case shows the old name's file here.
                    false if self.is_renamed(part, &metadata, &leaving) => break,
                    false => {
                        found.push(part.to_owned());
                        break;
                    }
                }
            }
        }
        found
    }

    /// Files below a directory that the new commit has a file for, except those that it deletes.
    fn kept_below(&self, dir: &Path, leaving: &HashSet<&Path>) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![dir.to_owned()];
        while let Some(dir) = open.pop() {
            let Ok(entries) = std::fs::read_dir(self.dir.join(&dir)) else {
                found.push(dir);
                continue;
            };
            for entry in entries.flatten() {
                let path = dir.join(entry.file_name());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => open.push(path),
                    _ if leaving.contains(path.as_path()) => {}
                    _ => found.push(path),
                }
            }
        }
        found
    }

    fn is_renamed(
        &self,
        path: &Path,
        metadata: &std::fs::Metadata,
        leaving: &HashSet<&Path>,
    ) -> bool {
        let folded = path.as_os_str().to_ascii_lowercase();
        leaving
            .iter()
            .filter(|old| old.as_os_str().to_ascii_lowercase() == folded)
            .filter_map(|old| std::fs::symlink_metadata(self.dir.join(old)).ok())
            .any(|old| (old.dev(), old.ino()) == (metadata.dev(), metadata.ino()))
    }

    /// Whether the index has these paths as the commit has them.
    pub(crate) fn index_is_at(&self, commit: &str, changes: &[Change]) -> Result<bool, GitError> {
        let listing = limited(
            self.git()
                .args(["diff-index", "--cached", "--name-only", "-z", commit]),
            changes,
        );
        let touched: HashSet<&Path> = changes.iter().map(|change| change.path.as_path()).collect();
        let differing = listing.deadline(SLOW).run()?;
        Ok(!fields(&differing).any(|path| touched.contains(bytes_to_path(path).as_path())))
    }

    /// Brings index and files from one commit to another. Git refuses, before it changes anything, if a
    /// file that it would write or delete is not as in the old commit.
    pub(crate) fn follow(&self, old: &str, new: &str) -> Result<(), GitError> {
        let two_trees = || {
            fetching(self.git())
                .args(["read-tree", "-m", "-u", old, new])
                .deadline(SLOW)
                .run()
        };
        if two_trees().is_ok() {
            return Ok(());
        }
        // Files that were only touched count as changed until the index has their new times.
        let refresh = self.git().args(["update-index", "-q", "--refresh"]);
        refresh.deadline(SLOW).output()?;
        two_trees()?;
        Ok(())
    }
}

/// The path's directories, outermost first, then the path itself.
fn parents_first(path: &Path) -> Vec<&Path> {
    let mut parts: Vec<&Path> = path
        .ancestors()
        .filter(|part| !part.as_os_str().as_bytes().is_empty())
        .collect();
    parts.reverse();
    parts
}

fn limited(command: Command, changes: &[Change]) -> Command {
    let command = command.arg("--");
    if changes.len() > MOST_ARGUMENTS {
        return command;
    }
    command.args(changes.iter().map(|change| change.path.as_os_str()))
}
