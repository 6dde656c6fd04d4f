//! What files tell of an instance besides its record. Reading them need not wait for tmux.

use crate::engine::base::saved::SavedWork;
use crate::engine::base::usage::{KeptUsage, UsageView};
use crate::engine::base::view::WorkKept;
use crate::engine::base::{Core, Found, now};
use crate::engine::watch::changes::LiveSigns;
use crate::engine::watch::standing::{SharedTimes, standing};
use crate::model::{
    InstanceRecord, PullRequestRecord, QueueCounts, RunRecord, Standing, Timestamp,
};

/// The part of a view that is on disk.
#[derive(Debug)]
pub(in crate::engine) struct OnDisk {
    pub run: Option<RunRecord>,
    pub pull_request: Option<PullRequestRecord>,
    /// None where it is empty.
    pub queue: Option<QueueCounts>,
    pub turn_cut_at: Option<Timestamp>,
    pub usage: Option<UsageView>,
    /// How often the seal has refused something.
    pub denied: u64,
    pub autoyes: bool,
    /// Why autoyes was switched off other than by the user.
    pub autoyes_stopped: Option<String>,
    pub kept: WorkKept,
}

/// The part of it that takes longer, for views that count changes.
#[derive(Debug)]
pub(in crate::engine) struct ChangeSigns {
    pub standing: Option<Standing>,
    /// None where there is no worktree.
    pub live: Option<LiveSigns>,
}

impl ChangeSigns {
    pub(in crate::engine) fn read(found: &Found, shared: &SharedTimes) -> Self {
        Self {
            standing: standing(&found.dir, &found.record, shared),
            live: LiveSigns::read(&found.dir, &found.record.worktree.path),
        }
    }
}

impl OnDisk {
    /// For views of which only states, activities and usage are wanted: no other file is read.
    pub(in crate::engine) fn brief(usage: &KeptUsage) -> Self {
        Self {
            run: None,
            pull_request: None,
            queue: None,
            turn_cut_at: None,
            usage: UsageView::of(usage, now()),
            denied: 0,
            autoyes: false,
            autoyes_stopped: None,
            kept: WorkKept::default(),
        }
    }
}

impl Core {
    pub(in crate::engine) fn on_disk(&self, found: &Found, usage: &KeptUsage) -> OnDisk {
        let Found { dir, record, .. } = found;
        // A switch that cannot be read counts as off.
        let switch = dir.autoyes(record).ok();
        let queue = dir.queue().ok();
        OnDisk {
            run: dir.run(&record.run).ok(),
            pull_request: dir.pull_request().ok().flatten(),
            turn_cut_at: queue.as_ref().and_then(|queue| queue.cut_at),
            queue: queue
                .map(|queue| queue.counts())
                .filter(|counts| *counts != QueueCounts::default()),
            usage: UsageView::of(usage, now()),
            denied: record.seal.as_ref().map_or(0, |_| dir.denied()),
            autoyes: switch.as_ref().is_some_and(|switch| switch.is_on(now())),
            autoyes_stopped: switch.and_then(|switch| switch.stopped),
            kept: kept(record),
        }
    }
}

/// Where the files of an instance are now, whatever was recorded when they were put there.
fn kept(record: &InstanceRecord) -> WorkKept {
    if record.worktree.path.is_dir() {
        return WorkKept::InPlace;
    }
    match SavedWork::of(record) {
        Ok(SavedWork {
            parking: Some(place),
            ..
        }) if place.parked_worktree.is_dir() => WorkKept::PutAway,
        Ok(SavedWork {
            snapshot: Some(_), ..
        }) => WorkKept::SnapshotOnly,
        Ok(_) | Err(_) => WorkKept::Gone,
    }
}
