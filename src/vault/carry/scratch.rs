//! A repository that exists for one export or one import. It reads the objects of the user's repository and
//! of the vault; what is written stays in it and goes with it.

use std::os::unix::ffi::OsStrExt;

use crate::git::{GitError, Repo, ScratchDir};
use crate::vault::repository::Vault;

/// What goes away with it.
#[derive(Debug)]
pub(super) struct Scratch {
    pub vault: Vault,
    _dir: ScratchDir,
}

impl Scratch {
    pub(super) fn new(repo: &Repo, prefix: &str) -> Result<Self, GitError> {
        repo.sweep_scratch();
        let dir = ScratchDir::new(repo, prefix)?;
        let mut alternates = Vec::new();
        for objects in [repo.common_dir().join("objects"), Vault::at(repo).objects()] {
            if objects.is_dir() {
                alternates.extend_from_slice(objects.as_os_str().as_bytes());
                alternates.push(b'\n');
            }
        }
        let vault = Vault::scratch(repo, dir.path(), &alternates)?;
        Ok(Self { vault, _dir: dir })
    }
}
