//! Resumes an instance as it was.

use serde_json::json;

use crate::agents::{Discovered, Strategy};
use crate::config::ResumePrompt;
use crate::conversation::resume_prompt;
use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::carry::parts::has_session_stayed;
use crate::engine::operate::options::{Launch, PromptOnResume, ResumeOptions, StateChange};
use crate::engine::operate::recover::LockedInstance;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Prepared;
use crate::lifecycle::{Facts, Plan};
use crate::model::{EventKind, InstanceRecord, RestingState};
use crate::store::InstanceDir;

impl Core {
    /// Brings an instance back because a user wants it: that ends a pause of the whole camp.
    pub(crate) fn resume(
        &self,
        given: &str,
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Result<StateChange, Error> {
        let asked = self.bring_back(given, options, progress)?;
        if let StateChange::Done(view) = &asked {
            self.end_camp_pause(&view.id, progress);
        }
        Ok(asked)
    }

    pub(in crate::engine) fn bring_back(
        &self,
        given: &str,
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Result<StateChange, Error> {
        self.prepare()?;
        let locked = self.lock_instance(given, Scope::Living, "resume")?;
        self.bring_back_locked(locked, options, progress)
    }

    /// The same for a caller that has looked at it under its lock.
    pub(in crate::engine) fn bring_back_locked(
        &self,
        locked: LockedInstance,
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Result<StateChange, Error> {
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = locked;
        match record.state {
            RestingState::Paused
            | RestingState::Completed
            | RestingState::Failed
            | RestingState::Interrupted => {}
            RestingState::Running => {
                drop(lock);
                return Ok(StateChange::Already(Box::new(
                    self.show(record.id.as_str())?,
                )));
            }
            RestingState::Away | RestingState::Killed => {
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
        let prompt = self.prompt_for(&dir, &record, launch, &options.prompt);
        if self.is_autoyes(&record) {
            for warning in self.autoyes_warnings(Some(&record), record.seal.is_some()) {
                progress.note(&warning);
            }
        }
        self.emit(EventKind::Resuming, &record, json!({}));
        let snapshot = SavedWork::of(&record)?.snapshot;
        let facts = Facts::none()
            .with_option(fact::RELEASE, &snapshot)
            .with(fact::LAUNCH, &launch)
            .with(fact::ON_CONFLICT, &options.on_conflict)
            .with_option(fact::PROMPT, &prompt);
        let facts = facts.with_option(fact::DRAFT, &record.unsent_with(None));
        let journal = self.begin_journal(&dir, Plan::resume(), facts)?;
        let known = Prepared {
            repository,
            ahead: None,
            arrival: None,
            changes: None,
        };
        let record = self.carry_out_prepared(&lock, &dir, journal, record, known, progress)?;
        drop(lock);
        Ok(StateChange::Done(Box::new(self.view_at_rest(&record))))
    }

    /// Looks for the reference of an agent that ended without being observed. Returns whether it is
    /// certain that there never was a conversation here.
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
            Discovered::Unclear => Ok(has_session_stayed(dir)),
        }
    }

    /// The prompt for the resumed agent. An agent that starts a new conversation is told the state of
    /// the work.
    fn prompt_for(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        launch: Launch,
        wanted: &PromptOnResume,
    ) -> Option<String> {
        match wanted {
            PromptOnResume::This(prompt) => Some(prompt.clone()),
            PromptOnResume::Nothing => None,
            PromptOnResume::AsConfigured => {
                // An agent that never had a turn and got no prompt starts as before.
                let replays = launch == Launch::Fresh
                    && self.provider_of(record).is_ok_and(|p| {
                        let replay = p.strategy() == Strategy::Replay;
                        p.rules().can_detect_idle() && (replay || record.prompt.is_some())
                    });
                (replays || self.settings().resume.prompt == ResumePrompt::Auto)
                    .then(|| self.where_it_was(dir, record))
            }
        }
    }

    /// Summary, last action and pending tasks, as a prompt.
    fn where_it_was(&self, dir: &InstanceDir, record: &InstanceRecord) -> String {
        let task = record.prompt.as_deref();
        if let Some(pause) = &record.pause {
            let (summary, action) = (pause.summary.as_deref(), pause.last_action.as_deref());
            return resume_prompt(task, summary, action, &pause.pending_tasks, &pause.stopped);
        }
        // It ended without a pause: what it was doing is in its conversation alone.
        if let Err(error) = self.import_conversation(dir, record) {
            tracing::warn!(%error, "import the conversation of an agent that has ended");
        }
        let work = self.work_state(dir, record);
        let (summary, action) = (work.summary.as_deref(), work.last_action.as_deref());
        resume_prompt(task, summary, action, &work.pending_tasks, &[])
    }
}
