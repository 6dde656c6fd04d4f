//! The branch that is landed on, and the checkouts of it.

use crate::config::RepositoryConfig;
use crate::engine::base::{Core, Error, LandError};
use crate::engine::operate::land::options::LandOptions;
use crate::git::landing::Change;
use crate::git::{Checkout, Repo};
use crate::model::InstanceRecord;

/// The branch that is landed on.
pub(super) struct LandTarget {
    pub name: String,
    /// Where it is; None if it does not exist.
    pub commit: Option<String>,
}

impl Core {
    /// What was asked for, else what the repository or the user has configured, else the base.
    pub(super) fn land_target(
        &self,
        record: &InstanceRecord,
        repository: &Repo,
        options: &LandOptions,
    ) -> Result<LandTarget, Error> {
        let configured = match repository.is_bare() {
            true => None,
            false => RepositoryConfig::load(repository.root())?.land.into,
        };
        let own = Some(self.settings().land.into.clone()).filter(|name| !name.is_empty());
        if let Some(name) = options.into.clone().or(configured).or(own) {
            let commit = repository.branch_commit(&name)?;
            return Ok(LandTarget { name, commit });
        }
        let base = record.base.name.as_str();
        let name = base.strip_prefix("refs/heads/").unwrap_or(base);
        if name != "HEAD"
            && let Some(commit) = repository.branch_commit(name)?
        {
            return Ok(LandTarget {
                name: name.to_owned(),
                commit: Some(commit),
            });
        }
        Err(LandError::NoTarget {
            title: record.title.clone(),
            base: base.to_owned(),
        }
        .into())
    }

    /// Every checkout of the target can follow it: no operation of the user is in progress there, and
    /// nothing of theirs is in the way.
    pub(in crate::engine) fn require_can_follow(
        &self,
        repository: &Repo,
        target: &str,
        changes: &[Change],
    ) -> Result<Vec<Checkout>, Error> {
        let found = repository.branch_use(target)?;
        if let Some(path) = found.rebased_at {
            return Err(LandError::CheckoutBusy {
                target: target.to_owned(),
                path,
                operation: "rebase".to_owned(),
            }
            .into());
        }
        for checkout in &found.checked_out {
            let path = checkout.dir.clone();
            if let Some(operation) = checkout.operation_in_progress() {
                return Err(LandError::CheckoutBusy {
                    target: target.to_owned(),
                    path,
                    operation: operation.to_owned(),
                }
                .into());
            }
            let obstacles = checkout.obstacles(repository, changes)?;
            if !obstacles.is_empty() {
                return Err(LandError::CheckoutDirty {
                    target: target.to_owned(),
                    path,
                    files: obstacles
                        .iter()
                        .map(|file| file.display().to_string())
                        .collect(),
                }
                .into());
            }
        }
        Ok(found.checked_out)
    }
}
