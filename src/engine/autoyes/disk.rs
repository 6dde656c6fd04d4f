//! The filesystem queries of the policy.

use std::path::{Path, PathBuf};

use crate::policy::{Entry, EntryKind, PathResolver};

/// The disk as it is now.
pub(super) struct Disk;

impl PathResolver for Disk {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        if let Ok(real) = path.canonicalize() {
            return Some(real);
        }
        // The target of a dangling link can be created later.
        if path.symlink_metadata().is_ok() {
            return None;
        }
        let (parent, name) = (path.parent()?, path.file_name()?);
        Some(self.real(parent)?.join(name))
    }

    fn entries(&self, directory: &Path) -> Option<Vec<Entry>> {
        let entries = std::fs::read_dir(directory).ok()?;
        let entry = |entry: std::io::Result<std::fs::DirEntry>| {
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            Some(Entry {
                name: entry.file_name().to_string_lossy().into_owned(),
                kind: if kind.is_symlink() {
                    EntryKind::Link
                } else if kind.is_dir() {
                    EntryKind::Directory
                } else {
                    EntryKind::File
                },
            })
        };
        entries.map(entry).collect()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_as_far_as_there_is_something() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        std::os::unix::fs::symlink("/nonexistent/x", root.join("dangling")).unwrap();
        assert_eq!(
            Disk.real(&root.join("a/new/file")),
            Some(root.join("a/new/file"))
        );
        assert_eq!(Disk.real(&root.join("out/new")), Some("/etc/new".into()));
        assert_eq!(Disk.real(&root.join("dangling")), None);
        assert_eq!(Disk.real(&root.join("dangling/x")), None);
        let links = Disk.entries(&root).unwrap();
        let links = links.iter().filter(|entry| entry.kind == EntryKind::Link);
        assert_eq!(links.count(), 2);
        assert_eq!(Disk.entries(&root.join("a/new")), None);
    }
}
