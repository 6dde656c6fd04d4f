//! A snapshot as the journal and the pause record know it, and what it is called when it is taken.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::{InstanceId, Timestamp};

/// A snapshot that exists, as the journal and the pause record keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SnapshotFact {
    pub reference: String,
    pub commit: String,
    /// What HEAD was; None before the first commit.
    pub head: Option<String>,
    /// The branch that HEAD named; None when detached.
    pub branch: Option<String>,
    /// The commit that holds manifest and raw bytes.
    pub extra: String,
    /// A digest of every stamp, to know the same worktree again without reading it.
    pub evidence: String,
    /// The git operation that was in progress.
    pub operation: Option<String>,
    pub changed: u64,
    pub untracked: u64,
    /// How many objects it names that the user's repository may drop; None if they were not counted.
    #[serde(default)]
    pub guarded: Option<u64>,
}

impl SnapshotFact {
    /// The id of its instance.
    pub(super) fn instance(&self) -> Option<&str> {
        self.reference.rsplit('/').nth(1)
    }

    /// Which of its instance's snapshots it is.
    pub(crate) fn number(&self) -> Option<u64> {
        self.reference.rsplit('/').next()?.parse().ok()
    }
}

/// What a snapshot is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label<'a> {
    pub instance: &'a InstanceId,
    /// Which of the instance's snapshots it is.
    pub number: u64,
    pub at: Timestamp,
    /// The home that the instance belongs to.
    pub home: &'a Path,
}
