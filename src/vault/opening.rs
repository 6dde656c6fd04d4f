//! Finding the vault of a repository, making it, and moving into it what earlier versions left in the
//! user's repository.

use super::migrate;
use super::repository::{Vault, make, write_durably};
use crate::git::{GitError, Repo};

/// Written when all that earlier versions left in the user's repository is here.
const TAKEN_OVER: &str = "bivouac-taken-over";

impl Vault {
    /// The vault of a repository, to write to; made if there is none yet.
    pub(super) fn open(repo: &Repo) -> Result<Self, GitError> {
        let vault = Self::at(repo);
        if !vault.exists() {
            make(&vault)?;
        }
        vault.with_old_snapshots()
    }

    /// A fresh vault, as a process leaves it that ends before it has moved anything.
    #[cfg(test)]
    pub(super) fn made_without_old_snapshots(repo: &Repo) -> Self {
        let vault = Self::at(repo);
        make(&vault).unwrap();
        vault
    }

    /// The vault of a repository that has something in it: looking for saved work makes none.
    pub(super) fn find(repo: &Repo) -> Result<Self, GitError> {
        Self::existing(repo)?.ok_or_else(|| GitError::VaultMissing {
            dir: Self::at(repo).dir().to_owned(),
        })
    }

    /// The vault of a repository, if it has one.
    pub(super) fn existing(repo: &Repo) -> Result<Option<Self>, GitError> {
        let vault = Self::at(repo);
        if vault.exists() {
            vault.with_old_snapshots().map(Some)
        } else if migrate::old_snapshots(repo)?.is_empty() {
            Ok(None)
        } else {
            Self::open(repo).map(Some)
        }
    }

    /// Moves into the vault what an earlier version has left in the user's repository.
    fn with_old_snapshots(self) -> Result<Self, GitError> {
        let done = self.dir().join(TAKEN_OVER);
        if !done.exists() {
            let lock = self.exclude()?;
            let old = migrate::old_snapshots(self.repo())?;
            let left = migrate::migrate(&self, old)?;
            if left.is_empty() && !done.exists() {
                write_durably(&done, b"")?;
            }
            drop(lock);
        } else if self.repo().common_dir().join("refs/bivouac").exists() {
            // An earlier version was used again. If other processes hold the lock, it waits for next time.
            if let Some(_lock) = self.try_exclude()? {
                let old = migrate::old_snapshots(self.repo())?;
                migrate::migrate(&self, old)?;
                // Removed if it is empty; it fails, as it should, if something is in it.
                drop(std::fs::remove_dir(
                    self.repo().common_dir().join("refs/bivouac"),
                ));
            }
        }
        Ok(self)
    }
}
