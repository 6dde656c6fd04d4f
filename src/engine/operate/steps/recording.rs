//! The last step of an operation: writes the record and the run.

use serde_json::json;

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Error, now};
use crate::engine::operate::options::KillOrder;
use crate::engine::operate::steps::fact::{self, Quiesced};
use crate::engine::operate::steps::work::Work;
use crate::engine::watch::archive::SavedTerminal;
use crate::lifecycle::{Facts, Operation};
use crate::model::{
    Branch, EventKind, Landing, Pause, PauseReason, RestingState, RunRecord, RunState, Timestamp,
};
use crate::process::stop_tree;
use crate::vault::SnapshotFact;

impl Work<'_> {
    pub(super) fn record_result(&mut self, facts: &Facts) -> Result<Facts, Error> {
        match self.operation {
            Operation::Create => self.record_created(facts),
            Operation::Import | Operation::Return => self.record_imported(facts),
            Operation::Pause => self.record_paused(facts),
            Operation::Resume => self.record_resumed(facts),
            Operation::Restart => self.record_restarted(facts),
            Operation::Kill => self.record_killed(facts),
            Operation::UndoKill => Ok(Facts::none()),
            Operation::Land => self.record_landed(facts),
            Operation::UndoLand => self.record_unlanded(facts),
        }
    }

    /// Repeats the recording of an operation that has ended.
    pub(in crate::engine) fn record_again(
        mut self,
        operation: Operation,
        facts: &Facts,
    ) -> Result<(), Error> {
        self.operation = operation;
        self.record_result(facts).map(drop)
    }

    fn record_created(&mut self, facts: &Facts) -> Result<Facts, Error> {
        self.place(facts)?;
        self.record.session_ref = facts.read(fact::SESSION_REF)?;
        self.dir.save(&mut self.record)?;
        let mut run = self.dir.run(&self.record.run)?;
        run.provider_session_ref
            .clone_from(&self.record.session_ref);
        run.resumable = self.is_resumable();
        run.updated_at = self.record.updated_at;
        self.dir.save_run(&run)?;
        self.core.emit(
            EventKind::Created,
            &self.record,
            json!({ "agent": self.record.agent }),
        );
        self.core.emit(EventKind::Running, &self.record, json!({}));
        Ok(Facts::none())
    }

    /// Imported instances are paused: the user decides whether to resume them.
    fn record_imported(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let at = now();
        let snapshot: Option<SnapshotFact> = facts.read(fact::SNAPSHOT)?;
        // Until the other machine has handed it over, it is not ours.
        let offered = self.record.lease.is_some();
        self.record.state = match offered {
            true => RestingState::Away,
            false => RestingState::Paused,
        };
        if facts.read(fact::SESSION_LOST)? == Some(true) {
            self.record.session_ref = None;
        }
        // An export brings what is known of its pause.
        let brought = self.record.pause.take();
        self.record.pause = Some(Pause {
            snapshot: snapshot.as_ref().map(|snapshot| snapshot.reference.clone()),
            ..brought.unwrap_or(Pause {
                at,
                reason: PauseReason::User,
                snapshot: None,
                scrollback_lines: 0,
                last_action: None,
                pending_tasks: Vec::new(),
                summary: None,
                forced: false,
                stopped: Vec::new(),
                draft: None,
            })
        });
        if snapshot.is_some() {
            self.put_away(snapshot, facts)?;
        }
        self.record.paused_at = Some(at);
        self.record.updated_at = at;
        self.dir.save(&mut self.record)?;
        self.rest_run(at, PauseReason::User)?;
        if offered {
            return Ok(Facts::none());
        }
        self.core.emit(
            EventKind::Created,
            &self.record,
            json!({ "agent": self.record.agent }),
        );
        self.core.emit(
            EventKind::Paused,
            &self.record,
            json!({ "reason": PauseReason::User, "imported": true }),
        );
        Ok(Facts::none())
    }

    /// The run of an instance that rests from now on.
    fn rest_run(&self, at: Timestamp, reason: PauseReason) -> Result<(), Error> {
        let mut run = self.dir.run(&self.record.run)?;
        run.state = RunState::Paused;
        run.paused_at = Some(at);
        run.pause_reason = Some(reason);
        run.provider_session_ref
            .clone_from(&self.record.session_ref);
        run.resumable = self.is_resumable();
        run.updated_at = at;
        Ok(self.dir.save_run(&run)?)
    }

    fn record_paused(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(options) = facts.read(fact::PAUSE)? else {
            return Ok(Facts::none());
        };
        let at = now();
        let quiesced: Quiesced = facts.read(fact::QUIESCED)?.unwrap_or_default();
        let terminal: Option<SavedTerminal> = facts.read(fact::TERMINAL)?;
        let snapshot: Option<SnapshotFact> = facts.read(fact::SNAPSHOT)?;
        if self.record.state == RestingState::Paused
            && let Some(pause) = &mut self.record.pause
        {
            // It was paused before, and only its worktree was put away.
            pause.snapshot = snapshot.as_ref().map(|snapshot| snapshot.reference.clone());
            self.put_away(snapshot, facts)?;
            self.record.updated_at = at;
            self.dir.save(&mut self.record)?;
            return Ok(Facts::none());
        }
        self.take_found_reference(facts)?;
        self.import_conversation();
        self.record.directories = self.directories();
        let work_state = self.core.work_state(&self.dir, &self.record);
        self.was_active(terminal.as_ref());
        // Written twice after a crash, it finds the same text in its own pause.
        let draft = self.record.unsent_with(quiesced.draft);
        self.record.draft = None;
        self.record.draft_waits = false;
        self.record.pause = Some(Pause {
            at,
            reason: options.reason,
            snapshot: snapshot.as_ref().map(|snapshot| snapshot.reference.clone()),
            scrollback_lines: terminal.map_or(0, |terminal| terminal.lines),
            // The dismissed dialog says more than the activity before it.
            last_action: quiesced.asked.or(work_state.last_action),
            pending_tasks: work_state.pending_tasks,
            summary: work_state.summary,
            forced: quiesced.forced,
            stopped: quiesced.stopped,
            draft,
        });
        self.put_away(snapshot, facts)?;
        self.record.state = RestingState::Paused;
        self.record.paused_at = Some(at);
        self.record.updated_at = at;
        self.dir.save(&mut self.record)?;
        self.rest_run(at, options.reason)?;
        self.core.emit(
            EventKind::Paused,
            &self.record,
            json!({ "reason": options.reason, "forced": quiesced.forced }),
        );
        Ok(Facts::none())
    }

    /// Back, or not: an agent that did not come up leaves a paused instance, with its worktree in
    /// place and the snapshot kept.
    fn record_resumed(&mut self, facts: &Facts) -> Result<Facts, Error> {
        if let Some(kept) = facts.read(fact::KEPT)? {
            self.record.branch = Some(Branch {
                name: kept.branch,
                made_by_us: true,
            });
        }
        if let Some(reason) = facts.read(fact::NOT_RESUMED)? {
            self.core.server().close_session(&self.record.id)?;
            stop_tree(None, &self.record.marker(), self.core.settings().pause.stop)?;
            let snapshot = facts.read(fact::RELEASE)?;
            let saved = SavedWork {
                snapshot,
                ..SavedWork::default()
            };
            self.record.vault = Some(saved.written(&self.record)?);
            // An interrupted instance stays interrupted, so that the next `resume --all` tries it again.
            if self.record.state != RestingState::Interrupted {
                self.record.state = RestingState::Paused;
            }
            self.record.updated_at = now();
            self.dir.save(&mut self.record)?;
            self.refusal = Some(Error::CannotResume {
                title: self.record.title.clone(),
                run: self.record.run.clone(),
                provider: self.record.agent.clone(),
                reference: self.record.session_ref.clone(),
                reason,
            });
            return Ok(Facts::none());
        }
        self.place(facts)?;
        let reference = facts.read(fact::SESSION_REF)?;
        let renewed = reference.is_some() && reference != self.record.session_ref;
        self.record.session_ref = reference.or_else(|| self.record.session_ref.take());
        self.record.resumed_at = Some(self.record.updated_at);
        if let Some(lease) = &mut self.record.lease {
            lease.resume = false;
        }
        self.keep_draft();
        self.record.vault = None;
        self.dir.save(&mut self.record)?;
        let mut run = self.dir.run(&self.record.run)?;
        run.state = RunState::Running;
        run.exit_code = None;
        run.provider_session_ref
            .clone_from(&self.record.session_ref);
        if renewed {
            run.resumed_from_run_id = Some(run.run_id.clone());
        }
        run.updated_at = self.record.updated_at;
        self.dir.save_run(&run)?;
        let aside: Vec<serde_json::Value> = facts
            .read(fact::MERGE)?
            .map_or_else(Vec::new, |merge| merge.aside)
            .iter()
            .map(|aside| {
                json!({
                    "path": aside.path().to_string_lossy(),
                    "to": aside.to().to_string_lossy(),
                })
            })
            .collect();
        let kept = facts.read(fact::KEPT)?;
        let mut data = json!({});
        if !aside.is_empty() {
            data["moved_aside"] = aside.into();
        }
        if let Some(kept) = kept {
            data["kept_on"] = kept.branch.into();
        }
        self.core.emit(EventKind::Resumed, &self.record, data);
        if let Ok(queue) = self.dir.queue()
            && let (Some(why), 1..) = (&queue.stopped, queue.counts().waiting)
        {
            self.progress.note(&format!(
                "its queue has stopped: {why}; then `biv queue --continue`"
            ));
        }
        Ok(Facts::none())
    }

    fn record_restarted(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(new_run) = facts.read(fact::NEW_RUN)? else {
            return Ok(Facts::none());
        };
        self.place(facts)?;
        let mut old = self.dir.run(&self.record.run)?;
        // Written twice after a crash: then the record names the new run already.
        if old.run_id != new_run {
            old.state = RunState::Superseded;
            old.superseded_by_run_id = Some(new_run.clone());
            old.updated_at = self.record.updated_at;
            self.dir.save_run(&old)?;
        }
        self.take_found_reference(facts)?;
        // Import the end of this run's conversation while its reference is still known.
        if old.run_id == self.record.run {
            self.import_conversation();
        }
        self.record.session_ref = facts.read(fact::SESSION_REF)?;
        self.dir.save_run(&RunRecord {
            run_id: new_run.clone(),
            state: RunState::Running,
            provider_session_ref: self.record.session_ref.clone(),
            resumable: self.is_resumable(),
            created_at: self.record.updated_at,
            updated_at: self.record.updated_at,
            paused_at: None,
            pause_reason: None,
            resumed_from_run_id: None,
            restart_of_run_id: Some(old.run_id.clone()).filter(|id| *id != new_run),
            superseded_by_run_id: None,
            exit_code: None,
            ..old
        })?;
        self.record.run = new_run;
        self.keep_draft();
        self.record.vault = None;
        if let Some(number) = facts.read(fact::SNAPSHOT_NUMBER)? {
            self.record.snapshots = number;
        }
        self.dir.save(&mut self.record)?;
        self.core.emit(
            EventKind::Running,
            &self.record,
            json!({ "restarted": true }),
        );
        Ok(Facts::none())
    }

    /// Ends the pause. What stood in the input box stays in the record until it is typed again.
    fn keep_draft(&mut self) {
        self.record.draft = self.record.unsent_with(None);
        self.record.draft_waits = false;
        self.record.pause = None;
    }

    /// Where the agent is from now on.
    fn place(&mut self, facts: &Facts) -> Result<(), Error> {
        self.record.place = facts.read(fact::PLACE)?;
        self.record.command = facts.read(fact::COMMAND)?.unwrap_or_default();
        self.record.state = RestingState::Running;
        self.record.interrupted_at = None;
        self.record.updated_at = now();
        self.record.last_active_at = self.record.updated_at;
        Ok(())
    }

    /// The reference that was learnt when the conversation was saved; after a crash only the journal
    /// knows it.
    fn take_found_reference(&mut self, facts: &Facts) -> Result<(), Error> {
        if let Some(reference) = facts.read(fact::FOUND_REF)? {
            self.record.session_ref = Some(reference);
        }
        Ok(())
    }

    fn is_resumable(&self) -> bool {
        self.core.is_resumable(&self.record)
    }

    /// Keeps the time of the last activity, so that lists keep their order.
    fn was_active(&mut self, terminal: Option<&SavedTerminal>) {
        let at = terminal.and_then(|terminal| Timestamp::from_epoch(terminal.active_at));
        self.record.last_active_at = at.map_or(self.record.last_active_at, |at| {
            at.max(self.record.last_active_at)
        });
    }

    /// Where the work is from now on.
    fn put_away(&mut self, snapshot: Option<SnapshotFact>, facts: &Facts) -> Result<(), Error> {
        let vault = SavedWork {
            snapshot,
            parking: facts.read(fact::PARKING)?,
            left: facts.read(fact::LEFT)?.unwrap_or_default(),
        };
        self.record.vault = Some(vault.written(&self.record)?);
        if let Some(number) = facts.read(fact::SNAPSHOT_NUMBER)? {
            self.record.snapshots = number;
        }
        Ok(())
    }

    fn record_killed(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let at = now();
        let exit_code: Option<i32> = facts.read(fact::EXIT_CODE)?;
        self.take_found_reference(facts)?;
        self.import_conversation();
        // A paused instance keeps what it had; a running one has just been parked.
        if let Some(snapshot) = facts.read(fact::SNAPSHOT)? {
            let terminal: Option<SavedTerminal> = facts.read(fact::TERMINAL)?;
            let order: Option<KillOrder> = facts.read(fact::KILL)?;
            let work_state = self.core.work_state(&self.dir, &self.record);
            self.was_active(terminal.as_ref());
            // What `undo-kill` brings it back as.
            self.record.pause = Some(Pause {
                at,
                reason: PauseReason::User,
                snapshot: Some(snapshot.reference.clone()),
                scrollback_lines: terminal.map_or(0, |terminal| terminal.lines),
                last_action: work_state.last_action,
                pending_tasks: work_state.pending_tasks,
                summary: work_state.summary,
                forced: order.is_some_and(|order| order.busy),
                stopped: Vec::new(),
                draft: None,
            });
            self.put_away(Some(snapshot), facts)?;
        }
        if facts.has(fact::GIVEN_BACK) {
            let vault = SavedWork::of(&self.record)?;
            let saved = SavedWork {
                parking: None,
                left: Vec::new(),
                ..vault
            };
            self.record.vault = Some(saved.written(&self.record)?);
        }
        self.record.state = RestingState::Killed;
        self.record.killed_at = Some(at);
        self.record.updated_at = at;
        self.dir.save(&mut self.record)?;
        let mut run = self.dir.run(&self.record.run)?;
        run.state = RunState::Killed;
        run.updated_at = at;
        run.exit_code = run.exit_code.or(exit_code);
        self.dir.save_run(&run)?;
        self.core.emit(EventKind::Killed, &self.record, json!({}));
        Ok(Facts::none())
    }

    fn record_landed(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(order) = facts.read(fact::LAND)? else {
            return Ok(Facts::none());
        };
        let at = now();
        // Where nothing moved there is nothing to take back.
        if order.before != order.commit {
            self.record.landed = Some(Landing {
                at,
                target: order.target.clone(),
                before: order.before.clone(),
                commit: order.commit.clone(),
            });
        }
        if order.keep {
            self.record.updated_at = at;
            self.dir.save(&mut self.record)?;
        } else {
            self.record_killed(facts)?;
        }
        let data = json!({
            "target": order.target,
            "before": order.before,
            "commit": order.commit,
            "kept": order.keep,
        });
        self.core.emit(EventKind::Landed, &self.record, data);
        Ok(Facts::none())
    }

    /// Its own branch, if the landing has deleted it.
    fn make_branch_again(&mut self) -> Result<(), Error> {
        let snapshot = SavedWork::of(&self.record)?.snapshot;
        let head = snapshot.and_then(|snapshot| snapshot.head);
        let own = self.record.branch.as_ref();
        let name = own
            .filter(|branch| branch.made_by_us)
            .map(|branch| branch.name.clone());
        let (Some(head), Some(name)) = (head, name) else {
            return Ok(());
        };
        let repository = self.repository()?;
        if repository.branch_commit(&name)?.is_none() {
            repository.create_branch(&name, &head)?;
        }
        Ok(())
    }

    fn record_unlanded(&mut self, facts: &Facts) -> Result<Facts, Error> {
        let Some(order) = facts.read(fact::LAND)? else {
            return Ok(Facts::none());
        };
        self.record.landed = None;
        if self.record.state == RestingState::Killed {
            if let Err(error) = self.make_branch_again() {
                // A resume makes it again where it is missing.
                tracing::debug!(%error, instance = %self.record.id, "make a branch again");
            }
            self.core.revive(&self.dir, &mut self.record)?;
        } else {
            self.record.updated_at = now();
            self.dir.save(&mut self.record)?;
        }
        let data = json!({ "target": order.target, "commit": order.commit });
        self.core.emit(EventKind::Unlanded, &self.record, data);
        Ok(Facts::none())
    }
}
