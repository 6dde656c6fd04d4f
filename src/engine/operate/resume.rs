//! Bringing an instance back as it was.

use serde_json::json;

use crate::agents::{Discovered, Strategy};
use crate::config::ResumePrompt;
use crate::conversation::resume_prompt;
use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::options::{Asked, Launch, ResumeOptions, Told};
use crate::engine::operate::recover::Held;
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Foresight;
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
    ) -> Result<Asked, Error> {
        let asked = self.bring_back(given, options, progress)?;
        if let Asked::Done(view) = &asked {
            self.end_camp_pause(&view.id, progress);
        }
        Ok(asked)
    }

    pub(in crate::engine) fn bring_back(
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
        let snapshot = SavedWork::of(&record)?.snapshot;
        let facts = Facts::none()
            .with_option(fact::RELEASE, &snapshot)
            .with(fact::LAUNCH, &launch)
            .with(fact::ON_CONFLICT, &options.on_conflict)
            .with_option(fact::PROMPT, &prompt);
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
