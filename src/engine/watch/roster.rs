//! All instances and their status, for the daemon: files are read again only when they have changed.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::engine::base::Core;
use crate::engine::base::resolve::state_of;
use crate::model::{InstanceId, PauseReason, QueueCounts, RestingState, State, Title};
use crate::process::{memory_of, tree_of};
use crate::store::LoadedInstance;

/// What the scheduler needs to know of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstanceStatus {
    pub id: InstanceId,
    pub title: Title,
    pub state: State,
    pub autoyes: bool,
    /// How long it may be idle before it is paused.
    pub idle_timeout: Option<Duration>,
    pub pause_reason: Option<PauseReason>,
    pub queue: QueueCounts,
    /// Why the queue has stopped until the user restarts it.
    pub queue_stopped: Option<String>,
    /// What stood in its input box is typed again when it is at its prompt.
    pub draft_waits: bool,
    /// Rules can tell from the screen when it is idle; otherwise only silence can.
    pub has_rules: bool,
    /// Work is taken up again when its usage limit has reset.
    pub continues: bool,
}

/// What the files of an instance looked like when they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp([(u64, i64, i64); 4]);

/// Remembers the stamps of what was read.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    stamps: HashMap<InstanceId, Stamp>,
}

impl Roster {
    /// The instances that were added, removed or changed since the last call.
    pub(in crate::engine) fn changed(&mut self, core: &Core) -> Vec<InstanceId> {
        let ids = core.store.ids().unwrap_or_default();
        let mut changed: Vec<InstanceId> = self
            .stamps
            .keys()
            .filter(|id| !ids.contains(id))
            .cloned()
            .collect();
        self.stamps.retain(|id, _| !changed.contains(id));
        for id in ids {
            if self.has_changed(core, &id) {
                changed.push(id);
            }
        }
        changed
    }

    /// Whether this instance has changed since the last call.
    pub(in crate::engine) fn has_changed(&mut self, core: &Core, id: &InstanceId) -> bool {
        let directory = core.store.instance(id).path;
        let stamp = Stamp(
            ["record.json", "journal.jsonl", "queue.json", "autoyes.json"]
                .map(|name| touched(&directory.join(name))),
        );
        self.stamps.insert(id.clone(), stamp) != Some(stamp)
    }
}

fn touched(path: &Path) -> (u64, i64, i64) {
    std::fs::metadata(path).map_or((0, 0, 0), |file| {
        (
            file.ino(),
            file.mtime(),
            file.mtime_nsec() + file.size() as i64,
        )
    })
}

impl Core {
    /// The status of an instance; None if it is killed, does not exist, or cannot be read.
    pub(crate) fn instance_status(&self, id: &InstanceId) -> Option<InstanceStatus> {
        let dir = self.store.instance(id);
        let LoadedInstance::Known { record, journal } = dir.load() else {
            return None;
        };
        if record.state == RestingState::Killed {
            return None;
        }
        let queue = dir.queue().unwrap_or_default();
        Some(InstanceStatus {
            state: state_of(&record, journal.as_deref()),
            autoyes: self.is_autoyes(&record),
            idle_timeout: self.idle_timeout(record.idle_timeout_s).map(|seconds| {
                crate::engine::base::time_scale::scaled(Duration::from_secs(seconds))
            }),
            pause_reason: record.pause.as_ref().map(|pause| pause.reason),
            queue: queue.counts(),
            queue_stopped: queue.stopped,
            draft_waits: record.draft_waits,
            continues: self.settings().limits.continues,
            has_rules: self
                .provider_of(&record)
                .is_ok_and(|provider| provider.rules().can_detect_idle()),
            title: record.title,
            id: record.id,
        })
    }

    /// How much memory everything that runs on behalf of these instances holds.
    pub(crate) fn total_memory(&self, ids: &[InstanceId]) -> u64 {
        ids.iter()
            .filter_map(|id| self.store.instance(id).record().ok())
            .map(|record| {
                let leader = record.place.as_ref().map(|place| &place.agent);
                memory_of(&tree_of(leader, &record.marker()))
            })
            .sum()
    }
}
