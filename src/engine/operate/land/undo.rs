//! Takes a landing back, as long as the target is where it was moved to.

use serde::Serialize;

use crate::engine::base::view::InstanceView;
use crate::engine::base::{Core, Error, LandError, Progress, Scope};
use crate::engine::operate::land::order::LandOrder;
use crate::engine::operate::recover::LockedInstance;
use crate::engine::operate::steps::fact;
use crate::lifecycle::{Facts, Plan};
use crate::model::{Landing, RestingState};

/// A landing that was taken back.
#[derive(Debug, Serialize)]
pub(crate) struct Unlanded {
    pub instance: InstanceView,
    /// The target and where it is again.
    pub target: String,
    pub commit: String,
}

impl Core {
    /// Moves the target back, and brings an instance back that the landing has ended.
    pub(crate) fn undo_land(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<Unlanded, Error> {
        self.prepare()?;
        let LockedInstance {
            dir,
            mut record,
            lock,
        } = self.lock_instance(given, Scope::WithKilled, "undo-land")?;
        let Some(landing) = record.landed.clone() else {
            return Err(LandError::NotLanded {
                title: record.title,
            }
            .into());
        };
        let Landing {
            target,
            before,
            commit,
            ..
        } = landing;
        let repository = self.require_repository(&dir, &mut record, progress)?;
        if repository.branch_commit(&target)?.as_ref() != Some(&commit) {
            let title = record.title;
            return Err(LandError::TargetMovedOn { title, target }.into());
        }
        let ended = record.state == RestingState::Killed;
        if ended {
            self.require_kept(&record)?;
            if let Some(branch) = &record.branch {
                self.require_branch_free(&record.repository.common_dir, &branch.name)?;
            }
        }
        let order = LandOrder {
            target: target.clone(),
            before: commit,
            commit: before.clone(),
            source: None,
            keep: !ended,
        };
        let facts = Facts::none().with(fact::LAND, &order);
        let record = self.operate(&lock, &dir, record, Plan::undo_land(), facts, progress)?;
        drop(lock);
        Ok(Unlanded {
            instance: self.with_changes(self.view_at_rest(&record)),
            target,
            commit: before,
        })
    }
}
