//! The whole camp: all instances paused together, and the same ones brought back.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::json;

use crate::engine::base::view::{CampState, InstanceView};
use crate::engine::base::{Core, Error, Found, Progress, Scope, now, pace};
use crate::engine::operate::bulk::Bulk;
use crate::engine::operate::camp_state::StateSnapshot;
use crate::engine::operate::options::{PauseOptions, ResumeOptions, StateChange};
use crate::model::{EventKind, InstanceId, InstanceRecord, RestingState, Title};
use crate::store::{Document, read_if_there, write_document};

/// The result of pausing or resuming the camp.
#[derive(Debug, Serialize)]
pub(crate) struct Camp {
    pub state: CampState,
    /// It was so before; nothing was changed and no event was sent.
    pub already: bool,
    pub instances: Vec<InstanceView>,
    pub failures: Vec<CampFailure>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CampFailure {
    pub id: InstanceId,
    pub title: Title,
    pub reason: String,
}

impl Core {
    /// Pauses all running instances at the same time, and records which they were. After a crash the
    /// same command continues it.
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
        // Instances that an earlier attempt has paused belong to the camp too.
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
            // Instances that could not be resumed stay in the list for the next time.
            let left = failures.iter().map(|failure| failure.id.clone()).collect();
            self.write_camp(CampState::Running, &left)?;
            if failures.is_empty() {
                // Everything in the list runs again. A list that stays is replaced by the next pause.
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

    /// Those that `resume --all` brings back.
    fn waiting_for_all(&self) -> Result<Vec<InstanceId>, Error> {
        self.settle_all()?;
        // Another process may be recording the instances that ended with the server.
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
        self.settle_all()?;
        Ok(self
            .all(Scope::Living)?
            .0
            .into_iter()
            .filter(|found| found.record.state == RestingState::Running && found.journal.is_none())
            .map(|found| found.record.id)
            .collect())
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

fn outcome(bulk: Bulk<StateChange>) -> (Vec<InstanceView>, Vec<CampFailure>) {
    let instances = bulk.done.into_iter().map(StateChange::into_view).collect();
    let failures = bulk
        .failures
        .into_iter()
        // One that was killed or has ended meanwhile is no failure of the camp.
        .filter(|failure| {
            !matches!(
                failure.error,
                Error::NoSuchInstance { .. } | Error::Ended { .. } | Error::WrongState { .. }
            )
        })
        .filter_map(|failure| {
            Some(CampFailure {
                id: failure.id?,
                title: failure.title,
                reason: failure.error.told(),
            })
        })
        .collect();
    (instances, failures)
}
