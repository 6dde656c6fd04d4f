//! The facts that operations write into their journals. Each has one type and one writer. A fact that
//! is in a journal and cannot be read stops the operation: it must not count as absent.

use serde::{Deserialize, Serialize};

use crate::engine::base::saved::SavedWork;
use crate::engine::operate::land::order::LandOrder;
use crate::engine::operate::options::{KillOrder, Launch, OnConflict, PauseOptions};
use crate::engine::operate::setup::Wanted;
use crate::engine::watch::archive::SavedTerminal;
use crate::git::{AddWorktree, MadeWorktree, Repo};
use crate::lifecycle::Fact;
use crate::model::{AgentPlace, InstanceRecord, RunId, Timestamp};
use crate::vault::{Kept, Left, MergeFact, ParkingPlace, SnapshotFact};

// What was asked for, written when the operation begins.

/// create, import: the record of the instance, until it is on disk.
pub(in crate::engine) const RECORD: Fact<InstanceRecord> = Fact::new("record");
/// create, import: the repository, as git was asked before.
pub(in crate::engine) const REPOSITORY: Fact<Repo> = Fact::new("repository");
/// create, import: the worktree to be made.
pub(in crate::engine) const WORKTREE_PLAN: Fact<AddWorktree> = Fact::new("worktree-plan");
/// create: what the repository wants done in the fresh worktree.
pub(in crate::engine) const SETUP: Fact<Wanted> = Fact::new("setup");
/// pause
pub(in crate::engine) const PAUSE: Fact<PauseOptions> = Fact::new("pause");
/// kill
pub(in crate::engine) const KILL: Fact<KillOrder> = Fact::new("kill");
/// land, undo-land: which branch moves from where to where.
pub(in crate::engine) const LAND: Fact<LandOrder> = Fact::new("land");
/// resume, restart: how the agent is launched.
pub(in crate::engine) const LAUNCH: Fact<Launch> = Fact::new("launch");
/// resume, restart: what to do with changes that conflict with a moved branch.
pub(in crate::engine) const ON_CONFLICT: Fact<OnConflict> = Fact::new("on-conflict");
/// create, resume, restart: the prompt for the agent when it is ready.
pub(in crate::engine) const PROMPT: Fact<String> = Fact::new("prompt");
/// resume: what stood in the input box when the agent was paused.
pub(in crate::engine) const DRAFT: Fact<String> = Fact::new("draft");
/// resume, restart: the snapshot that is no longer needed afterwards.
pub(in crate::engine) const RELEASE: Fact<SnapshotFact> = Fact::new("release");
/// restart
pub(in crate::engine) const NEW_RUN: Fact<RunId> = Fact::new("new-run");

/// return: the branch that stands elsewhere now: its name, where it was, where it goes.
pub(in crate::engine) const BRANCH_MOVE: Fact<(String, String, String)> = Fact::new("branch-move");
/// return, pause: what was kept before, and is not needed any more.
pub(in crate::engine) const RETIRED: Fact<SavedWork> = Fact::new("retired");
/// return: some of what was kept did not come along, so it is still needed.
pub(in crate::engine) const LEFT_SOMETHING: Fact<bool> = Fact::new("left-something");

// What the steps have learned.

/// add-worktree
pub(in crate::engine) const WORKTREE: Fact<MadeWorktree> = Fact::new("worktree");
/// open-session: the session reference that the agent is given.
pub(in crate::engine) const SESSION_REF: Fact<String> = Fact::new("session-ref");
/// open-session: the command line, as it is shown.
pub(in crate::engine) const COMMAND: Fact<Vec<String>> = Fact::new("command");
/// open-session: where the agent is.
pub(in crate::engine) const PLACE: Fact<AgentPlace> = Fact::new("seat");
/// send-prompt: typing has begun, so that the prompt is never typed twice.
pub(in crate::engine) const PROMPT_BEGUN: Fact<bool> = Fact::new("prompt-begun");
/// send-prompt: whether it was delivered is not known.
pub(in crate::engine) const PROMPT_UNSURE: Fact<bool> = Fact::new("prompt-unsure");
/// quiesce: how the agent was brought to rest.
pub(in crate::engine) const QUIESCED: Fact<Quiesced> = Fact::new("quiesced");
/// save-conversation: the session reference that the agent was found to use.
pub(in crate::engine) const FOUND_REF: Fact<String> = Fact::new("found-ref");
/// save-terminal
pub(in crate::engine) const TERMINAL: Fact<SavedTerminal> = Fact::new("terminal");
/// save-terminal: the exit status of an agent that has ended before.
pub(in crate::engine) const EXIT_CODE: Fact<i32> = Fact::new("exit-code");
/// snapshot: chosen before it is taken.
pub(in crate::engine) const SNAPSHOT_NUMBER: Fact<u64> = Fact::new("snapshot-number");
/// snapshot, verify-snapshot
pub(in crate::engine) const SNAPSHOT: Fact<SnapshotFact> = Fact::new("snapshot");
/// verify-snapshot: another process writes into the worktree; it must not be thinned.
pub(in crate::engine) const UNSETTLED: Fact<bool> = Fact::new("unsettled");
/// free-worktree: chosen before anything is moved.
pub(in crate::engine) const PARKING: Fact<ParkingPlace> = Fact::new("parking");
/// free-worktree: an adopted worktree that was put away is at its place again.
pub(in crate::engine) const GIVEN_BACK: Fact<bool> = Fact::new("given-back");
/// thin-worktree: what could not be deleted.
pub(in crate::engine) const LEFT: Fact<Vec<Left>> = Fact::new("left");
/// bring-worktree: a branch that was deleted meanwhile, and where it was.
pub(in crate::engine) const BRANCH_AGAIN: Fact<(String, String)> = Fact::new("branch-again");
/// bring-worktree: how saved work is carried over to a branch that was moved meanwhile.
pub(in crate::engine) const MERGE: Fact<MergeFact> = Fact::new("merge");
/// bring-worktree: the branch of its own on which the work of a moved branch is kept.
pub(in crate::engine) const KEPT: Fact<Kept> = Fact::new("kept");
/// bring-worktree: the parking place that work for a moved branch came from.
pub(in crate::engine) const BROUGHT_FROM: Fact<ParkingPlace> = Fact::new("brought-from");
/// deliver: the agent does not have the session that the instance had elsewhere.
pub(in crate::engine) const SESSION_LOST: Fact<bool> = Fact::new("session-lost");
/// await-ready: why a relaunched agent did not come up.
pub(in crate::engine) const NOT_RESUMED: Fact<String> = Fact::new("not-resumed");

/// How the agent was found, and what had to be done to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::engine) struct Quiesced {
    /// It did not come to rest and was stopped by force.
    pub forced: bool,
    /// Its turn was cut off: it was interrupted, stopped by force, or its dialog was dismissed.
    #[serde(default)]
    pub cut: bool,
    /// The dialog that was dismissed.
    pub asked: Option<String>,
    /// What went on in the background and was stopped.
    #[serde(default)]
    pub stopped: Vec<String>,
    /// What stood in the input box.
    #[serde(default)]
    pub draft: Option<String>,
    /// The prompts that waited inside it, and were not begun.
    #[serde(default)]
    pub queued: Vec<String>,
    /// When they were read.
    #[serde(default)]
    pub at: Option<Timestamp>,
}
