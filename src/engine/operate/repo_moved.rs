//! `biv repo moved`: the instances of a repository follow it to another directory.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, Scope};
use crate::engine::operate::identity::{has_id, is_recorded};
use crate::engine::operate::recover::LockedInstance;
use crate::git::{Relocation, Repo};
use crate::model::{InstanceId, InstanceRecord, Repository, Title};

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

impl Core {
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
            let LockedInstance {
                dir,
                mut record,
                lock,
            } = self.lock_wherever(record.id.as_str(), Scope::WithKilled, "repo moved")?;
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
}

/// Whether a repository at another place is the one of this record.
fn is_moved(record: &InstanceRecord, found: &Repo) -> Result<bool, Error> {
    let recorded = &record.repository;
    if let Some(id) = &recorded.id {
        return Ok(has_id(found, id));
    }
    // A record from before there were ids: the repository must hold the work of the instance.
    let relocation = Relocation::new(&recorded.root, &recorded.common_dir, found);
    let vault = SavedWork::of(record)?;
    let parked = vault.parking.is_some_and(|place| {
        relocation
            .path(&place.parked_admin)
            .starts_with(found.common_dir())
            && relocation.path(&place.parked_admin).is_dir()
    });
    Ok(parked || found.has_worktree_at(&record.worktree.path))
}
