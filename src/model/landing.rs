//! How the work of an instance was brought onto another branch.

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// How the branch of an instance stands to its base branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    pub base: String,
    /// Commits that the base has not.
    pub ahead: u64,
    /// Commits of the base that the branch has not.
    pub behind: u64,
    /// The branch has moved since it was made, and the base has all of it.
    pub merged: bool,
}

/// The last landing of an instance, as its record keeps it for `undo-land`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Landing {
    pub at: Timestamp,
    /// The branch that was moved.
    pub target: String,
    /// Where it was before.
    pub before: String,
    /// Where it is since.
    pub commit: String,
}
