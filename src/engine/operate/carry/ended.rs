//! An instance whose agent has ended travels as a paused one does. What a pause would have saved of it is saved
//! when it leaves.

use crate::engine::base::{Core, Error, Progress, now};
use crate::engine::operate::options::PauseOptions;
use crate::engine::operate::recover::LockedInstance;
use crate::engine::operate::steps::fact;
use crate::engine::watch::archive::{SCROLLBACK, history};
use crate::git::Repo;
use crate::lifecycle::{Facts, Plan};
use crate::model::{InstanceRecord, RestingState};
use crate::store::InstanceDir;
use crate::vault::{self, Part, SnapshotFact};

/// Whether its agent has ended by itself, and its worktree is in place.
pub(in crate::engine) fn has_ended(state: RestingState) -> bool {
    matches!(
        state,
        RestingState::Completed | RestingState::Failed | RestingState::Interrupted
    )
}

impl Core {
    /// Saves its work and puts it away: it is paused from then on.
    pub(super) fn put_away_ended(
        &self,
        locked: LockedInstance,
        pause: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Result<LockedInstance, Error> {
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = locked;
        let repository = self.require_repository(&dir, &mut record, progress)?;
        let prepared = self.refuse_what_cannot_be_kept(repository, &record, pause, progress)?;
        let facts = Facts::none().with(fact::PAUSE, pause);
        let journal = self.begin_journal(&dir, Plan::put_away_ended(), facts)?;
        let record = self.carry_out_prepared(&lock, &dir, journal, record, prepared, progress)?;
        Ok(LockedInstance { dir, record, lock })
    }

    /// Its work as it is now; its worktree stays in place.
    pub(super) fn snapshot_ended(
        &self,
        repository: &Repo,
        record: &InstanceRecord,
    ) -> Result<SnapshotFact, Error> {
        let path = &record.worktree.path;
        if !path.is_dir() {
            return Err(Error::WorktreeMissing { path: path.clone() });
        }
        let home = &self.home.state;
        Ok(vault::snapshot_in_passing(
            repository,
            path,
            &record.id,
            now(),
            home,
        )?)
    }

    /// What its session shows, for an export: it is not saved until the session is closed.
    pub(super) fn with_live_scrollback(
        &self,
        dir: &InstanceDir,
        record: &InstanceRecord,
        parts: &mut Vec<Part>,
    ) -> Result<(), Error> {
        let server = self.server_of(record);
        let Some(pane) = server.pane_of(&record.id)? else {
            return Ok(());
        };
        let most = self.scrollback_lines(&pane);
        let Some(text) = history(&server, &pane, dir, most)?.filter(|text| !text.is_empty()) else {
            return Ok(());
        };
        let name = format!("terminal/{SCROLLBACK}");
        parts.retain(|part| part.name != name);
        parts.push(Part {
            name,
            bytes: text.into_bytes(),
        });
        Ok(())
    }
}
