//! What each step of an operation does to the world.

pub(in crate::engine) mod agent;
pub(in crate::engine) mod bringing;
pub(in crate::engine) mod conversation;
pub(in crate::engine) mod naming;
pub(in crate::engine) mod quiesce;
pub(in crate::engine) mod recording;
pub(in crate::engine) mod saving;
pub(in crate::engine) mod session;
pub(in crate::engine) mod terminal;
pub(in crate::engine) mod work;
pub(in crate::engine) mod worktree;
pub(in crate::engine) mod world;

/// The names under which steps leave what they have learned. Each has one writer.
pub(in crate::engine) mod fact {
    /// The record of an instance that is being created, until it is on disk.
    pub(in crate::engine) const RECORD: &str = "record";
    /// What was asked of a pause.
    pub(in crate::engine) const PAUSE: &str = "pause";
    /// What was asked of a kill.
    pub(in crate::engine) const KILL: &str = "kill";
    /// Where it is made, as git was asked before.
    pub(in crate::engine) const REPOSITORY: &str = "repository";
    pub(in crate::engine) const WORKTREE_PLAN: &str = "worktree-plan";
    pub(in crate::engine) const WORKTREE: &str = "worktree";
    pub(in crate::engine) const SESSION_REF: &str = "session-ref";
    /// The reference that the agent was found to use when it was saved.
    pub(in crate::engine) const FOUND_REF: &str = "found-ref";
    pub(in crate::engine) const COMMAND: &str = "command";
    pub(in crate::engine) const SEAT: &str = "seat";
    pub(in crate::engine) const PROMPT_BEGUN: &str = "prompt-begun";
    pub(in crate::engine) const PROMPT_UNSURE: &str = "prompt-unsure";
    pub(in crate::engine) const SNAPSHOT_NUMBER: &str = "snapshot-number";
    pub(in crate::engine) const SNAPSHOT: &str = "snapshot";
    /// Somebody writes into what was parked: it must not be thinned.
    pub(in crate::engine) const UNSETTLED: &str = "unsettled";
    /// What could not be deleted when the disk was freed.
    pub(in crate::engine) const LEFT: &str = "left";
    pub(in crate::engine) const PARKING: &str = "parking";
    /// An adopted worktree that was put away stands at its place again.
    pub(in crate::engine) const GIVEN_BACK: &str = "given-back";
    pub(in crate::engine) const TERMINAL: &str = "terminal";
    pub(in crate::engine) const EXIT_CODE: &str = "exit-code";
    /// How a resumed or restarted agent is launched.
    pub(in crate::engine) const LAUNCH: &str = "launch";
    pub(in crate::engine) const ON_CONFLICT: &str = "on-conflict";
    /// What the agent is told when it is ready.
    pub(in crate::engine) const PROMPT: &str = "prompt";
    pub(in crate::engine) const NEW_RUN: &str = "new-run";
    /// How the agent was brought to rest before it was stopped.
    pub(in crate::engine) const QUIESCED: &str = "quiesced";
    /// A branch that was deleted meanwhile, and where it stood.
    pub(in crate::engine) const BRANCH_AGAIN: &str = "branch-again";
    /// How saved work is carried over to a branch that was moved meanwhile.
    pub(in crate::engine) const MERGE: &str = "merge";
    /// The branch of its own that the work of a moved one is kept on.
    pub(in crate::engine) const KEPT: &str = "kept";
    /// The parking place that work for a moved branch came from.
    pub(in crate::engine) const BROUGHT_FROM: &str = "brought-from";
    /// The snapshot that a resume no longer needs.
    pub(in crate::engine) const RELEASE: &str = "release";
    /// Why a relaunched agent did not come up.
    pub(in crate::engine) const NOT_RESUMED: &str = "not-resumed";
}
