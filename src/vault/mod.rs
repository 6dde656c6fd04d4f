//! The vault: what keeps the work of a paused instance.
//!
//! It holds two promises. *Park* moves a worktree and git's record of it aside by rename: nothing is
//! rewritten, so everything comes back. *Snapshot* writes what git cannot reproduce (changed and
//! untracked bytes, the index, what an operation in progress names) as objects under one ref of a
//! repository of our own ([`repository`]): a second copy, and what keeps a garbage collection from
//! dropping what the parked worktree needs. Its cost follows what changed. What is ignored, and the
//! inside of nested repositories, is kept by the parking place alone until the disk is asked for:
//! *thin* then stores every remaining byte as objects, proves each by reading it back, and only then
//! deletes it.
//!
//! Why the snapshot stores untracked files although the parked directory has them: a second copy
//! against a mishap with that directory, and one that a user can apply as a stash without Bivouac. It
//! is written as one pack ([`pack`]) and read while the agent is still being brought to rest
//! ([`read_ahead`]); what a pause costs beside the same work by git is a row of `scripts/bench`.
//!
//! The order of a resume: [`branch_position`], [`check_unpark`], [`plan_merge`] and [`find_obstacles`] if
//! the branch was moved, [`refill()`] (no-op unless thinned), [`carry_over`] on the parked checkout,
//! [`unpark`], [`verify_carried`], and, once the agent runs, [`settle_refill`] and [`settle_carry`].
//!
//! Nothing here commits to a branch, touches the stash, runs a hook or changes configuration.

mod carry;
mod cleaned;
mod closure;
mod collect;
mod delete;
mod diff;
mod digest;
mod draft;
mod fact;
mod guard;
mod import;
mod inventory;
mod keep;
mod manifest;
mod migrate;
mod moved;
mod objects;
mod opening;
mod owner;
mod pack;
mod parking;
mod preflight;
mod read_ahead;
mod refill;
mod refs;
mod relocate;
mod remove;
mod repository;
mod restat;
mod retention;
mod return_objects;
mod saves;
mod settle;
mod snapshot;
mod stale_locks;
mod stamp;
mod survey;
mod thin;
mod thinned;
mod tree;
mod verify;
mod walk;
mod write;

pub(crate) use carry::{
    Incoming, Known, LeftBehind, Order, Outgoing, Part, arrive, has_work_of, hash_of_parts,
    prepare_export, read_export, undo_arrival,
};
pub(crate) use collect::{GRACE, collect_vault};
pub(crate) use delete::ThinReport;
pub(crate) use diff::{snapshot_diff_stat, snapshot_diff_text, snapshot_is_dirty};
pub(crate) use fact::{Label, SnapshotFact};
pub(crate) use inventory::ThinPolicy;
pub(crate) use moved::{
    Aside, BranchPosition, Carried, Kept, MergeFact, MergePlan, branch_position, bring_merged_back,
    carry_over, clear_obstacles, find_obstacles, keep_on_branch, plan_merge, settle_carry,
    take_back_carry, take_back_kept, verify_carried,
};
pub(crate) use parking::{
    ParkState, ParkingPlace, check_unpark, choose_parking, discard_parked, park, park_state,
    parked_bytes, unpark,
};
pub(crate) use preflight::{Unsavable, Why, preflight};
pub(crate) use read_ahead::ReadAhead;
pub(crate) use refill::refill;
pub(crate) use remove::{Left, delete_tree};
pub(crate) use retention::{
    StoredSnapshot, delete_expired, is_kept, list_expired, list_snapshots, release_known,
    release_snapshot, restore_keep,
};
pub(crate) use return_objects::bring_objects_back;
pub(crate) use saves::{
    list_saved, release_passing, save_in_passing, snapshot_in_passing, write_saved,
};
pub(crate) use settle::settle_refill;
pub(crate) use snapshot::take_snapshot;
pub(crate) use survey::Seen;
pub(crate) use thin::{preview_thin, thin};
pub(crate) use thinned::{OnDisk, on_disk};
pub(crate) use verify::{Verification, verify_snapshot};
pub(crate) use write::Taken;

#[cfg(test)]
mod tests;
