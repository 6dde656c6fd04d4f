//! The checkouts of a repository as git lists them.

use std::path::PathBuf;

use super::admin::{admin_dir_of, is_checked_out_nowhere};
use super::call::{bytes_to_path, fields};
use super::{GitError, Repo};

/// One checkout as git lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorktreeEntry {
    pub path: PathBuf,
    /// None while its branch has no commit, and for a bare repository.
    pub head: Option<String>,
    pub branch: Option<String>,
    /// The name below `<common>/worktrees`; None for the main checkout or if the directory is gone.
    pub admin_name: Option<String>,
    pub locked: Option<String>,
    pub prunable: Option<String>,
}

impl WorktreeEntry {
    fn at(path: PathBuf) -> Self {
        Self {
            path,
            head: None,
            branch: None,
            admin_name: None,
            locked: None,
            prunable: None,
        }
    }
}

impl Repo {
    /// The checkout that has this branch now, the main one included.
    pub(crate) fn branch_in_use(&self, name: &str) -> Result<Option<PathBuf>, GitError> {
        if is_checked_out_nowhere(self.common_dir(), name) {
            return Ok(None);
        }
        Ok(self
            .worktrees()?
            .into_iter()
            .find(|entry| entry.branch.as_deref() == Some(name))
            .map(|entry| entry.path))
    }

    /// Every checkout that git knows of, the main one first.
    pub(crate) fn worktrees(&self) -> Result<Vec<WorktreeEntry>, GitError> {
        let listing = self
            .git()
            .args(["worktree", "list", "--porcelain", "-z"])
            .run()?;
        let mut entries: Vec<WorktreeEntry> = Vec::new();
        for line in fields(&listing) {
            let mut words = line.splitn(2, |byte| *byte == b' ');
            let key = words.next().unwrap_or_default();
            let value = words.next().unwrap_or_default();
            let text = || String::from_utf8_lossy(value).into_owned();
            if key == b"worktree" {
                entries.push(WorktreeEntry::at(bytes_to_path(value)));
                continue;
            }
            let Some(entry) = entries.last_mut() else {
                continue;
            };
            match key {
                b"HEAD" => entry.head = Some(text()).filter(|id| !id.bytes().all(|b| b == b'0')),
                b"branch" => {
                    entry.branch = Some(text().trim_start_matches("refs/heads/").to_owned());
                }
                b"locked" => entry.locked = Some(text()),
                b"prunable" => entry.prunable = Some(text()),
                _ => {}
            }
        }
        for entry in entries.iter_mut().skip(1) {
            entry.admin_name = admin_dir_of(&entry.path).and_then(|dir| {
                dir.file_name()
                    .map(|name| name.to_string_lossy().into_owned())
            });
        }
        Ok(entries)
    }
}
