//! The names of the refs that hold saved work.

use crate::model::InstanceId;

pub(super) const HELD: &str = "refs/bivouac/";
pub(super) const TRASH: &str = "refs/bivouac-trash/";
/// What the name of a snapshot ends with where its worktree was thinned.
pub(super) const THINNED: &str = "-thin";
/// In the user's repository one ref for each instance; in the vault one for each snapshot.
pub(super) const KEEP: &str = "refs/bivouac-keep/";

pub(super) fn reference(id: &InstanceId, n: u64) -> String {
    format!("{HELD}{id}/{n}")
}

/// The instance that a ref of the vault belongs to.
pub(super) fn instance_of(reference: &str) -> Option<&str> {
    reference.split('/').nth(2)
}

/// Where the content of a thinned worktree is kept, beside its snapshot.
pub(super) fn thinned_name(name: &str) -> String {
    format!("{name}{THINNED}")
}

/// The ref of the vault that names the base commits of a snapshot.
pub(super) fn keep_of(id: &InstanceId, n: u64) -> String {
    format!("{KEEP}{id}/{n}")
}
