//! Bringing an instance back as it was.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::pause::Asked;
use super::recover::Held;
use super::steps::{Foresight, Vault, fact};
use super::{Engine, Error, Progress, Scope};
use crate::agents::{Discovered, Strategy, Turnless};
use crate::config::ResumePrompt;
use crate::conversation::resume_prompt;
use crate::lifecycle::{Facts, Plan};
use crate::model::{EventKind, InstanceRecord, RestingState};
use crate::store::InstanceDir;

/// What the resumed agent is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// As `resume.prompt` says.
    AsConfigured,
    Nothing,
    This(String),
}

/// What becomes of saved changes that conflict with a branch that was moved meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnConflict {
    /// Nothing is changed; the instance stays paused.
    Stop,
    /// What was saved is restored as it was, on a branch of its own.
    Keep,
    /// Both versions, between conflict markers; what is in the way is moved aside.
    Markers,
}

#[derive(Debug, Clone)]
pub(crate) struct ResumeOptions {
    pub told: Told,
    pub on_conflict: OnConflict,
}

impl ResumeOptions {
    /// For an instance that is woken by a message or a visit.
    pub(super) fn quiet() -> Self {
        Self {
            told: Told::AsConfigured,
            on_conflict: OnConflict::Stop,
        }
    }
}

/// How the agent is to be launched again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Launch {
    /// A new conversation.
    Fresh,
    /// A new conversation under the reference that was given before: there was no turn yet.
    SameReference,
    /// The agent's own resume, by its explicit reference.
    Native,
}

impl Engine {
    /// Brings an instance back because a user wants it: that ends a pause of the whole camp.
    pub(crate) fn resume(
        &self,
        given: &str,
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Result<Asked, Error> {
        let asked = self.bring_back(given, options, progress)?;
        if let Asked::Done(view) = &asked {
            self.end_camp_pause(&view.id, progress);
        }
        Ok(asked)
    }

    pub(super) fn bring_back(
        &self,
        given: &str,
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Result<Asked, Error> {
        self.prepare()?;
        let Held {
            dir,
            mut record,
            lock,
        } = self.hold(given, Scope::Living, "resume")?;
        match record.state {
            RestingState::Paused
            | RestingState::Completed
            | RestingState::Failed
            | RestingState::Interrupted => {}
            RestingState::Running => {
                drop(lock);
                return Ok(Asked::Already(Box::new(self.show(record.id.as_str())?)));
            }
            RestingState::Killed => {
                return Err(Error::WrongState {
                    verb: "resume",
                    title: record.title,
                    state: record.state.into(),
                });
            }
        }
        let repository = self.require_repository(&dir, &mut record, progress)?;
        let untouched = self.recall_reference(&dir, &mut record)?;
        let launch = self.choose_launch(&record, untouched)?;
        let prompt = self.prompt_for(&record, launch, &options.told);
        if self.is_autoyes(&record) {
            for warning in self.autoyes_warnings(Some(&record)) {
                progress.note(&warning);
            }
        }
        self.emit(EventKind::Resuming, &record, json!({}));
        let snapshot = Vault::of(&record)?.snapshot;
        let facts = Facts::none()
            .with(fact::RELEASE, &snapshot)
            .with(fact::LAUNCH, &launch)
            .with(fact::ON_CONFLICT, &options.on_conflict)
            .with(fact::PROMPT, &prompt);
        let journal = self.begin_journal(&dir, Plan::resume(), facts)?;
        let known = Foresight {
            repository,
            ahead: None,
        };
        let record = self.carry_out_foreseen(&lock, &dir, journal, record, known, progress)?;
        drop(lock);
        Ok(Asked::Done(Box::new(self.view_at_rest(&record))))
    }

    /// An agent that ended unseen may have left its reference behind. Gives back whether it is certain
    /// that there never was a conversation.
    fn recall_reference(
        &self,
        dir: &InstanceDir,
        record: &mut InstanceRecord,
    ) -> Result<bool, Error> {
        let native = self.provider_of(record)?.strategy() == Strategy::Native;
        if !native || record.session_ref.is_some() {
            return Ok(false);
        }
        match self.trace(dir, record) {
            Discovered::Found(reference) => {
                record.session_ref = Some(reference);
                dir.save(record)?;
                self.write_run_reference(dir, record)?;
                Ok(false)
            }
            Discovered::Nothing => Ok(true),
            Discovered::Unclear => Ok(false),
        }
    }

    /// How this agent can be brought back, or why it cannot.
    pub(super) fn choose_launch(
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
            (Strategy::Native, Some(reference)) => {
                // An agent that was paused before its first turn has kept nothing under its
                // reference. Where that cannot be told, it is asked for it.
                if self.has_turns(record, reference) != Some(false) {
                    return Ok(Launch::Native);
                }
                match provider.turnless() {
                    Turnless::SameReference => Ok(Launch::SameReference),
                    Turnless::NewReference => Ok(Launch::Fresh),
                    Turnless::Resume => Ok(Launch::Native),
                }
            }
        }
    }

    /// What the agent is told when it is back. One that starts anew would not know where it was.
    fn prompt_for(&self, record: &InstanceRecord, launch: Launch, told: &Told) -> Option<String> {
        match told {
            Told::This(prompt) => Some(prompt.clone()),
            Told::Nothing => None,
            Told::AsConfigured => {
                // One that never had a turn and was told nothing starts as it did before.
                let replays = launch == Launch::Fresh
                    && self.provider_of(record).is_ok_and(|p| {
                        let replay = p.strategy() == Strategy::Replay;
                        p.rules().can_detect_idle() && (replay || record.prompt.is_some())
                    });
                (replays || self.settings().resume.prompt == ResumePrompt::Auto)
                    .then(|| where_it_was(record))
            }
        }
    }
}

/// Summary, last action and pending tasks, as a prompt.
fn where_it_was(record: &InstanceRecord) -> String {
    let pause = record.pause.as_ref();
    resume_prompt(
        record.prompt.as_deref(),
        pause.and_then(|pause| pause.summary.as_deref()),
        pause.and_then(|pause| pause.last_action.as_deref()),
        pause.map_or(&[], |pause| &pause.pending_tasks),
    )
}
