//! Finds the repository of an instance by the id in its git directory, wherever it lies.

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::git::{Relocation, Repo};
use crate::model::{InstanceRecord, Repository};
use crate::store::InstanceDir;

impl Core {
    /// What is recorded of a repository that an instance is made in. A copy of a repository that is
    /// still in use gets an id of its own.
    pub(in crate::engine) fn remember(&self, repository: &Repo) -> Result<Repository, Error> {
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

    /// The repository of an instance: at its recorded place, or where the command runs. The record is
    /// updated if the place has changed.
    pub(in crate::engine) fn require_repository(
        &self,
        dir: &InstanceDir,
        record: &mut InstanceRecord,
        progress: &mut dyn Progress,
    ) -> Result<Repo, Error> {
        let recorded = record.repository.clone();
        let at_place = Repo::recorded(&recorded.root).ok();
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

    /// Writes the new place of the repository into the record, and into git's own links.
    pub(super) fn relocate(
        &self,
        dir: &InstanceDir,
        record: &mut InstanceRecord,
        now: &Repo,
    ) -> Result<(), Error> {
        let old = &record.repository;
        let relocation = Relocation::new(&old.root, &old.common_dir, now);
        let mut vault = SavedWork::of(record)?;
        record.worktree.path = relocation.path(&record.worktree.path);
        if let Some(place) = &mut vault.parking {
            *place = place.relocated(&relocation);
            place.repoint()?;
            record.vault = Some(vault.written(record)?);
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

pub(super) fn has_id(repository: &Repo, id: &str) -> bool {
    matches!(repository.identity(), Ok(Some(found)) if found == id)
}

/// Whether what was found at the recorded place is the repository that was recorded there.
pub(super) fn is_recorded(recorded: &Repository, found: &Repo) -> bool {
    match &recorded.id {
        Some(id) => has_id(found, id),
        // Before there were ids, the place was all that was known of it.
        None => found.common_dir() == recorded.common_dir,
    }
}
