//! What a landing is to do, as the journal keeps it.

use serde::{Deserialize, Serialize};

/// Which branch moves, from where to where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::engine) struct LandOrder {
    pub target: String,
    pub before: String,
    pub commit: String,
    /// The work that the result was computed from; None where a landing is undone.
    pub source: Option<SourceSeen>,
    /// The instance is not ended.
    pub keep: bool,
}

/// The work of an instance, as it was when the result was computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::engine) struct SourceSeen {
    pub branch: Option<String>,
    pub head: String,
    /// The tree of everything in the worktree, if what was uncommitted lands too.
    pub tree: Option<String>,
}
