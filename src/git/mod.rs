//! Everything that Bivouac does with git: repositories, worktrees, differences, and the vault that
//! keeps the work of a paused instance.
//!
//! Only the git program is used: it alone knows every ref format, hash, filter and extension that a
//! user's repository may have. Every call runs with hooks, file watchers and signing off, without
//! the caller's `GIT_*` variables, without optional locks and within a deadline ([`call`]).
//!
//! The vault holds two promises. *Park* moves a worktree and git's record of it aside by rename:
//! nothing is rewritten, so everything comes back. *Snapshot* writes what git cannot reproduce
//! (changed and untracked bytes, the index, what an operation in progress names) as objects under
//! one ref of a repository of our own ([`vault`]): a second copy, and what keeps a collection of garbage from dropping what the parked
//! worktree needs. Its cost follows what changed. What is ignored, and the inside of nested
//! repositories, is kept by the parking place alone until the disk is asked for: *thin* then stores
//! every remaining byte as objects, proves each by reading it back, and only then deletes it.
//!
//! Why the snapshot stores untracked files although the parked directory has them: a second copy
//! against a mishap with that directory, and one that a person can apply as a stash without us. It is
//! written as one pack ([`pack`]) and read while the agent is still being brought to rest
//! ([`read_ahead`]); what a pause costs beside the same work by git is a row of `scripts/bench`.
//!
//! The order of a resume: [`branch_standing`], [`check_unpark`], [`plan_merge`] and [`in_the_way`] if
//! the branch was moved, [`refill()`] (no-op unless thinned), [`carry_over`] on the parked checkout,
//! [`unpark`], [`verify_carried`], and, once the agent runs, [`settle_refill`] and [`settle_carry`].
//!
//! Nothing here commits to a branch, touches the stash, runs a hook or changes configuration.

mod call;
mod checkout;
mod cleaned;
mod closure;
mod collect;
mod delete;
mod diff;
mod digest;
mod disk;
mod draft;
mod error;
mod guard;
mod identity;
mod ignored;
mod import;
mod index;
mod inventory;
mod keep;
mod manifest;
mod moved;
mod objects;
mod owner;
mod pack;
mod parking;
mod preflight;
mod push;
mod read_ahead;
mod refill;
mod remove;
mod repository;
mod restat;
mod retention;
mod settle;
mod sight;
mod snapshot;
mod survey;
mod takeover;
mod thin;
mod thinned;
mod tree;
mod vault;
mod verify;
mod walk;
mod worktree;

pub(crate) use call::installed_version;
pub(crate) use checkout::Checkout;
pub(crate) use closure::bring_objects_back;
pub(crate) use collect::{GRACE, collect_vault};
pub(crate) use delete::ThinReport;
pub(crate) use diff::{DiffOutput, diff_stat, diff_text, snapshot_diff_stat, snapshot_diff_text};
pub(crate) use disk::begin_sync;
pub(crate) use error::GitError;
pub(crate) use identity::Relocation;
pub(crate) use ignored::{ignored_in, is_tracked};
pub(crate) use keep::{is_kept, restore_keep};
pub(crate) use moved::{
    Aside, BranchStanding, Carried, Kept, MergeFact, MergePlan, branch_standing, bring_merged_back,
    carry_over, clear_way, in_the_way, keep_on_branch, plan_merge, settle_carry, take_back_carry,
    take_back_kept, verify_carried,
};
pub(crate) use parking::{
    ParkState, ParkingPlace, check_unpark, choose_parking, discard_parked, park, park_state,
    parked_bytes, unpark,
};
pub(crate) use preflight::{Unsavable, Why, preflight};
pub(crate) use read_ahead::ReadAhead;
pub(crate) use refill::refill;
pub(crate) use remove::Left;
pub(crate) use repository::Repo;
pub(crate) use retention::{
    StoredSnapshot, delete_expired, list_expired, list_snapshots, release_snapshot,
};
pub(crate) use settle::settle_refill;
pub(crate) use snapshot::{Label, SnapshotFact, Taken, take_snapshot};
pub(crate) use survey::Seen;
pub(crate) use thin::{ThinPolicy, preview_thin, thin};
pub(crate) use thinned::{OnDisk, on_disk};
pub(crate) use verify::{Verification, verify_snapshot};
pub(crate) use worktree::{
    AddWorktree, BranchPlan, MadeWorktree, Undone, WorktreeKind, worktree_of,
};

#[cfg(test)]
mod tests;
