//! An instance is made ready to leave this machine: paused, put away, gathered.

use crate::config::WorktreeOnPause;
use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::carry::ended::has_ended;
use crate::engine::operate::carry::export::{ExportOptions, PreparedExport};
use crate::engine::operate::options::PauseOptions;
use crate::engine::operate::recover::LockedInstance;
use crate::engine::operate::steps::fact;
use crate::lifecycle::{Facts, Plan};
use crate::model::{Lease, PauseReason, RestingState};
use crate::store::{InstanceDir, replace_file};
use crate::vault::LeftBehind;

const LEFT_BEHIND: &str = "left-behind.json";

impl Core {
    /// Pauses it if it runs, puts it away if its agent has ended, and gathers it. It stays locked until the result is dropped.
    pub(crate) fn prepare_departure(
        &self,
        given: &str,
        options: ExportOptions,
        progress: &mut dyn Progress,
    ) -> Result<PreparedExport, Error> {
        let pause = self.departing_pause();
        let found = self.settled(given, Scope::Living)?;
        let id = found.record.id;
        let runs = found.record.state == RestingState::Running;
        if runs {
            self.pause(id.as_str(), &pause, progress)?;
        }
        let mut locked = self.lock_instance(id.as_str(), Scope::Living, "move")?;
        if has_ended(locked.record.state) {
            locked = self.put_away_ended(locked, &pause, progress)?;
        }
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = locked;
        if record.state != RestingState::Paused {
            return Err(Error::WrongState {
                verb: "move",
                title: record.title,
                state: record.state.into(),
            });
        }
        // A move that is cut off and repeated finds it paused.
        if runs {
            record.lease.get_or_insert_with(Lease::first).resume = true;
            dir.save(&mut record)?;
        }
        let saved = SavedWork::of(&record)?;
        if saved.parking.is_none() {
            // A pause by the idle timeout leaves the worktree in place.
            let facts = Facts::none()
                .with(fact::PAUSE, &pause)
                .with(fact::RETIRED, &saved);
            record = self.operate(&lock, &dir, record, Plan::put_away(), facts, progress)?;
        }
        let prepared = self.gather_export(LockedInstance { dir, record, lock }, options)?;
        note_left(&prepared.dir, prepared.left())?;
        Ok(prepared)
    }

    fn departing_pause(&self) -> PauseOptions {
        PauseOptions {
            wait: Some(self.settings().pause.wait),
            // Its files stay as they are: some of them may not come along.
            worktree: WorktreeOnPause::Park,
            reason: PauseReason::User,
        }
    }
}

/// Writes down what does not come along: what is kept of it here must not be deleted then.
fn note_left(dir: &InstanceDir, left: &[LeftBehind]) -> Result<(), Error> {
    let text = serde_json::to_vec(left).unwrap_or_default();
    Ok(replace_file(&dir.path.join(LEFT_BEHIND), &text)?)
}

/// Whether something of it stayed here when it left. What cannot be read counts as something.
pub(in crate::engine) fn has_left_something(dir: &InstanceDir) -> bool {
    match std::fs::read(dir.path.join(LEFT_BEHIND)) {
        Ok(list) => list != b"[]",
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}
