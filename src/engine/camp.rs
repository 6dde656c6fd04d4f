//! The whole camp: all instances paused together, and the same ones brought back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::core::now;
use super::resolve::Found;
use super::{
    Asked, Bulk, Engine, Error, InstanceView, PauseOptions, Progress, ResumeOptions, Scope, pace,
};
use crate::model::{EventKind, InstanceId, InstanceRecord, RestingState, Timestamp, Title};
use crate::store::{Document, Lock, StoreError, read_if_there, write_document};

/// What became of the camp.
#[derive(Debug, Serialize)]
pub(crate) struct Camp {
    pub state: CampState,
    /// It was so before; nothing was changed and nobody was told.
    pub already: bool,
    pub instances: Vec<InstanceView>,
    pub failures: Vec<CampFailure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CampState {
    Running,
    Pausing,
    Paused,
}

#[derive(Debug, Serialize)]
pub(crate) struct CampFailure {
    pub id: InstanceId,
    pub title: Title,
    pub reason: String,
}

/// Whether everything is to rest, for those who show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct CampView {
    pub state: CampState,
    pub paused_at: Option<Timestamp>,
}

impl CampView {
    /// No queue is fed, and nothing is started by the daemon.
    pub(crate) fn is_paused(self) -> bool {
        self.state != CampState::Running
    }
}

/// Who was running when the camp was paused.
#[derive(Debug, Serialize, Deserialize)]
struct StateSnapshot {
    format: u32,
    paused_at: Timestamp,
    active_agents: Vec<InstanceId>,
    pending_tasks: Vec<String>,
    /// When each of them was paused: one that was paused again since is not this camp's to resume.
    #[serde(default)]
    pauses: BTreeMap<InstanceId, Timestamp>,
}

impl StateSnapshot {
    /// Whether this instance still rests because the camp was paused.
    fn names(&self, record: &InstanceRecord) -> bool {
        let pause = record.pause.as_ref().map(|pause| pause.at);
        self.active_agents.contains(&record.id)
            && record.state == RestingState::Paused
            && self
                .pauses
                .get(&record.id)
                .is_none_or(|then| Some(*then) == pause)
    }
}

/// Whether the camp is paused, and who is being paused right now.
#[derive(Debug, Serialize, Deserialize)]
struct CampFile {
    format: u32,
    state: CampState,
    at: Timestamp,
    members: BTreeSet<InstanceId>,
}

impl Document for StateSnapshot {
    const FORMAT: u32 = 1;
}

impl Document for CampFile {
    const FORMAT: u32 = 1;
}

impl Engine {
    /// Asks every running instance at once, waits for all of them together, and writes down who they
    /// were. Cut off by a crash, it is continued by saying it again.
    pub(crate) fn pause_all(
        &self,
        options: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Result<Camp, Error> {
        self.prepare()?;
        let gate = self.gate("pause --all")?;
        let before = self.read_camp()?;
        let running = self.running()?;
        if running.is_empty()
            && before
                .as_ref()
                .is_some_and(|camp| camp.state == CampState::Paused)
        {
            return Ok(Camp::already(CampState::Paused));
        }
        let mut members: BTreeSet<InstanceId> = running.into_iter().collect();
        // Those whom an earlier attempt has paused already belong to the camp too.
        if let Some(before) = before.filter(|camp| camp.state == CampState::Pausing) {
            members.extend(before.members);
        }
        self.write_camp(CampState::Pausing, &members)?;
        let asked: Vec<InstanceId> = members.iter().cloned().collect();
        let bulk = self.pause_each(&asked, options, progress);
        let (instances, failures) = outcome(bulk);
        if !failures.is_empty() {
            return Ok(Camp {
                state: CampState::Pausing,
                already: false,
                instances,
                failures,
            });
        }
        let paused_at = now();
        let active: Vec<InstanceId> = instances.iter().map(|view| view.id.clone()).collect();
        let pauses = instances.iter().filter_map(|view| {
            let pause = view.pause.as_ref()?;
            Some((view.id.clone(), pause.at))
        });
        write_document(
            &self.snapshot_path(),
            &StateSnapshot {
                format: StateSnapshot::FORMAT,
                paused_at,
                active_agents: active.clone(),
                pending_tasks: instances
                    .iter()
                    .filter_map(|view| view.pause.as_ref())
                    .flat_map(|pause| pause.pending_tasks.clone())
                    .collect(),
                pauses: pauses.collect(),
            },
        )?;
        self.write_camp(CampState::Paused, &members)?;
        self.emit_camp(
            EventKind::CampPaused,
            json!({ "paused_at": paused_at, "active_agents": active }),
        );
        drop(gate);
        // A user who has started one meanwhile has ended the pause before it was complete.
        if let Some(id) = self.running()?.first() {
            self.end_camp_pause(id, progress);
        }
        Ok(Camp {
            state: self.camp()?.state,
            already: false,
            instances,
            failures,
        })
    }

    /// Brings back exactly those that were running when the camp was paused, and all that were
    /// interrupted: those of a machine that has gone down, for example.
    pub(crate) fn resume_all(
        &self,
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Result<Camp, Error> {
        self.prepare()?;
        let _gate = self.gate("resume --all")?;
        let was_paused = self.camp_is_paused()?;
        let members = self.waiting_for_all()?;
        if members.is_empty() && !was_paused {
            return Ok(Camp::already(CampState::Running));
        }
        let bulk = self.each(&members, pace::at_once(), progress, |id, progress| {
            self.bring_back(id.as_str(), options, progress)
        });
        let (instances, failures) = outcome(bulk);
        if failures.is_empty() || !instances.is_empty() {
            // Who could not be brought back is still named, for the next time.
            let left = failures.iter().map(|failure| failure.id.clone()).collect();
            self.write_camp(CampState::Running, &left)?;
            if failures.is_empty() {
                // The list has served; what it named runs again.
                drop(std::fs::remove_file(self.snapshot_path()));
            }
            let ids: Vec<&InstanceId> = instances.iter().map(|view| &view.id).collect();
            self.emit_camp(
                EventKind::CampResumed,
                json!({ "resumed_at": now(), "active_agents": ids }),
            );
        }
        Ok(Camp {
            state: self.camp()?.state,
            already: false,
            instances,
            failures,
        })
    }

    /// Whether everything is to rest: then no queue is fed and nothing is started by a timer.
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
    pub(super) fn end_camp_pause(&self, id: &InstanceId, progress: &mut dyn Progress) {
        let end = || -> Result<(), Error> {
            if !self.camp_is_paused()? {
                return Ok(());
            }
            // A process that pauses or resumes all says itself what the camp is then.
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

    /// Those that `resume --all` brings back.
    fn waiting_for_all(&self) -> Result<Vec<InstanceId>, Error> {
        self.settle_everyone()?;
        // Who is gone with the server may be written down by another process just now.
        let panes = self.server().panes()?;
        let is_gone = |found: &Found| {
            found.record.state == RestingState::Running
                && found.journal.is_none()
                && !panes
                    .iter()
                    .any(|pane| pane.instance.as_ref() == Some(&found.record.id))
        };
        let camp = self.read_camp()?;
        let snapshot = read_if_there::<StateSnapshot>(&self.snapshot_path())?;
        let named = |record: &InstanceRecord| match (&camp, &snapshot) {
            (Some(camp), _) if camp.state == CampState::Pausing => {
                record.state == RestingState::Paused && camp.members.contains(&record.id)
            }
            (_, Some(snapshot)) => snapshot.names(record),
            (Some(camp), None) => {
                record.state == RestingState::Paused && camp.members.contains(&record.id)
            }
            (None, None) => false,
        };
        Ok(self
            .all(Scope::Living)?
            .0
            .into_iter()
            .filter(|found| {
                found.record.state == RestingState::Interrupted
                    || is_gone(found)
                    || named(&found.record)
            })
            .map(|found| found.record.id)
            .collect())
    }

    fn running(&self) -> Result<Vec<InstanceId>, Error> {
        self.settle_everyone()?;
        Ok(self
            .all(Scope::Living)?
            .0
            .into_iter()
            .filter(|found| found.record.state == RestingState::Running && found.journal.is_none())
            .map(|found| found.record.id)
            .collect())
    }

    fn gate(&self, purpose: &str) -> Result<Lock, Error> {
        Ok(self.store.lock("gate", Duration::from_secs(5), purpose)?)
    }

    fn emit_camp(&self, kind: EventKind, data: serde_json::Value) {
        self.emit_event(kind, None, data);
    }

    fn read_camp(&self) -> Result<Option<CampFile>, Error> {
        Ok(read_if_there(&self.camp_path())?)
    }

    fn write_camp(&self, state: CampState, members: &BTreeSet<InstanceId>) -> Result<(), Error> {
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

    fn snapshot_path(&self) -> PathBuf {
        self.store.root().join("state_snapshot.json")
    }

    /// Those of the two files that cannot be read, each with what can be done about damage.
    pub(super) fn unreadable_camp_files(&self) -> Vec<(StoreError, &'static str)> {
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

impl Camp {
    fn already(state: CampState) -> Self {
        Self {
            state,
            already: true,
            instances: Vec::new(),
            failures: Vec::new(),
        }
    }
}

fn outcome(bulk: Bulk<Asked>) -> (Vec<InstanceView>, Vec<CampFailure>) {
    let instances = bulk.done.into_iter().map(Asked::into_view).collect();
    let failures = bulk
        .failures
        .into_iter()
        // One that was killed or has ended meanwhile is no failure of the camp.
        .filter(|failure| {
            !matches!(
                failure.error,
                Error::NoSuchInstance { .. } | Error::WrongState { .. }
            )
        })
        .map(|failure| CampFailure {
            id: failure.id,
            title: failure.title,
            reason: failure.error.told(),
        })
        .collect();
    (instances, failures)
}
