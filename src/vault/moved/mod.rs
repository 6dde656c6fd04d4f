//! Work whose branch was moved while it was parked.
//!
//! [`branch`] compares the branch with what the snapshot recorded of it. [`plan`] merges the saved
//! work onto the new commit, in objects alone. [`obstacles`] looks at each path that the merge wants to
//! write and names what stands there and is not in the snapshot. [`prepare`] writes all that is new
//! aside, with the list of [`moves`]. [`carry`] then changes the parked worktree by these renames, which
//! can all be taken back, and [`proof`] compares the result with the plan.
//! [`kept`] is the other way: the work stays on its commit, on a branch of its own.

mod branch;
mod carry;
mod content;
mod kept;
mod moves;
mod obstacles;
mod plan;
mod prepare;
mod proof;

pub(crate) use branch::{BranchPosition, branch_position};
pub(crate) use carry::{carry_over, settle_carry, take_back_carry};
#[cfg(test)]
pub(in crate::vault) use carry::{carry_part, take_back_part};
pub(crate) use kept::{Kept, keep_on_branch, take_back_kept};
pub(crate) use obstacles::{clear_obstacles, find_obstacles};
pub(crate) use plan::{Aside, MergeFact, MergePlan, bring_merged_back, plan_merge};
pub(crate) use proof::{Carried, verify_carried};
