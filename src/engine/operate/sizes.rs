//! What an instance takes on the disk. Every file is looked at, so it is counted only where it is asked for.

use std::path::Path;

use crate::engine::base::saved::SavedWork;
use crate::engine::base::view::SizeView;
use crate::engine::base::{Core, Error, Scope};
use crate::git::Repo;

impl Core {
    /// The sizes of all files of an instance, killed ones too.
    pub(crate) fn sizes(&self, given: &str) -> Result<SizeView, Error> {
        let record = self.find(given, Scope::WithKilled)?.record;
        let parked = SavedWork::of(&record)?.parking;
        let there = |path: &Path| path.is_dir().then(|| bytes_below(path));
        Ok(SizeView {
            worktree_bytes: there(&record.worktree.path),
            put_away_bytes: parked.and_then(|place| there(&place.parked_worktree)),
            // A repository that is away has no size.
            repository_saved_bytes: Repo::discover(&record.repository.root)
                .ok()
                .map(|repository| bytes_below(&repository.vault_dir())),
        })
    }
}

/// What cannot be read, or is gone meanwhile, counts nothing.
pub(in crate::engine) fn bytes_below(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, found)| match found.is_dir() {
            true => bytes_below(&path),
            false => found.len(),
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_and_links_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().join("top");
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::write(top.join("one"), [0; 100]).unwrap();
        std::fs::write(top.join("a/b/two"), [0; 20]).unwrap();
        let beside = directory.path().join("beside");
        std::fs::create_dir(&beside).unwrap();
        std::fs::write(beside.join("large"), [0; 5000]).unwrap();
        assert_eq!(bytes_below(&top), 120);
        std::os::unix::fs::symlink(&beside, top.join("link")).unwrap();
        assert!((121..1000).contains(&bytes_below(&top)));
        assert_eq!(bytes_below(&top.join("nowhere")), 0);
    }
}
