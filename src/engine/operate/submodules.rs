//! Submodules of a new worktree. Git does not check them out with it, and an agent would find empty directories.

use std::path::Path;

use crate::engine::base::Progress;
use crate::model::printable_line;

/// A longer file is not read.
const LONGEST: u64 = 1024 * 1024;

/// Names the submodules that are not checked out, and what to do about them.
pub(in crate::engine) fn name_missing(worktree: &Path, progress: &mut dyn Progress) {
    let missing = missing(worktree);
    if !missing.is_empty() {
        progress.note(&format!(
            "submodules are not checked out: {}. `git submodule update --init` does it, also as `run` of \
             [setup] in .bivouac.toml",
            printable_line(&missing.join(", "))
        ));
    }
}

fn missing(worktree: &Path) -> Vec<String> {
    let file = worktree.join(".gitmodules");
    let regular = std::fs::symlink_metadata(&file);
    if !regular.is_ok_and(|file| file.is_file() && file.len() <= LONGEST) {
        return Vec::new();
    }
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("path")?.trim().strip_prefix('='))
        .map(|path| path.trim().trim_matches('"').to_owned())
        .filter(|path| {
            let directory = worktree.join(path);
            directory.is_dir() && !directory.join(".git").exists()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_submodules_that_are_empty_are_missing() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(missing(dir.path()), Vec::<String>::new());
        let modules = "[submodule \"a\"]\n\tpath = libs/a\n\turl = ../a\n\
                       [submodule \"b\"]\n\turl = ../b\n\tpath=libs/b\n";
        std::fs::write(dir.path().join(".gitmodules"), modules).unwrap();
        std::fs::create_dir_all(dir.path().join("libs/a")).unwrap();
        std::fs::create_dir_all(dir.path().join("libs/b")).unwrap();
        std::fs::write(dir.path().join("libs/b/.git"), "gitdir: ../x").unwrap();
        assert_eq!(missing(dir.path()), ["libs/a"]);
    }
}
