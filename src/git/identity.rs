//! The identity of a repository, wherever it lies: a random id in its git directory.

use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::call::bytes_to_path;
use super::disk::{ensure_private_dir, sync_dir};
use super::{GitError, Repo};

const MARKER: &str = "bivouac/id";
/// Longer than any marker.
const MOST: u64 = 200;

impl Repo {
    /// The repository's id; None if it has none, or none that can be read.
    pub(crate) fn identity(&self) -> Result<Option<String>, GitError> {
        let path = self.common_dir().join(MARKER);
        let flags = rustix::fs::OFlags::NOFOLLOW.bits() | rustix::fs::OFlags::NONBLOCK.bits();
        let file = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(flags.cast_signed())
            .open(&path);
        let file = match file {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(GitError::reading(&path)(error));
            }
            Err(_) => return Ok(None),
        };
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Ok(None);
        }
        let mut text = String::new();
        let whole = file.take(MOST).read_to_string(&mut text).is_ok();
        let id = text.trim_end();
        let valid = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok((whole && valid).then(|| id.to_owned()))
    }

    /// The repository's id, made if it has none. Also returns whether it was there before.
    pub(crate) fn ensure_identity(&self) -> Result<(String, bool), GitError> {
        if let Some(id) = self.identity()? {
            return Ok((id, true));
        }
        let path = self.common_dir().join(MARKER);
        match self.fresh_identity()?.persist_noclobber(&path) {
            Ok(_) => sync_dir(&super::disk::parent(&path))?,
            // Another process was faster, or something else is there.
            Err(_) if self.identity()?.is_some() => {}
            Err(_) => return Ok((self.renew_identity()?, false)),
        }
        let id = self.identity()?.ok_or_else(|| GitError::Unreadable {
            path,
            source: std::io::Error::from(std::io::ErrorKind::InvalidData),
        })?;
        Ok((id, false))
    }

    /// Gives the repository a new id, because it is the copy of one that has the same id.
    pub(crate) fn renew_identity(&self) -> Result<String, GitError> {
        let path = self.common_dir().join(MARKER);
        self.fresh_identity()?
            .persist(&path)
            .map_err(|error| GitError::writing(&path)(error.error))?;
        sync_dir(&super::disk::parent(&path))?;
        self.identity()?.ok_or_else(|| GitError::Unreadable {
            path,
            source: std::io::Error::from(std::io::ErrorKind::InvalidData),
        })
    }

    /// A new id in a file of its own, for the owner alone.
    fn fresh_identity(&self) -> Result<tempfile::NamedTempFile, GitError> {
        use std::io::Write;
        let dir = self.common_dir().join("bivouac");
        ensure_private_dir(&dir)?;
        let mut file = tempfile::Builder::new()
            .prefix("id-")
            .tempfile_in(&dir)
            .map_err(GitError::writing(&dir))?;
        let id = uuid::Uuid::new_v4().simple().to_string();
        file.write_all(format!("{id}\n").as_bytes())
            .and_then(|()| file.as_file().sync_all())
            .map_err(GitError::writing(&dir))?;
        Ok(file)
    }

    /// Mends git's own links between this repository and its worktrees after it, or they, were moved.
    pub(crate) fn repair_worktrees(&self, moved: &[PathBuf]) -> Result<(), GitError> {
        let mut command = self.git().args(["worktree", "repair"]);
        for path in moved {
            command = command.arg(path);
        }
        // Git complains about worktrees that are away, and mends the rest.
        command.output()?;
        Ok(())
    }

    /// Whether git's record of a worktree at this path is in this repository.
    pub(crate) fn has_worktree_at(&self, path: &Path) -> bool {
        let Ok(records) = std::fs::read_dir(self.common_dir().join("worktrees")) else {
            return false;
        };
        records.flatten().any(|record| {
            std::fs::read(record.path().join("gitdir")).is_ok_and(|link| {
                let link = link.strip_suffix(b"\n").unwrap_or(&link);
                record.path().join(bytes_to_path(link)) == path.join(".git")
            })
        })
    }
}

/// The old and the new place of a repository that was moved.
#[derive(Debug, Clone)]
pub(crate) struct Relocation {
    /// Old and new path prefixes, the longest first.
    parts: Vec<(PathBuf, PathBuf)>,
}

impl Relocation {
    pub(crate) fn new(old_root: &Path, old_common_dir: &Path, now: &Repo) -> Self {
        let mut parts = vec![
            (old_common_dir.to_owned(), now.common_dir().to_owned()),
            (old_root.to_owned(), now.root().to_owned()),
        ];
        parts.sort_by_key(|(from, _)| std::cmp::Reverse(from.as_os_str().len()));
        Self { parts }
    }

    /// Where a path is now; unchanged if it lay outside of the repository.
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        self.parts
            .iter()
            .find_map(|(from, to)| {
                let rest = path.strip_prefix(from).ok()?;
                Some(if rest.as_os_str().is_empty() {
                    to.clone()
                } else {
                    to.join(rest)
                })
            })
            .unwrap_or_else(|| path.to_owned())
    }
}
