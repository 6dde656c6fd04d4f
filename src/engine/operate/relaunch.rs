//! How an agent that ran before is launched again.

use crate::agents::{Strategy, Turnless, UnknownIds};
use crate::engine::base::{Core, Error};
use crate::engine::operate::options::Launch;
use crate::model::InstanceRecord;

impl Core {
    /// How this agent can be launched again, or why it cannot.
    pub(in crate::engine) fn choose_launch(
        &self,
        record: &InstanceRecord,
        untouched: bool,
    ) -> Result<Launch, Error> {
        let provider = self.provider_of(record)?;
        let (program, path) = provider.program(&record.agent_args, &self.host);
        if path.is_none() {
            return Err(Error::AgentMissing {
                agent: provider.display().to_owned(),
                program,
            });
        }
        let refused = |reason: &str| Error::CannotResume {
            title: record.title.clone(),
            run: record.run.clone(),
            provider: record.agent.clone(),
            reference: record.session_ref.clone(),
            reason: reason.to_owned(),
        };
        match (provider.strategy(), &record.session_ref) {
            (Strategy::Replay, _) => Ok(Launch::Fresh),
            (Strategy::None, _) => Err(refused("this agent cannot resume a conversation")),
            (Strategy::Native, None) if untouched => Ok(Launch::Fresh),
            (Strategy::Native, None) => Err(refused("no session reference is known")),
            // An agent that silently starts anew would make a lost conversation look resumed.
            (Strategy::Native, Some(reference))
                if provider.unknown_ids() == UnknownIds::Fresh
                    && provider.keeps(reference) == Some(false) =>
            {
                if untouched {
                    return Ok(Launch::Fresh);
                }
                Err(refused("the agent does not know this session any more"))
            }
            (Strategy::Native, Some(reference)) => {
                // An agent that was paused before its first turn has saved nothing under its
                // reference. If that is not known, the agent is asked to resume it.
                if self.has_turns(record, reference) != Some(false) {
                    return Ok(Launch::Native);
                }
                match provider.turnless() {
                    // A session without turns that was not ended in order leaves its file, and no
                    // other session may then be started under its reference.
                    Turnless::SameReference if !self.has_transcript(record, reference) => {
                        Ok(Launch::SameReference)
                    }
                    Turnless::SameReference | Turnless::NewReference => Ok(Launch::Fresh),
                    Turnless::Resume => Ok(Launch::Native),
                }
            }
        }
    }
}
