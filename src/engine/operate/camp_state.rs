//! Whether the whole camp is paused, and which instances ran then: two files and their lock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::engine::base::view::{CampState, CampView};
use crate::engine::base::{Core, Error, Progress, now};
use crate::model::{EventKind, InstanceId, InstanceRecord, RestingState, Timestamp};
use crate::store::{Document, Lock, StoreError, read_if_there, write_document};

/// The instances that ran when the camp was paused.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StateSnapshot {
    pub format: u32,
    pub paused_at: Timestamp,
    pub active_agents: Vec<InstanceId>,
    pub pending_tasks: Vec<String>,
    /// When each of them was paused: one that was paused again since is not this camp's to resume.
    #[serde(default)]
    pub pauses: BTreeMap<InstanceId, Timestamp>,
}

impl StateSnapshot {
    /// Whether this instance is still paused because the camp was.
    pub(super) fn names(&self, record: &InstanceRecord) -> bool {
        let pause = record.pause.as_ref().map(|pause| pause.at);
        self.active_agents.contains(&record.id)
            && record.state == RestingState::Paused
            && self
                .pauses
                .get(&record.id)
                .is_none_or(|then| Some(*then) == pause)
    }
}

/// Whether the camp is paused, and which instances are being paused now.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CampFile {
    pub format: u32,
    pub state: CampState,
    pub at: Timestamp,
    pub members: BTreeSet<InstanceId>,
}

impl Document for StateSnapshot {
    const FORMAT: u32 = 1;
}

impl Document for CampFile {
    const FORMAT: u32 = 1;
}

impl Core {
    /// Whether the camp is paused: then no queue is fed and no timer starts anything.
    pub(crate) fn camp_is_paused(&self) -> Result<bool, Error> {
        Ok(self.camp()?.is_paused())
    }

    pub(crate) fn camp(&self) -> Result<CampView, Error> {
        Ok(self
            .read_camp()?
            .filter(|camp| camp.state != CampState::Running)
            .map_or(
                CampView {
                    state: CampState::Running,
                    paused_at: None,
                },
                |camp| CampView {
                    state: camp.state,
                    paused_at: Some(camp.at),
                },
            ))
    }

    /// A user has started this instance: the camp is not paused any more. The others stay as they are,
    /// and named, until all are resumed.
    pub(in crate::engine) fn end_camp_pause(&self, id: &InstanceId, progress: &mut dyn Progress) {
        let end = || -> Result<(), Error> {
            if !self.camp_is_paused()? {
                return Ok(());
            }
            // A process that pauses or resumes all instances writes the state itself.
            let Ok(_gate) = self.store.lock("gate", Duration::ZERO, "resume") else {
                return Ok(());
            };
            let Some(camp) = self
                .read_camp()?
                .filter(|camp| camp.state != CampState::Running)
            else {
                return Ok(());
            };
            self.write_camp(CampState::Running, &camp.members)?;
            self.emit_camp(
                EventKind::CampResumed,
                json!({ "resumed_at": now(), "active_agents": [id] }),
            );
            Ok(())
        };
        if let Err(error) = end() {
            progress.note(&format!("the camp is still paused: {}", error.told()));
        }
    }

    pub(super) fn gate(&self, purpose: &str) -> Result<Lock, Error> {
        Ok(self.store.lock("gate", Duration::from_secs(5), purpose)?)
    }

    pub(super) fn emit_camp(&self, kind: EventKind, data: serde_json::Value) {
        self.emit_event(kind, None, data);
    }

    pub(super) fn read_camp(&self) -> Result<Option<CampFile>, Error> {
        Ok(read_if_there(&self.camp_path())?)
    }

    pub(super) fn write_camp(
        &self,
        state: CampState,
        members: &BTreeSet<InstanceId>,
    ) -> Result<(), Error> {
        let camp = CampFile {
            format: CampFile::FORMAT,
            state,
            at: now(),
            members: members.clone(),
        };
        Ok(write_document(&self.camp_path(), &camp)?)
    }

    fn camp_path(&self) -> PathBuf {
        self.store.root().join("camp.json")
    }

    pub(super) fn snapshot_path(&self) -> PathBuf {
        self.store.root().join("state_snapshot.json")
    }

    /// Those of the two files that cannot be read, each with what can be done about damage.
    pub(in crate::engine) fn unreadable_camp_files(&self) -> Vec<(StoreError, &'static str)> {
        let camp = read_if_there::<CampFile>(&self.camp_path()).err();
        let snapshot = read_if_there::<StateSnapshot>(&self.snapshot_path()).err();
        let camp = camp.map(|error| {
            let hint = "`biv doctor --fix` moves it aside: the camp then counts as running, \
                        and instances are resumed one by one";
            (error, hint)
        });
        let snapshot = snapshot.map(|error| {
            let hint =
                "`biv doctor --fix` moves it aside: `biv resume --all` then goes by camp.json";
            (error, hint)
        });
        camp.into_iter().chain(snapshot).collect()
    }
}
