//! How the work of an instance was brought onto another branch.

use serde::{Deserialize, Serialize};

use super::Timestamp;

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
