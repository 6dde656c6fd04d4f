//! The whole camp: all instances paused together, and the same ones brought back.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::core::now;
use super::{Asked, Engine, Error, InstanceView, PauseOptions, ResumeOptions, Scope, Silent};
use crate::model::{EventKind, InstanceId, Resting, Timestamp, Title};
use crate::store::{Document, StoreError, read_if_there, write_document};

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
    pub title: Title,
    pub reason: String,
}

/// Who was running when the camp was paused.
#[derive(Debug, Serialize, Deserialize)]
struct StateSnapshot {
    format: u32,
    paused_at: Timestamp,
    active_agents: Vec<InstanceId>,
    pending_tasks: Vec<String>,
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
    pub(crate) fn pause_all(&self, options: &PauseOptions) -> Result<Camp, Error> {
        self.prepare()?;
        let _gate = self
            .store
            .lock("gate", Duration::from_secs(5), "pause --all")?;
        let before = self.read_camp()?;
        if before
            .as_ref()
            .is_some_and(|camp| camp.state == CampState::Paused)
            && self.running()?.is_empty()
        {
            return Ok(Camp {
                state: CampState::Paused,
                already: true,
                instances: Vec::new(),
                failures: Vec::new(),
            });
        }
        let mut members: BTreeSet<InstanceId> = self.running()?.into_iter().collect();
        // Those whom an earlier attempt has paused already belong to the camp too.
        members.extend(before.into_iter().flat_map(|camp| camp.members));
        self.write_camp(CampState::Pausing, &members)?;
        let (instances, failures) =
            self.each(&members, |id| self.pause(id.as_str(), options, &mut Silent));
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
            },
        )?;
        self.write_camp(CampState::Paused, &members)?;
        self.emit_camp(
            EventKind::CampPaused,
            json!({ "paused_at": paused_at, "active_agents": active }),
        );
        Ok(Camp {
            state: CampState::Paused,
            already: false,
            instances,
            failures,
        })
    }

    /// Brings back exactly those that were running when the camp was paused.
    pub(crate) fn resume_all(&self, options: &ResumeOptions) -> Result<Camp, Error> {
        self.prepare()?;
        let _gate = self
            .store
            .lock("gate", Duration::from_secs(5), "resume --all")?;
        let camp = self.read_camp()?;
        let Some(camp) = camp.filter(|camp| camp.state != CampState::Running) else {
            return Ok(Camp {
                state: CampState::Running,
                already: true,
                instances: Vec::new(),
                failures: Vec::new(),
            });
        };
        let members: BTreeSet<InstanceId> =
            match read_if_there::<StateSnapshot>(&self.snapshot_path())? {
                Some(snapshot) => snapshot.active_agents.into_iter().collect(),
                None => camp.members,
            };
        let living: BTreeSet<InstanceId> = self
            .living()?
            .into_iter()
            .filter(|id| members.contains(id))
            .collect();
        let (instances, failures) =
            self.each(&living, |id| self.resume(id.as_str(), options, &mut Silent));
        if failures.is_empty() {
            self.write_camp(CampState::Running, &BTreeSet::new())?;
            // The list has served; what it named runs again.
            drop(std::fs::remove_file(self.snapshot_path()));
            let ids: Vec<&InstanceId> = instances.iter().map(|view| &view.id).collect();
            self.emit_camp(
                EventKind::CampResumed,
                json!({ "resumed_at": now(), "active_agents": ids }),
            );
        }
        Ok(Camp {
            state: if failures.is_empty() {
                CampState::Running
            } else {
                CampState::Paused
            },
            already: false,
            instances,
            failures,
        })
    }

    /// Whether everything is to rest: then no queue is fed and nothing is started by a timer.
    pub(crate) fn camp_is_paused(&self) -> Result<bool, Error> {
        Ok(self
            .read_camp()?
            .is_some_and(|camp| camp.state != CampState::Running))
    }

    /// All at once: each instance has a lock of its own, and the slowest one decides how long it takes.
    fn each(
        &self,
        members: &BTreeSet<InstanceId>,
        act: impl Fn(&InstanceId) -> Result<Asked, Error> + Sync,
    ) -> (Vec<InstanceView>, Vec<CampFailure>) {
        let done = Mutex::new((Vec::new(), Vec::new()));
        std::thread::scope(|scope| {
            for id in members {
                scope.spawn(|| {
                    let result = act(id);
                    let Ok(mut done) = done.lock() else {
                        return;
                    };
                    match result {
                        Ok(asked) => done.0.push(asked.view().clone()),
                        // One that was killed or has ended meanwhile is no failure of the camp.
                        Err(Error::NoSuchInstance { .. } | Error::WrongState { .. }) => {}
                        Err(error) => done.1.push(CampFailure {
                            title: self.title_of(id),
                            reason: error.told(),
                        }),
                    }
                });
            }
        });
        done.into_inner().unwrap_or_default()
    }

    fn title_of(&self, id: &InstanceId) -> Title {
        self.store
            .instance(id)
            .record()
            .map(|record| record.title)
            .or_else(|_| Title::new(id.as_str()))
            .unwrap_or_else(|_| unreachable!("an id is a title"))
    }

    fn running(&self) -> Result<Vec<InstanceId>, Error> {
        Ok(self
            .list(None, None)?
            .instances
            .into_iter()
            .filter(|view| view.state == crate::model::State::Running)
            .map(|view| view.id)
            .collect())
    }

    fn living(&self) -> Result<Vec<InstanceId>, Error> {
        Ok(self
            .all(Scope::Living)?
            .0
            .into_iter()
            .filter(|found| found.record.state != Resting::Killed)
            .map(|found| found.record.id)
            .collect())
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
