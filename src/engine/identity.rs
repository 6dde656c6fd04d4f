//! Which repository an instance belongs to: known by the id in its git directory, wherever it lies.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::recover::Held;
use super::steps::Vault;
use super::{Engine, Error, Progress, Scope};
use crate::git::{Relocation, Repo};
use crate::model::{InstanceId, InstanceRecord, Repository, Title};
use crate::store::InstanceDir;

/// What `biv repo moved` has done.
#[derive(Debug, Serialize)]
pub(crate) struct RepositoryMove {
    pub from: PathBuf,
    pub to: PathBuf,
    pub id: Option<String>,
    pub instances: Vec<MovedInstance>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MovedInstance {
    pub id: InstanceId,
    pub title: Title,
}

impl Engine {
    /// What is recorded of a repository that an instance is made in. A copy of a repository that is
    /// still in use gets an id of its own.
    pub(super) fn remember(&self, repository: &Repo) -> Result<Repository, Error> {
        let (mut id, known) = repository.ensure_identity()?;
        if known && self.is_copy(repository, &id)? {
            id = repository.renew_identity()?;
        }
        Ok(Repository {
            root: repository.root().to_owned(),
            common_dir: repository.common_dir().to_owned(),
            id: Some(id),
        })
    }

    /// Whether another repository of this home has the same id, at the place where it was recorded.
    fn is_copy(&self, repository: &Repo, id: &str) -> Result<bool, Error> {
        let mut others: Vec<Repository> = self
            .all(Scope::WithKilled)?
            .0
            .into_iter()
            .map(|found| found.record.repository)
            .filter(|other| other.id.as_deref() == Some(id))
            .filter(|other| other.common_dir != repository.common_dir())
            .collect();
        others.dedup();
        Ok(others.iter().any(|other| {
            Repo::discover(&other.root).is_ok_and(|found| {
                found.common_dir() != repository.common_dir() && has_id(&found, id)
            })
        }))
    }

    /// The repository of an instance: at its recorded place, or where the command is run. The record
    /// is written where it says something else.
    pub(super) fn require_repository(
        &self,
        dir: &InstanceDir,
        record: &mut InstanceRecord,
        progress: &mut dyn Progress,
    ) -> Result<Repo, Error> {
        let recorded = record.repository.clone();
        let at_place = Repo::discover(&recorded.root).ok();
        if let Some(found) = &at_place
            && is_recorded(&recorded, found)
        {
            if found.common_dir() != recorded.common_dir {
                self.relocate(dir, record, found)?;
            } else if recorded.id.is_none() {
                record.repository = self.remember(found)?;
                dir.save(record)?;
            }
            return Ok(found.clone());
        }
        if let Some(id) = &recorded.id
            && let Ok(here) = std::env::current_dir()
            && let Ok(found) = Repo::discover(&here)
            && has_id(&found, id)
        {
            progress.note(&format!(
                "the repository {} is now at {}",
                recorded.root.display(),
                found.root().display()
            ));
            self.relocate(dir, record, &found)?;
            return Ok(found);
        }
        Err(Error::RepositoryMoved {
            recorded: recorded.root,
            found: at_place.map(|found| found.root().to_owned()),
        })
    }

    /// `biv repo moved`: every instance of the repository that was at `old` follows it to `new`.
    pub(crate) fn repository_moved(&self, old: &Path, new: &Path) -> Result<RepositoryMove, Error> {
        self.prepare()?;
        let found = Repo::discover(new)?;
        let id = found.identity()?;
        let belongs = |recorded: &Repository| recorded.root == old || recorded.common_dir == old;
        let recorded: Vec<InstanceRecord> = self
            .all(Scope::WithKilled)?
            .0
            .into_iter()
            .map(|instance| instance.record)
            .filter(|record| belongs(&record.repository))
            .collect();
        if recorded.is_empty() {
            return Err(Error::NoSuchRepository {
                path: old.to_owned(),
            });
        }
        // All are looked at before the first is written.
        for record in &recorded {
            let recorded = &record.repository;
            if let Ok(still) = Repo::discover(&recorded.root)
                && still.common_dir() != found.common_dir()
                && is_recorded(recorded, &still)
            {
                return Err(Error::RepositoryStillThere {
                    old: still.root().to_owned(),
                    new: found.root().to_owned(),
                });
            }
            if !is_moved(record, &found)? {
                return Err(Error::RepositoryMoved {
                    recorded: recorded.root.clone(),
                    found: Some(found.root().to_owned()),
                });
            }
        }
        found.repair_worktrees(&[])?;
        let mut instances = Vec::new();
        for record in recorded {
            let Held {
                dir,
                mut record,
                lock,
            } = self.hold(record.id.as_str(), Scope::WithKilled, "repo moved")?;
            if belongs(&record.repository) {
                self.relocate(&dir, &mut record, &found)?;
            }
            drop(lock);
            instances.push(MovedInstance {
                id: record.id,
                title: record.title,
            });
        }
        Ok(RepositoryMove {
            from: old.to_owned(),
            to: found.root().to_owned(),
            id: found.identity()?.or(id),
            instances,
        })
    }

    /// Writes the new place of the repository into the record, and into git's own links.
    fn relocate(
        &self,
        dir: &InstanceDir,
        record: &mut InstanceRecord,
        now: &Repo,
    ) -> Result<(), Error> {
        let old = &record.repository;
        let relocation = Relocation::new(&old.root, &old.common_dir, now);
        let mut vault = Vault::of(record)?;
        record.worktree.path = relocation.path(&record.worktree.path);
        if let Some(place) = &mut vault.parking {
            *place = place.relocated(&relocation);
            place.repoint()?;
            record.vault = serde_json::to_value(&vault).ok();
        }
        if record.worktree.path.is_dir() {
            now.repair_worktrees(std::slice::from_ref(&record.worktree.path))?;
        }
        record.repository = Repository {
            root: now.root().to_owned(),
            common_dir: now.common_dir().to_owned(),
            id: Some(now.ensure_identity()?.0),
        };
        Ok(dir.save(record)?)
    }
}

fn has_id(repository: &Repo, id: &str) -> bool {
    matches!(repository.identity(), Ok(Some(found)) if found == id)
}

/// Whether what was found at the recorded place is the repository that was recorded there.
fn is_recorded(recorded: &Repository, found: &Repo) -> bool {
    match &recorded.id {
        Some(id) => has_id(found, id),
        // Before there were ids, the place was all that was known of it.
        None => found.common_dir() == recorded.common_dir,
    }
}

/// Whether a repository at another place is the one of this record.
fn is_moved(record: &InstanceRecord, found: &Repo) -> Result<bool, Error> {
    let recorded = &record.repository;
    if let Some(id) = &recorded.id {
        return Ok(has_id(found, id));
    }
    // A record of before there were ids: then the repository holds what belongs to the instance.
    let relocation = Relocation::new(&recorded.root, &recorded.common_dir, found);
    let vault = Vault::of(record)?;
    let parked = vault.parking.is_some_and(|place| {
        relocation
            .path(&place.parked_admin)
            .starts_with(found.common_dir())
            && relocation.path(&place.parked_admin).is_dir()
    });
    Ok(parked || found.has_worktree_at(&record.worktree.path))
}
