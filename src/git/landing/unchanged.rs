//! Whether files of a checkout are as a commit has them, read from its index and the stat data on disk.
//!
//! Git answers the same in two calls that each read the whole index. Here the answer is "yes" or "ask git":
//! whatever is not certain is left to git.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::changes::Change;
use crate::git::index::{CachedStat, Entry, Index, SYMLINK};
use crate::git::{Checkout, Repo};

/// Whether certainly none of these paths is changed, staged or hidden from git.
pub(super) fn is_untouched(repo: &Repo, checkout: &Checkout, changes: &[Change]) -> bool {
    let paths: HashSet<&[u8]> = changes.iter().map(path_of).collect();
    let wanted = |path: &[u8]| paths.contains(path);
    let Ok(Some(index)) = Index::read_plain_of(repo, checkout, wanted) else {
        return false;
    };
    let mut directories = HashSet::new();
    changes.iter().all(|change| {
        if change.submodule {
            return false;
        }
        let path = path_of(change);
        if change.added {
            return !has(&index, path);
        }
        let Some(entry) = index.find(path) else {
            return false;
        };
        let hidden = entry.assume_unchanged || entry.skip_worktree || entry.intent_to_add;
        let as_in_commit = entry.mode == change.old.0 && entry.id() == change.old.1;
        as_in_commit
            && !hidden
            && are_directories(&checkout.dir, &change.path, &mut directories)
            && is_on_disk(&checkout.dir.join(&change.path), entry, &index)
    })
}

fn path_of(change: &Change) -> &[u8] {
    change.path.as_os_str().as_bytes()
}

/// Whether the index has a path at any stage.
fn has(index: &Index, path: &[u8]) -> bool {
    let at = index
        .entries
        .partition_point(|entry| entry.path.as_slice() < path);
    index
        .entries
        .get(at)
        .is_some_and(|entry| entry.path == path)
}

/// Whether every directory on the way to a file is one, and no link to one.
fn are_directories<'a>(root: &Path, file: &'a Path, known: &mut HashSet<&'a Path>) -> bool {
    let inside = |part: &&Path| !part.as_os_str().is_empty();
    file.ancestors().skip(1).filter(inside).all(|part| {
        known.contains(part)
            || root
                .join(part)
                .symlink_metadata()
                .is_ok_and(|found| found.is_dir())
                && known.insert(part)
    })
}

fn is_on_disk(file: &Path, entry: &Entry, index: &Index) -> bool {
    let Ok(found) = file.symlink_metadata() else {
        return false;
    };
    let mode = match found.mode() {
        _ if found.is_symlink() => SYMLINK,
        _ if !found.is_file() => return false,
        mode if mode & 0o100 != 0 => 0o100_755,
        _ => 0o100_644,
    };
    let stat = CachedStat {
        ctime: (found.ctime() as u32, found.ctime_nsec() as u32),
        mtime: (found.mtime() as u32, found.mtime_nsec() as u32),
        inode: found.ino() as u32,
        uid: found.uid(),
        gid: found.gid(),
        size: found.size() as u32,
    };
    entry.is_unchanged(mode, &stat, index.written)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    struct Scratch {
        _directory: tempfile::TempDir,
        root: PathBuf,
        repo: Repo,
        checkout: Checkout,
    }

    impl Scratch {
        /// Two commits, of which the first is checked out, with an index that is older than no file.
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path().canonicalize().unwrap();
            let git = |words: &[&str]| {
                let call = crate::git::call::git().directory(&root).args(words);
                call.run().unwrap()
            };
            git(&["init", "-q", "-b", "main"]);
            std::fs::create_dir(root.join("dir")).unwrap();
            for file in ["dir/changed", "gone", "other"] {
                std::fs::write(root.join(file), "one\n").unwrap();
            }
            git(&["add", "."]);
            git(&["commit", "-q", "-m", "first"]);
            git(&["branch", "first"]);
            std::fs::write(root.join("dir/changed"), "two\n").unwrap();
            std::fs::write(root.join("added"), "two\n").unwrap();
            git(&["rm", "-q", "gone"]);
            git(&["add", "."]);
            git(&["commit", "-q", "-m", "second"]);
            git(&["branch", "second"]);
            git(&["reset", "-q", "--hard", "first"]);
            let repo = Repo::discover(&root).unwrap();
            let checkout = Checkout::live(&repo, &root).unwrap();
            let scratch = Self {
                _directory: directory,
                root,
                repo,
                checkout,
            };
            scratch.settle();
            scratch
        }

        fn git(&self, words: &[&str]) {
            let call = crate::git::call::git().directory(&self.root).args(words);
            call.run().unwrap();
        }

        /// The index counts as younger than every file.
        fn settle(&self) {
            let index = std::fs::File::open(self.checkout.index_path()).unwrap();
            let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
            index.set_modified(later).unwrap();
        }

        fn changes(&self) -> Vec<Change> {
            self.repo.changes("first", "second").unwrap()
        }

        fn is_untouched(&self) -> bool {
            is_untouched(&self.repo, &self.checkout, &self.changes())
        }

        fn obstacles(&self) -> Vec<PathBuf> {
            let changes = self.changes();
            self.checkout.obstacles(&self.repo, &changes).unwrap()
        }
    }

    #[test]
    fn a_clean_checkout_needs_no_git() {
        let scratch = Scratch::new();
        assert_eq!(scratch.changes().len(), 3);
        assert!(scratch.is_untouched());
        // What does not land does not matter.
        std::fs::write(scratch.root.join("other"), "mine\n").unwrap();
        assert!(scratch.is_untouched());
        assert_eq!(scratch.obstacles(), Vec::<PathBuf>::new());
    }

    #[test]
    fn every_touched_path_is_seen() {
        type Act = fn(&Scratch);
        let cases: [(&str, Act, &[&str]); 8] = [
            (
                "changed",
                |it| std::fs::write(it.root.join("dir/changed"), "mine\n").unwrap(),
                &["dir/changed"],
            ),
            (
                "staged",
                |it| {
                    std::fs::write(it.root.join("gone"), "mine\n").unwrap();
                    it.git(&["add", "gone"]);
                },
                &["gone"],
            ),
            (
                "deleted",
                |it| std::fs::remove_file(it.root.join("gone")).unwrap(),
                &["gone"],
            ),
            (
                "hidden",
                |it| it.git(&["update-index", "--assume-unchanged", "dir/changed"]),
                &["dir/changed"],
            ),
            (
                "a link in place of the directory",
                |it| {
                    std::fs::rename(it.root.join("dir"), it.root.join("moved")).unwrap();
                    std::os::unix::fs::symlink("moved", it.root.join("dir")).unwrap();
                },
                &["dir/changed"],
            ),
            (
                "in the way",
                |it| std::fs::write(it.root.join("added"), "mine\n").unwrap(),
                &["added"],
            ),
            (
                "staged as new",
                |it| {
                    std::fs::write(it.root.join("added"), "mine\n").unwrap();
                    it.git(&["add", "added"]);
                },
                &["added"],
            ),
            (
                "executable",
                |it| {
                    use std::os::unix::fs::PermissionsExt;
                    let mode = std::fs::Permissions::from_mode(0o755);
                    std::fs::set_permissions(it.root.join("dir/changed"), mode).unwrap();
                },
                &["dir/changed"],
            ),
        ];
        for (name, act, wanted) in cases {
            let scratch = Scratch::new();
            act(&scratch);
            scratch.settle();
            let wanted: Vec<PathBuf> = wanted.iter().map(PathBuf::from).collect();
            assert_eq!(scratch.obstacles(), wanted, "{name}");
            // A file in no commit is found by looking at it, whatever git is asked.
            assert_eq!(scratch.is_untouched(), name == "in the way", "{name}");
        }
    }

    #[test]
    fn what_is_uncertain_is_for_git() {
        for act in [
            &["update-index", "--split-index"][..],
            &["update-index", "--skip-worktree", "dir/changed"],
        ] {
            let scratch = Scratch::new();
            scratch.git(act);
            scratch.settle();
            assert!(!scratch.is_untouched(), "{act:?}");
        }
        // A file as young as the index may have been written to after git looked.
        let scratch = Scratch::new();
        let young = scratch.root.join("dir/changed").metadata().unwrap();
        let index = std::fs::File::open(scratch.checkout.index_path()).unwrap();
        index.set_modified(young.modified().unwrap()).unwrap();
        assert!(!scratch.is_untouched());
        // A file that was only touched is clean, as git finds by reading it.
        let scratch = Scratch::new();
        let file = std::fs::File::open(scratch.root.join("dir/changed")).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH)
            .unwrap();
        assert!(!scratch.is_untouched());
        assert_eq!(scratch.obstacles(), Vec::<PathBuf>::new());
    }
}
