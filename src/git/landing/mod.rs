//! Bringing the commits of one branch onto another: the result is computed from objects alone, and the
//! target moves by compare-and-swap. No checkout is touched except the one that follows the target.

mod changes;
mod commit;
mod fast_forward;
mod follow;
mod hooks;
mod merge;
mod renew;
mod scratch;
mod target;
mod unchanged;
mod uncommitted;

pub(crate) use changes::Change;
pub(crate) use commit::Author;
pub(crate) use hooks::{HookOutcome, Hooks, MadeCommit};
pub(crate) use merge::{FastForward, Merged, Replayed};
pub(crate) use uncommitted::{Uncommitted, tree_of_everything, uncommitted};
