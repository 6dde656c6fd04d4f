//! The record of a killed instance becomes that of a paused one.

use serde_json::json;

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, now};
use crate::engine::operate::names::NAMES_WAIT;
use crate::model::{EventKind, InstanceRecord, Pause, PauseReason, RestingState, RunState, Title};
use crate::store::InstanceDir;
use crate::vault::{self, ParkState};

impl Core {
    /// Writes it as paused, under a free title. Returns its title before, if another instance has that now.
    pub(in crate::engine) fn revive(
        &self,
        dir: &InstanceDir,
        record: &mut InstanceRecord,
    ) -> Result<Option<Title>, Error> {
        let names = self.store.lock("names", NAMES_WAIT, "undo-kill")?;
        if let Some(branch) = &record.branch {
            self.require_branch_free(&record.repository.common_dir, &branch.name)?;
        }
        let title = self.free_title(&record.title, &record.repository.common_dir)?;
        let before = std::mem::replace(&mut record.title, title);
        let formerly = Some(before).filter(|before| *before != record.title);
        let at = now();
        let vault = SavedWork::of(record)?;
        record.state = RestingState::Paused;
        record.updated_at = at;
        record.paused_at = record.paused_at.or(record.killed_at);
        let killed_at = record.killed_at.take().unwrap_or(at);
        record.paused_at = record
            .pause
            .as_ref()
            .map(|pause| pause.at)
            .or(record.paused_at);
        let work_state = self.work_state(dir, record);
        // Nothing was saved of one that had ended, or that an older biv has killed.
        record.pause = record.pause.take().or_else(|| {
            Some(Pause {
                at: killed_at,
                reason: PauseReason::User,
                snapshot: vault.snapshot.map(|snapshot| snapshot.reference),
                scrollback_lines: 0,
                last_action: work_state.last_action,
                pending_tasks: work_state.pending_tasks,
                summary: work_state.summary,
                forced: false,
                stopped: Vec::new(),
                draft: None,
            })
        });
        dir.save(record)?;
        // The names are on disk now, so other processes can see them.
        drop(names);
        let mut run = dir.run(&record.run)?;
        run.state = RunState::Paused;
        run.paused_at = record.paused_at;
        run.pause_reason = Some(PauseReason::User);
        run.updated_at = at;
        dir.save_run(&run)?;
        self.emit(
            EventKind::Paused,
            record,
            json!({ "reason": "user", "undo_kill": true }),
        );
        Ok(formerly)
    }

    /// Whether the work of a killed instance can still be brought back.
    pub(in crate::engine) fn require_kept(&self, record: &InstanceRecord) -> Result<(), Error> {
        let kept = match &SavedWork::of(record)?.parking {
            Some(place) => vault::park_state(place).is_ok_and(|state| state != ParkState::Lost),
            // An adopted worktree was left in place.
            None => record.worktree.path.is_dir(),
        };
        if kept {
            Ok(())
        } else {
            Err(Error::NothingKept {
                title: record.title.clone(),
            })
        }
    }
}
