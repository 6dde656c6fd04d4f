//! Finds the conversation that an agent is in: some choose it themselves, and `/clear` or `/new`
//! change it.

use crate::agents::{Discovered, DiscoveryContext, DiscoveryCost, Strategy};
use crate::engine::base::{Core, Found, now};
use crate::model::{InstanceRecord, RestingState, Timestamp};
use crate::process::tree_of;
use crate::store::{HookReport, InstanceDir};

impl Core {
    /// The reference that the agent's own files tell, while it runs or after it has ended.
    pub(in crate::engine) fn trace(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> Discovered {
        let Ok(provider) = self.provider_of(record) else {
            return Discovered::Unclear;
        };
        let leader = record.place.as_ref().map(|place| &place.agent);
        let cheap = provider.discovery_cost(&self.host) == Some(DiscoveryCost::Low);
        let pids: Vec<i32> = match leader.filter(|leader| leader.is_alive()) {
            // The agent's process is enough if that keeps the entry.
            Some(leader) if cheap => vec![leader.pid],
            Some(leader) => tree_of(Some(leader), &record.marker())
                .iter()
                .map(|process| process.pid)
                .collect(),
            None => Vec::new(),
        };
        let run = dir.run(&record.run);
        let since = run.map_or(record.created_at, |run| run.created_at);
        provider.discover(&DiscoveryContext {
            leader,
            pids: &pids,
            cwd: &record.agent_directory(),
            repository: &record.repository.root,
            since: since.system(),
            host: &self.host,
        })
    }

    /// Keeps the reference of a running agent current, as far as that is cheap.
    pub(in crate::engine) fn follow(&self, found: &mut Found) {
        let record = &found.record;
        let provider = self.provider_of(record).ok();
        let cost = provider.and_then(|provider| provider.discovery_cost(&self.host));
        if record.state != RestingState::Running || found.journal.is_some() {
            return;
        }
        let known = record.session_ref.as_deref();
        let started = record.resumed_at.unwrap_or(record.created_at);
        if !is_worthwhile(cost, known, started, || found.dir.hook_report()) {
            return;
        }
        let Discovered::Found(reference) = self.trace(&found.dir, record) else {
            return;
        };
        if record.session_ref.as_ref() != Some(&reference) {
            found.record.session_ref = Some(reference.clone());
            // If it cannot be written now (busy, read-only), the view is right and the next look writes it.
            if let Ok(_lock) = found.dir.try_lock_operation("follow")
                && let Err(error) = self.write_reference(&found.dir, &reference)
            {
                tracing::debug!(%error, "write the session reference");
            }
        }
    }

    fn write_reference(
        &self,
        dir: &InstanceDir,
        reference: &str,
    ) -> Result<(), crate::engine::base::Error> {
        let mut record = dir.record()?;
        if record.state != RestingState::Running || record.session_ref.as_deref() == Some(reference)
        {
            return Ok(());
        }
        // After the change the entries under the old reference would not be found again.
        if let Err(error) = self.import_conversation(dir, &record) {
            tracing::warn!(%error, "import the conversation before its reference changes");
        }
        self.count_usage(dir, &record);
        record.session_ref = Some(reference.to_owned());
        record.updated_at = now();
        dir.save(&mut record)?;
        self.write_run_reference(dir, &record)
    }

    /// Writes the same reference into the run.
    pub(in crate::engine) fn write_run_reference(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
    ) -> Result<(), crate::engine::base::Error> {
        let mut run = dir.run(&record.run)?;
        run.provider_session_ref.clone_from(&record.session_ref);
        run.resumable = self.is_resumable(record);
        run.updated_at = record.updated_at;
        Ok(dir.save_run(&run)?)
    }

    pub(in crate::engine) fn is_resumable(&self, record: &InstanceRecord) -> bool {
        self.provider_of(record)
            .is_ok_and(|provider| match provider.strategy() {
                Strategy::Native => record.session_ref.is_some(),
                Strategy::Replay => true,
                Strategy::None => false,
            })
    }
}

/// Whether to look for the reference now. Where that costs much, only if none is known, or if the agent's hooks
/// have told another one since it was started.
fn is_worthwhile(
    cost: Option<DiscoveryCost>,
    known: Option<&str>,
    started: Timestamp,
    heard: impl FnOnce() -> Option<HookReport>,
) -> bool {
    match cost {
        Some(DiscoveryCost::Low) => true,
        Some(DiscoveryCost::High) => {
            let told = || heard().filter(|heard| heard.at > started)?.session;
            known.is_none() || told().is_some_and(|told| Some(told.as_str()) != known)
        }
        Some(DiscoveryCost::VeryHigh) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_costly_look_is_taken_where_the_hooks_tell_of_another_conversation() {
        let at = |seconds| Timestamp::from_epoch(seconds).unwrap();
        let heard = |session: &str, seconds| HookReport {
            format: HookReport::FORMAT,
            event: "UserPromptSubmit".to_owned(),
            detail: None,
            session: Some(session.to_owned()),
            earlier: Vec::new(),
            background: false,
            at: at(seconds),
            before: None,
        };
        let costly =
            |known, report| is_worthwhile(Some(DiscoveryCost::High), known, at(100), || report);
        assert!(costly(None, None));
        assert!(!costly(Some("old"), None));
        assert!(!costly(Some("old"), Some(heard("old", 200))));
        assert!(costly(Some("old"), Some(heard("new", 200))));
        // What an earlier process has told says nothing about this one.
        assert!(!costly(Some("old"), Some(heard("new", 50))));
    }
}
