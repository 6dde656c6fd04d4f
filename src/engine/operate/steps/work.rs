//! One running operation on one instance: what its steps share.

use crate::engine::base::saved::SavedWork;
use crate::engine::base::{Core, Error, Progress};
use crate::engine::operate::carry::arrival::Arrival;
use crate::engine::operate::launch::Waiting;
use crate::engine::operate::steps::fact;
use crate::git::Repo;
use crate::git::landing::Change;
use crate::lifecycle::{Facts, Operation};
use crate::model::InstanceRecord;
use crate::process::{Tree, stop_tree};
use crate::store::{InstanceDir, Lock};
use crate::vault::{self, ParkState, ReadAhead, Seen};

/// One running operation on one instance.
pub(in crate::engine) struct Work<'a> {
    pub core: &'a Core,
    pub dir: InstanceDir,
    /// As it was when the operation began, and as it is once the step `record` has written it.
    pub record: InstanceRecord,
    pub operation: Operation,
    pub progress: &'a mut dyn Progress,
    /// A launcher that waits for "go". It ends with this process; recovery starts another.
    pub(super) waiting: Option<Waiting>,
    /// Read once for the whole operation.
    pub(super) repository: std::cell::OnceCell<Repo>,
    /// The snapshot, as far as it was read before the operation began.
    pub(super) ahead: Option<ReadAhead>,
    /// What an export brings.
    pub(super) arrival: Option<Arrival>,
    /// What a landing changes in its target.
    pub(super) changes: Option<Vec<Change>>,
    /// The worktree as it was when the snapshot was taken.
    pub(super) seen: Option<Seen>,
    /// It was looked for, and there is none: nothing of it has to be closed. Nobody opens one meanwhile.
    pub(super) without_session: bool,
    /// The agent's processes, as they were before anything was done to it.
    pub(super) tree: Option<Tree>,
    /// Why the operation did not have the wanted effect, although it completed.
    pub(in crate::engine) refusal: Option<Error>,
    /// This is the recovery of an abandoned operation, which must not wait long.
    pub(super) recovering: bool,
}

/// What was read before the operation began.
pub(in crate::engine) struct Prepared {
    pub repository: Repo,
    pub ahead: Option<ReadAhead>,
    pub arrival: Option<Arrival>,
    /// What a landing changes in its target.
    pub changes: Option<Vec<Change>>,
}

impl<'a> Work<'a> {
    pub(in crate::engine) fn fresh(
        core: &'a Core,
        dir: &InstanceDir,
        record: InstanceRecord,
        progress: &'a mut dyn Progress,
    ) -> Self {
        Self {
            core,
            dir: dir.clone(),
            record,
            operation: Operation::Create,
            progress,
            waiting: None,
            refusal: None,
            repository: std::cell::OnceCell::new(),
            ahead: None,
            arrival: None,
            changes: None,
            seen: None,
            without_session: false,
            tree: None,
            recovering: false,
        }
    }

    /// Adds what was prepared before the operation began.
    pub(in crate::engine) fn with_prepared(self, prepared: Prepared) -> Self {
        Self {
            repository: prepared.repository.into(),
            ahead: prepared.ahead,
            arrival: prepared.arrival,
            changes: prepared.changes,
            ..self
        }
    }

    pub(in crate::engine) fn recovering(
        core: &'a Core,
        dir: &InstanceDir,
        record: InstanceRecord,
        progress: &'a mut dyn Progress,
    ) -> Self {
        Self {
            recovering: true,
            ..Self::fresh(core, dir, record, progress)
        }
    }
}

impl Work<'_> {
    /// The repository of the instance, asked of git once.
    pub(super) fn repository(&self) -> Result<Repo, Error> {
        if let Some(known) = self.repository.get() {
            return Ok(known.clone());
        }
        let found = Repo::recorded(&self.record.repository.root)?;
        Ok(self.repository.get_or_init(|| found).clone())
    }

    /// Whether the worktree is not at its place; another directory may be there instead.
    pub(super) fn is_put_away(&self) -> Result<bool, Error> {
        let parked = match &SavedWork::of(&self.record)?.parking {
            Some(place) => vault::park_state(place)? != ParkState::InPlace,
            None => false,
        };
        Ok(parked || !self.record.worktree.path.is_dir())
    }

    /// The lock for adding and removing worktrees of the repository.
    pub(super) fn lock_repository(&self) -> Result<Lock, Error> {
        self.core
            .lock_repository(&self.record, self.operation.name())
    }

    /// An agent that has outlived its tmux server still works in the worktree: before another one is
    /// started, it is ended.
    pub(super) fn stop_survivors(&self) -> Result<(), Error> {
        let grace = self.core.settings().pause.stop;
        Ok(stop_tree(None, &self.record.marker(), grace)?)
    }
}

/// Lists the agent's processes while it still runs: afterwards its children can no longer be found.
pub(super) fn look_at_tree(known: &mut Option<Tree>, record: &InstanceRecord) {
    let leader = record.place.as_ref().map(|place| &place.agent);
    match known {
        Some(tree) => tree.refresh(leader),
        None => *known = Some(Tree::of(leader, &record.marker())),
    }
}

/// Whether the worktree of an instance that is killed stays because its repository is away.
pub(super) fn leaves_worktree(facts: &Facts) -> Result<bool, Error> {
    Ok(facts
        .read(fact::KILL)?
        .is_some_and(|order| order.leave_worktree))
}
