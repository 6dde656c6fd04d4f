//! What is to be exported, and for whom.

use super::Part;
use crate::git::Checkout;
use crate::model::Timestamp;
use crate::vault::fact::SnapshotFact;

/// Which commits the receiver has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    /// What a clone has: the remote's branches, and the commit that the instance began with.
    Usual { base: Option<String> },
    /// This commit alone.
    Base { base: String },
    /// None: all of the history comes along.
    Nothing,
}

/// What is to be exported.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    pub checkout: &'a Checkout,
    pub snapshot: &'a SnapshotFact,
    /// The branch of the instance.
    pub branch: Option<&'a str>,
    pub parts: Vec<Part>,
    pub with_ignored: bool,
    pub known: Known,
    pub at: Timestamp,
}
