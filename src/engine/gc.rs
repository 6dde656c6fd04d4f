//! What is kept and for how long: parked worktrees are thinned, old snapshots and killed instances go.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::core::now;
use super::resolve::Found;
use super::steps::Vault;
use super::{Engine, Error, Scope};
use crate::git::{self, ParkState, Repo, ThinPolicy};
use crate::model::{InstanceId, Resting, Timestamp, Title};

/// One thing that was let go, or would be.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Collected {
    pub action: CollectAction,
    pub instance: InstanceId,
    pub title: Option<Title>,
    pub what: String,
    pub freed_bytes: u64,
    /// Large ignored directories that were dropped with it.
    pub dropped: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CollectAction {
    /// A parked worktree: its disk is freed, everything comes back from objects.
    Thin,
    /// A killed instance whose time is over.
    Forget,
    /// A snapshot that was released and is old.
    Drop,
}

impl Engine {
    /// Thins and drops by the rules of `snapshots`; with `dry_run` only says what it would do.
    pub(crate) fn gc(&self, dry_run: bool) -> Result<Vec<Collected>, Error> {
        self.take_up_all()?;
        let mut collected = Vec::new();
        let mut roots = std::collections::BTreeSet::new();
        for found in self.all(Scope::WithKilled)?.0 {
            roots.insert(found.record.repository.root.clone());
            collected.extend(self.collect(&found, dry_run)?);
        }
        for root in roots {
            // A repository that is away is no reason not to look after the others.
            if let Ok(repository) = Repo::discover(&root) {
                collected.extend(self.drop_old_snapshots(&repository, dry_run)?);
            }
        }
        Ok(collected)
    }

    pub(super) fn thin_policy(&self) -> ThinPolicy {
        ThinPolicy {
            ignored_limit_bytes: self.settings().snapshots.ignored_limit,
            ..ThinPolicy::default()
        }
    }

    fn collect(&self, found: &Found, dry_run: bool) -> Result<Option<Collected>, Error> {
        let record = &found.record;
        let age = |at: Option<Timestamp>| at.map_or(Duration::ZERO, |at| at.until(now()));
        let snapshots = &self.settings().snapshots;
        match record.state {
            Resting::Killed if age(record.killed_at) > snapshots.keep => {
                self.forget_killed(found, dry_run).map(Some)
            }
            Resting::Killed if age(record.killed_at) > snapshots.park => {
                self.thin_parked(found, dry_run)
            }
            Resting::Paused if age(record.paused_at) > snapshots.park => {
                self.thin_parked(found, dry_run)
            }
            Resting::Killed
            | Resting::Paused
            | Resting::Running
            | Resting::Completed
            | Resting::Failed => Ok(None),
        }
    }

    fn thin_parked(&self, found: &Found, dry_run: bool) -> Result<Option<Collected>, Error> {
        let record = &found.record;
        let Vault {
            snapshot: Some(snapshot),
            parking: Some(place),
        } = Vault::of(record)?
        else {
            return Ok(None);
        };
        if git::park_state(&place)? != ParkState::Parked || git::is_thinned(&place)? {
            return Ok(None);
        }
        let mut collected = Collected {
            action: CollectAction::Thin,
            instance: record.id.clone(),
            title: Some(record.title.clone()),
            what: place.parked_worktree.display().to_string(),
            freed_bytes: 0,
            dropped: Vec::new(),
        };
        if dry_run {
            return Ok(Some(collected));
        }
        let _lock = self.lock(&found.dir, record, "gc")?;
        let repository = Repo::discover(&record.repository.root)?;
        let report = git::thin(&repository, &place, &snapshot, &self.thin_policy(), now())?;
        collected.freed_bytes = report.freed_bytes;
        collected.dropped = report.dropped.into_iter().map(|(path, _)| path).collect();
        Ok(Some(collected))
    }

    /// Deletes for good, and only here. It is thinned first, so that what was in it is in the
    /// snapshot's objects and was proved; the snapshot itself goes to the trash and is dropped by its
    /// own age.
    fn forget_killed(&self, found: &Found, dry_run: bool) -> Result<Collected, Error> {
        let record = &found.record;
        let collected = Collected {
            action: CollectAction::Forget,
            instance: record.id.clone(),
            title: Some(record.title.clone()),
            what: format!(
                "killed {}",
                record
                    .killed_at
                    .map_or_else(String::new, |at| at.local_minute())
            ),
            freed_bytes: 0,
            dropped: Vec::new(),
        };
        if dry_run {
            return Ok(collected);
        }
        let thinned = self.thin_parked(found, false)?;
        let _lock = self.lock(&found.dir, record, "gc")?;
        if let Some(place) = Vault::of(record)?.parking {
            git::discard_parked(&place)?;
        }
        if let Ok(repository) = Repo::discover(&record.repository.root) {
            for snapshot in git::list_snapshots(&repository, Some(&record.id))? {
                git::release_snapshot(&repository, &snapshot.reference)?;
            }
        }
        found.dir.forget()?;
        Ok(Collected {
            freed_bytes: thinned.map_or(0, |thinned| thinned.freed_bytes),
            ..collected
        })
    }

    fn drop_old_snapshots(
        &self,
        repository: &Repo,
        dry_run: bool,
    ) -> Result<Vec<Collected>, Error> {
        let keep = i64::try_from(self.settings().snapshots.keep.as_secs()).unwrap_or(i64::MAX);
        let oldest = now().seconds_since_epoch().saturating_sub(keep);
        let before = Timestamp::from_epoch(oldest).unwrap_or_else(now);
        let expired = if dry_run {
            let mut trashed = git::list_trashed(repository, None)?;
            trashed.retain(|snapshot| snapshot.taken < oldest);
            trashed
        } else {
            git::delete_trashed(repository, before, |_| false)?
        };
        Ok(expired
            .into_iter()
            .filter_map(|snapshot| {
                Some(Collected {
                    action: CollectAction::Drop,
                    instance: snapshot.instance()?,
                    title: None,
                    what: snapshot.reference,
                    freed_bytes: 0,
                    dropped: Vec::new(),
                })
            })
            .collect())
    }
}
