//! The parking places of a repository that was moved to another directory.

use super::parking::ParkingPlace;
use crate::git::{GitError, Relocation};

impl ParkingPlace {
    /// The same place, where it is now.
    pub(crate) fn relocated(&self, relocation: &Relocation) -> Self {
        Self {
            worktree: relocation.path(&self.worktree),
            parked_worktree: relocation.path(&self.parked_worktree),
            worktree_identity: self.worktree_identity,
            admin: relocation.path(&self.admin),
            parked_admin: relocation.path(&self.parked_admin),
            admin_identity: self.admin_identity,
            common_dir: relocation.path(&self.common_dir),
            inside: self
                .inside
                .iter()
                .map(|path| relocation.path(path))
                .collect(),
        }
    }

    /// Lets the two parked halves name each other's places as they are now.
    pub(crate) fn repoint(&self) -> Result<(), GitError> {
        use std::os::unix::ffi::OsStrExt;
        let lines = [
            (
                self.parked_worktree.join(".git"),
                [b"gitdir: ", self.admin.as_os_str().as_bytes(), b"\n"].concat(),
            ),
            (
                self.parked_admin.join("gitdir"),
                [self.worktree.join(".git").as_os_str().as_bytes(), b"\n"].concat(),
            ),
        ];
        for (path, line) in lines {
            let now = match std::fs::read(&path) {
                Ok(now) => now,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(GitError::reading(&path)(error)),
            };
            let target = now.strip_prefix(b"gitdir: ").unwrap_or(&now);
            // A relative link is the user's choice, and git mends it.
            if now != line && target.starts_with(b"/") {
                // Not by a rename: the directory's own time stays.
                std::fs::write(&path, &line)
                    .and_then(|()| std::fs::File::open(&path)?.sync_all())
                    .map_err(GitError::writing(&path))?;
            }
        }
        Ok(())
    }
}
