//! `biv gc`: thins parked worktrees, deletes old snapshots and killed instances.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, Found, Scope, now};
use crate::engine::operate::carry::departure::has_left_something;
use crate::engine::operate::land::FreedCheckout;
use crate::engine::operate::sizes::bytes_below;
use crate::git::Repo;
use crate::model::{InstanceId, InstanceRecord, Lease, RestingState, Timestamp, Title};
use crate::process::crash;
use crate::store::InstanceDir;
use crate::vault::{self, Left, OnDisk, ParkState, ParkingPlace, SnapshotFact, StoredSnapshot};

/// What `gc` has done, or would do.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Collection {
    pub collected: Vec<Collected>,
    /// What all paused and killed instances hold; None where things were deleted.
    pub put_away: Option<PutAway>,
    /// Checkouts in which results were checked.
    pub checkouts: Vec<FreedCheckout>,
    /// What those take that are kept; None where things were deleted.
    pub kept_checkouts: Option<PutAway>,
    /// What failed; everything else was done.
    pub failed: Vec<NotCollected>,
}

/// Worktrees that are put away as they were, and what they take on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct PutAway {
    pub worktrees: usize,
    pub bytes: u64,
}

/// One thing that was deleted, or would be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Collected {
    pub action: CollectAction,
    pub instance: InstanceId,
    pub title: Option<Title>,
    pub what: String,
    pub freed_bytes: u64,
    /// Large ignored directories that were dropped with it.
    pub dropped: Vec<String>,
    /// What could not be deleted; the next `gc` tries again.
    pub left: Vec<Left>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct NotCollected {
    pub what: String,
    pub error: String,
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

/// Where the work of an instance is put away.
struct Parked {
    place: ParkingPlace,
    snapshot: SnapshotFact,
}

impl Core {
    /// Thins and deletes by the rules of `snapshots`; with `dry_run` only reports what it would do. A
    /// failure for one instance or repository does not stop the others.
    pub(crate) fn gc(&self, dry_run: bool) -> Result<Collection, Error> {
        self.recover_all()?;
        if !dry_run {
            self.sweep_scratch();
        }
        let mut collection = Collection {
            put_away: dry_run.then(PutAway::default),
            ..Collection::default()
        };
        let places = self.expire_check_places(dry_run);
        collection.kept_checkouts = dry_run.then(|| PutAway {
            worktrees: places.kept.len(),
            bytes: places.kept.iter().map(|path| bytes_below(path)).sum(),
        });
        collection.checkouts = places.freed;
        let stuck = places.stuck.into_iter().map(|left| NotCollected {
            what: left.path,
            error: left.why,
        });
        collection.failed.extend(stuck);
        let mut roots = std::collections::BTreeSet::new();
        for found in self.all(Scope::WithKilled)?.0 {
            roots.insert(found.record.repository.root.clone());
            if let Some(put_away) = &mut collection.put_away {
                put_away.add(&found.record);
            }
            match self.collect(&found, dry_run) {
                Ok(collected) => collection.collected.extend(collected),
                Err(error) => collection.fail(found.record.title.as_str(), &error),
            }
        }
        for root in roots {
            // A missing repository must not stop the others.
            let Ok(repository) = Repo::discover(&root) else {
                continue;
            };
            if !dry_run {
                repository.sweep_scratch();
            }
            match self.drop_old_snapshots(&repository, dry_run) {
                Ok(dropped) => collection.collected.extend(dropped),
                Err(error) => collection.fail(&root.display().to_string(), &error),
            }
            if !dry_run && let Err(error) = vault::collect_vault(&repository, vault::GRACE) {
                collection.fail(&root.display().to_string(), &error.into());
            }
        }
        Ok(collection)
    }

    fn collect(&self, found: &Found, dry_run: bool) -> Result<Option<Collected>, Error> {
        let Some(action) = self.is_due(&found.dir, &found.record)? else {
            return Ok(None);
        };
        // A repository that is missing now is handled when it is back.
        if !found.record.repository.root.is_dir() {
            return Ok(None);
        }
        if dry_run {
            return self.preview(&found.record, action);
        }
        let _lock = self.lock(&found.dir, &found.record, "gc")?;
        // Another process may have brought it back before the lock was ours.
        let mut record = found.dir.record()?;
        crash::enter("gc");
        match self.is_due(&found.dir, &record)? {
            Some(CollectAction::Thin) => self.thin_parked(&found.dir, &mut record).map(Some),
            Some(CollectAction::Forget) => self.forget_killed(&found.dir, &mut record).map(Some),
            Some(CollectAction::Drop) | None => Ok(None),
        }
    }

    /// What `gc` would do with an instance, by its record and by what is on disk.
    fn is_due(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> Result<Option<CollectAction>, Error> {
        let age = |at: Option<Timestamp>| at.map_or(Duration::ZERO, |at| at.until(now()));
        let snapshots = &self.settings().snapshots;
        let parked_for = match record.state {
            RestingState::Killed if age(record.killed_at) > snapshots.keep => {
                return Ok(Some(CollectAction::Forget));
            }
            // What did not come along is nowhere else.
            RestingState::Away if has_left_something(dir) => return Ok(None),
            // Another machine has it: what is left here is let go by its age, as after a kill.
            RestingState::Away if record.lease.as_ref().is_some_and(Lease::is_left) => {
                if age(Some(record.updated_at)) > snapshots.keep {
                    return Ok(Some(CollectAction::Forget));
                }
                age(Some(record.updated_at))
            }
            RestingState::Killed => age(record.killed_at),
            RestingState::Away => age(Some(record.updated_at)),
            RestingState::Paused => age(record.paused_at),
            RestingState::Running
            | RestingState::Completed
            | RestingState::Failed
            | RestingState::Interrupted => {
                return Ok(None);
            }
        };
        let Some(Parked { place, .. }) = put_away(record)? else {
            return Ok(None);
        };
        if vault::park_state(&place)? != ParkState::Parked {
            return Ok(None);
        }
        let due = match vault::on_disk(&place)? {
            OnDisk::Least => false,
            // Begun, and cut off or held up: it is finished whatever its age.
            OnDisk::Part => true,
            OnDisk::Whole => parked_for > snapshots.park || !SavedWork::of(record)?.left.is_empty(),
        };
        Ok(due.then_some(CollectAction::Thin))
    }

    fn preview(
        &self,
        record: &InstanceRecord,
        action: CollectAction,
    ) -> Result<Option<Collected>, Error> {
        let mut collected = Collected::of(record, action);
        let Some(Parked { place, snapshot }) = put_away(record)? else {
            return Ok(Some(collected));
        };
        if action == CollectAction::Forget {
            collected.freed_bytes = vault::parked_bytes(&place)?;
            return Ok(Some(collected));
        }
        let repository = Repo::discover(&record.repository.root)?;
        let report = vault::preview_thin(&repository, &place, &snapshot, &self.thin_policy())?;
        Ok(Some(collected.with(report)))
    }

    fn thin_parked(
        &self,
        dir: &InstanceDir,
        record: &mut InstanceRecord,
    ) -> Result<Collected, Error> {
        let collected = Collected::of(record, CollectAction::Thin);
        let Some(Parked { place, snapshot }) = put_away(record)? else {
            return Ok(collected);
        };
        let repository = Repo::discover(&record.repository.root)?;
        let report = vault::thin(&repository, &place, &snapshot, &self.thin_policy(), now())?;
        note_left(dir, record, &report.left)?;
        Ok(collected.with(report))
    }

    /// Frees the disk that a killed instance holds, as far as its work is stored. None if there is nothing.
    pub(crate) fn purge(&self, id: &InstanceId) -> Result<Option<Collected>, Error> {
        let held = self.lock_instance(id.as_str(), Scope::Killed, "purge")?;
        let mut record = held.record;
        let Some(Parked { place, .. }) = put_away(&record)? else {
            return Ok(None);
        };
        let parked = vault::park_state(&place)? == ParkState::Parked;
        if !parked || vault::on_disk(&place)? == OnDisk::Least {
            return Ok(None);
        }
        crash::enter("gc");
        self.thin_parked(&held.dir, &mut record).map(Some)
    }

    /// Deletes for good, and only here. It is thinned first, so that what was in it is in the
    /// snapshot's objects and was proved; the snapshot itself goes to the trash and is dropped by its
    /// own age. Until all of it is gone, the instance is remembered.
    fn forget_killed(
        &self,
        dir: &InstanceDir,
        record: &mut InstanceRecord,
    ) -> Result<Collected, Error> {
        let mut collected = Collected::of(record, CollectAction::Forget);
        if let Some(Parked { place, .. }) = put_away(record)? {
            let before = vault::parked_bytes(&place)?;
            let parked = vault::park_state(&place)? == ParkState::Parked;
            if parked && vault::on_disk(&place)? != OnDisk::Least {
                collected.left = self.thin_parked(dir, record)?.left;
            }
            // What is not stored as it is now is not thrown away.
            if collected.left.is_empty() {
                collected.left = vault::discard_parked(&place)?;
            }
            collected.freed_bytes = before.saturating_sub(vault::parked_bytes(&place)?);
        }
        if !collected.left.is_empty() {
            note_left(dir, record, &collected.left)?;
            return Ok(collected);
        }
        if let Ok(repository) = Repo::discover(&record.repository.root) {
            for snapshot in vault::list_snapshots(&repository, Some(&record.id))? {
                vault::release_snapshot(&repository, &snapshot.reference, now())?;
            }
        }
        dir.forget()?;
        Ok(collected)
    }

    /// Whether saved work is this home's: another home that shares the repository has its own.
    pub(in crate::engine) fn is_ours(
        &self,
        known: &HashSet<InstanceId>,
        snapshot: &StoredSnapshot,
    ) -> bool {
        snapshot.instance().is_some_and(|id| known.contains(&id))
            || snapshot.home.as_ref() == Some(&self.home.state)
    }

    fn drop_old_snapshots(
        &self,
        repository: &Repo,
        dry_run: bool,
    ) -> Result<Vec<Collected>, Error> {
        let keep = i64::try_from(self.settings().snapshots.keep.as_secs()).unwrap_or(i64::MAX);
        let oldest = now().seconds_since_epoch().saturating_sub(keep);
        let before = Timestamp::from_epoch(oldest).unwrap_or_else(now);
        let known: HashSet<InstanceId> = self.store.ids()?.into_iter().collect();
        let ours = |snapshot: &StoredSnapshot| self.is_ours(&known, snapshot);
        let expired = if dry_run {
            vault::list_expired(repository, before, ours)?
        } else {
            vault::delete_expired(repository, before, now(), ours)?
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
                    left: Vec::new(),
                })
            })
            .collect())
    }
}

fn put_away(record: &InstanceRecord) -> Result<Option<Parked>, Error> {
    let vault = SavedWork::of(record)?;
    Ok(match (vault.parking, vault.snapshot) {
        (Some(place), Some(snapshot)) => Some(Parked { place, snapshot }),
        _ => None,
    })
}

/// Records what is still on the disk, if that has changed.
fn note_left(dir: &InstanceDir, record: &mut InstanceRecord, left: &[Left]) -> Result<(), Error> {
    let mut vault = SavedWork::of(record)?;
    if vault.left == left {
        return Ok(());
    }
    vault.left = left.to_vec();
    record.vault = Some(vault.written(record)?);
    Ok(dir.save(record)?)
}

impl PutAway {
    /// What cannot be read is not counted; `collect` reports it.
    fn add(&mut self, record: &InstanceRecord) {
        let place = put_away(record).ok().flatten().map(|parked| parked.place);
        let bytes = place.and_then(|place| vault::parked_bytes(&place).ok());
        if let Some(bytes) = bytes.filter(|bytes| *bytes > 0) {
            self.worktrees += 1;
            self.bytes += bytes;
        }
    }
}

impl Collection {
    fn fail(&mut self, what: &str, error: &Error) {
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        self.failed.push(NotCollected {
            what: what.to_owned(),
            error: text,
        });
    }
}

impl Collected {
    fn of(record: &InstanceRecord, action: CollectAction) -> Self {
        let killed = |at: Timestamp| format!("killed {}", at.local_minute());
        let what = match put_away(record) {
            Ok(Some(Parked { place, .. })) if action == CollectAction::Thin => {
                place.parked_worktree.display().to_string()
            }
            _ => record.killed_at.map_or_else(String::new, killed),
        };
        Self {
            action,
            instance: record.id.clone(),
            title: Some(record.title.clone()),
            what,
            freed_bytes: 0,
            dropped: Vec::new(),
            left: Vec::new(),
        }
    }

    fn with(self, report: vault::ThinReport) -> Self {
        let lossy = |path: &Path| path.to_string_lossy().into_owned();
        Self {
            freed_bytes: report.freed_bytes,
            dropped: report.dropped.iter().map(|(path, _)| lossy(path)).collect(),
            left: report.left,
            ..self
        }
    }
}
