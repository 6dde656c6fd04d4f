//! A fresh attempt at the same task, in the same worktree.

use crate::engine::base::saved::SavedWork;
use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::options::{Launch, OnConflict};
use crate::engine::operate::recover::LockedInstance;
use crate::engine::operate::steps::fact;
use crate::lifecycle::{Facts, Plan};
use crate::model::{RestingState, RunId};

impl Core {
    /// The prompt that an instance began with, which a restart sends again.
    pub(crate) fn first_prompt(&self, given: &str) -> Result<Option<String>, Error> {
        Ok(self.find(given, Scope::Living)?.record.prompt)
    }

    /// Saves the work, then starts a new agent session with the original prompt, as a new run.
    pub(crate) fn restart(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<InstanceView, Error> {
        self.prepare()?;
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = self.lock_instance(given, Scope::Living, "restart")?;
        if record.state == RestingState::Killed {
            return Err(Error::WrongState {
                verb: "restart",
                title: record.title,
                state: record.state.into(),
            });
        }
        self.require_repository(&dir, &mut record, progress)?;
        let provider = self.provider_of(&record)?;
        let (program, path) = provider.program(&record.agent_args, &self.host);
        if path.is_none() {
            return Err(Error::AgentMissing {
                agent: provider.display().to_owned(),
                program,
            });
        }
        let snapshot = SavedWork::of(&record)?.snapshot;
        let facts = Facts::none()
            .with_option(fact::RELEASE, &snapshot)
            .with(fact::LAUNCH, &Launch::Fresh)
            .with(fact::ON_CONFLICT, &OnConflict::Stop)
            .with(fact::NEW_RUN, &RunId::random())
            .with_option(fact::PROMPT, &record.prompt);
        let record = self.operate(&lock, &dir, record, Plan::restart(), facts, progress)?;
        self.cut_turn_was_seen(&dir);
        drop(lock);
        self.end_camp_pause(&record.id, progress);
        self.show(record.id.as_str())
    }
}
