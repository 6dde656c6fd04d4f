//! What must come out, computed from plain maps of paths.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::vault::MergeFact;
use crate::vault::digest::blob_id;

/// What is at one path: what can be compared of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    File {
        id: String,
        bytes: Vec<u8>,
        mode: u32,
        mtime: (i64, i64),
    },
    Link {
        id: String,
    },
    Directory,
}

impl Found {
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Self::File { id, .. } | Self::Link { id } => Some(id),
            Self::Directory => None,
        }
    }

    /// Whether it is what a tree says, as far as a tree can say it.
    pub(super) fn is(&self, entry: &(String, String)) -> bool {
        let is_link = matches!(self, Self::Link { .. });
        self.id() == Some(&entry.1) && is_link == (entry.0 == "120000")
    }
}

pub(super) type Disk = BTreeMap<Vec<u8>, Found>;
/// Path to mode and id.
pub(super) type Tree = BTreeMap<Vec<u8>, (String, String)>;

pub(super) fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

pub(super) fn shown(paths: &BTreeSet<Vec<u8>>) -> Vec<String> {
    paths.iter().map(|path| text(path)).collect()
}

/// Directories above a path.
pub(super) fn above(path: &[u8]) -> Vec<Vec<u8>> {
    let path = bytes(path);
    path.ancestors()
        .skip(1)
        .filter(|above| !above.as_os_str().is_empty())
        .map(|above| above.as_os_str().as_bytes().to_vec())
        .collect()
}

pub(super) fn bytes(path: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(path))
}

/// What a merge would have to write over or through, by maps alone; the outermost paths.
pub(super) fn obstacles(
    disk: &Disk,
    from: &Tree,
    into: &Tree,
    tracked: &BTreeSet<Vec<u8>>,
) -> BTreeSet<Vec<u8>> {
    let goes = |path: &[u8]| {
        !into.contains_key(path)
            && match (from.get(path), disk.get(path)) {
                (Some(entry), Some(found)) => found.is(entry),
                _ => false,
            }
    };
    let below = |dir: &[u8]| {
        let prefix = [dir, b"/"].concat();
        disk.iter()
            .filter(move |(path, _)| path.starts_with(&prefix))
            .collect::<Vec<_>>()
    };
    let mut found: BTreeSet<Vec<u8>> = BTreeSet::new();
    for (path, entry) in into {
        // Nothing is written where nothing changes.
        let equal = disk.get(path).is_some_and(|found| found.is(entry));
        if from.get(path) == Some(entry) || (equal && !from.contains_key(path)) {
            continue;
        }
        let way = above(path).into_iter().rev().find(|dir| {
            let is_foreign = || {
                !from.contains_key(path)
                    && disk.contains_key(&[dir.as_slice(), b"/.git"].concat())
                    && !tracked
                        .iter()
                        .any(|entry| entry.starts_with(&[dir.as_slice(), b"/"].concat()))
            };
            match disk.get(dir) {
                Some(Found::Directory) => is_foreign(),
                Some(_) => !goes(dir),
                None => false,
            }
        });
        if let Some(way) = way {
            found.insert(way);
            continue;
        }
        match disk.get(path) {
            None => {}
            Some(Found::Directory) => {
                let inside = below(path);
                let empties = !inside.is_empty()
                    && inside.iter().all(|(path, found)| match found {
                        Found::Directory => below(path).iter().any(|(path, _)| goes(path)),
                        _ => goes(path),
                    });
                if !empties {
                    found.insert(path.clone());
                }
            }
            Some(there) => {
                let is_saved = from.get(path).is_some_and(|entry| there.is(entry));
                if !is_saved && !there.is(entry) {
                    found.insert(path.clone());
                }
            }
        }
    }
    let outermost = |path: &&Vec<u8>| !above(path).iter().any(|dir| found.contains(dir));
    found.iter().filter(outermost).cloned().collect()
}

/// What must be at a path.
#[derive(Debug)]
pub(super) enum Wanted {
    Same(Found),
    Blob((String, String)),
}

/// Every file and link that must be there after a merge.
pub(super) fn expected(
    disk: &Disk,
    from: &Tree,
    into: &Tree,
    merge: &MergeFact,
) -> BTreeMap<Vec<u8>, Wanted> {
    let mut wanted = BTreeMap::new();
    let differs = |path: &[u8]| from.get(path) != into.get(path);
    for (path, found) in disk {
        if *found == Found::Directory || path == b".git" {
            continue;
        }
        let is_aside = merge
            .aside
            .iter()
            .any(|aside| aside.path().as_os_str().as_bytes() == path);
        let in_merge = differs(path) && (from.contains_key(path) || into.contains_key(path));
        let saved = from.get(path).is_some_and(|entry| found.is(entry));
        if in_merge && saved && !is_aside {
            continue;
        }
        let now = renamed(path, merge).unwrap_or_else(|| path.clone());
        wanted.insert(now, Wanted::Same(found.clone()));
    }
    for (path, entry) in into {
        if differs(path) {
            // What was equal already is left alone.
            let equal = |wanted: &Wanted| matches!(wanted, Wanted::Same(found) if found.is(entry));
            if !wanted.get(path).is_some_and(equal) {
                wanted.insert(path.clone(), Wanted::Blob(entry.clone()));
            }
        }
    }
    wanted
}

/// The name that was said for a path, if it was moved aside.
pub(super) fn renamed(path: &[u8], merge: &MergeFact) -> Option<Vec<u8>> {
    merge.aside.iter().find_map(|aside| {
        let rest = bytes(path);
        let rest = rest.strip_prefix(aside.path()).ok()?.to_owned();
        let now = if rest.as_os_str().is_empty() {
            aside.to()
        } else {
            aside.to().join(rest)
        };
        Some(now.as_os_str().as_bytes().to_vec())
    })
}

/// Everything below a directory; links are not followed.
pub(super) fn disk(top: &Path) -> Disk {
    fn visit(top: &Path, dir: &Path, found: &mut Disk) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let stat = std::fs::symlink_metadata(&path).unwrap();
            let name = path
                .strip_prefix(top)
                .unwrap()
                .as_os_str()
                .as_bytes()
                .to_vec();
            let id = |bytes: &[u8]| blob_id(bytes, bytes.len() as u64, 20).unwrap();
            let value = if stat.is_dir() {
                visit(top, &path, found);
                Found::Directory
            } else if stat.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                Found::Link {
                    id: id(target.as_os_str().as_bytes()),
                }
            } else {
                let bytes = std::fs::read(&path).unwrap();
                Found::File {
                    id: id(&bytes),
                    bytes,
                    mode: stat.mode(),
                    mtime: (stat.mtime(), stat.mtime_nsec()),
                }
            };
            found.insert(name, value);
        }
    }
    let mut found = Disk::new();
    visit(top, top, &mut found);
    found
}

/// The link to git's record holds the place of the repository.
pub(super) fn without_git(mut disk: Disk) -> Disk {
    disk.remove(&b".git"[..]);
    disk
}
