//! Whether a process runs inside an instance of this home, and inside which.
//!
//! Its ancestor processes decide, not its own claims: an agent can clear its environment, but cannot
//! change its ancestors. The launcher makes each agent the reaper of its orphans, so that a child
//! that has left its parent and its session still descends from the agent. The variable
//! `BIV_INSTANCE` is further evidence; it can take rights away and never gives any.

use crate::config::Home;
use crate::engine::base::rights::{Reach, Verb};
use crate::engine::base::{Core, Error, Scope};
use crate::model::{InstanceId, InstanceRecord};
use crate::process::{Identity, Lineage, lineage, variable_of};
use crate::store::Store;

const VARIABLE: &str = "BIV_INSTANCE";

/// On whose behalf a process acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The user, at a terminal or in a script.
    User,
    /// Something that runs inside an instance: an agent, or what it has started. None where it is not
    /// proved inside which.
    Inside(Option<InstanceId>),
}

/// Whether this process says that it belongs to an instance, and is proved to belong to another.
pub(in crate::engine) fn claims_another_instance(home: &Home, claimed: &InstanceId) -> bool {
    let found = lineage(Identity::of_this_process().pid);
    let dir = Store::new(home.state.clone()).instance(claimed);
    // The usual case, which agents wait for: nothing but this one record is read.
    if dir
        .record()
        .is_ok_and(|record| runs_agent_of(&found, &record))
    {
        return false;
    }
    let proved = Core::open(home.clone()).ok().and_then(|core| {
        core.descends_from_server(&found)
            .then(|| core.agent_among(&found, &[]))
            .flatten()
    });
    proved.is_some_and(|proved| proved != *claimed)
}

/// Whether the agent of this instance is one of these processes.
fn runs_agent_of(found: &Lineage, record: &InstanceRecord) -> bool {
    let place = record.place.as_ref();
    place.is_some_and(|place| found.processes.contains(&place.agent))
}

impl Core {
    /// On whose behalf this process acts.
    pub(crate) fn caller(&self) -> Caller {
        self.caller_of(Identity::of_this_process().pid)
    }

    /// The same of another process. One that is gone is not taken for the user.
    pub(in crate::engine) fn caller_of(&self, pid: i32) -> Caller {
        let found = lineage(pid);
        if !found.whole {
            return Caller::Inside(None);
        }
        let marks = self.marks(&found);
        if marks.is_empty() && !self.descends_from_server(&found) {
            return Caller::User;
        }
        Caller::Inside(self.agent_among(&found, &marks))
    }

    /// The instances of this home that the environments of these processes name.
    fn marks(&self, found: &Lineage) -> Vec<InstanceId> {
        let mut marks: Vec<InstanceId> = Vec::new();
        for process in &found.processes {
            if let Some(id) =
                variable_of(process.pid, VARIABLE).and_then(|id| InstanceId::parse(&id))
                && !marks.contains(&id)
            {
                marks.push(id);
            }
        }
        // Instances of other homes do not count.
        if !marks.is_empty() {
            let known = self.store.ids().unwrap_or_default();
            marks.retain(|id| known.contains(id));
        }
        marks
    }

    /// Every pane is a child of our tmux server, and no process of the user is.
    fn descends_from_server(&self, found: &Lineage) -> bool {
        if let Some(server) = self.server().identity() {
            return found.processes.contains(&server);
        }
        // The file that names the server may be missing: then the records tell.
        self.server().socket_path().exists()
            && self.places().iter().any(|(_, agent, server)| {
                found.processes.contains(agent) || found.processes.contains(server)
            })
    }

    /// The instance whose agent is one of these processes. The likely ones are looked at first.
    fn agent_among(&self, found: &Lineage, likely: &[InstanceId]) -> Option<InstanceId> {
        for id in likely {
            if let Ok(record) = self.store.instance(id).record()
                && runs_agent_of(found, &record)
            {
                return Some(record.id);
            }
        }
        let places = self.places();
        found.processes.iter().find_map(|process| {
            let place = places.iter().find(|(_, agent, _)| agent == process);
            place.map(|(id, ..)| id.clone())
        })
    }

    /// Where agents run or ran last: the instance, the agent's process, its tmux server.
    fn places(&self) -> Vec<(InstanceId, Identity, Identity)> {
        let found = self.all(Scope::Living).map(|(found, _)| found);
        let places = found.unwrap_or_default().into_iter().filter_map(|found| {
            let place = found.record.place?;
            Some((found.record.id, place.agent, place.server))
        });
        places.collect()
    }

    /// Refuses what a process inside an instance may not do. `targets` are the instances concerned, as
    /// the user typed them.
    pub(crate) fn require(&self, verb: Verb, targets: &[String]) -> Result<(), Error> {
        let reach = verb.reach();
        if reach == Reach::Everyone {
            return Ok(());
        }
        let Caller::Inside(own) = self.caller() else {
            return Ok(());
        };
        let is_own = |given: &String| {
            let found = self.find(given, Scope::WithKilled);
            found.is_ok_and(|found| Some(&found.record.id) == own.as_ref())
        };
        if reach == Reach::Own && !targets.is_empty() && targets.iter().all(is_own) {
            return Ok(());
        }
        let instance = own
            .and_then(|id| self.find(id.as_str(), Scope::WithKilled).ok())
            .map(|found| found.record.title);
        Err(Error::Inside {
            verb,
            instance,
            leave: self.detach_key(),
        })
    }
}
