//! The conversations of the agents: read from their transcripts, followed, shown, compacted.

pub(in crate::engine) mod compact;
pub(in crate::engine) mod follow;
pub(in crate::engine) mod log;
pub(in crate::engine) mod search;
pub(in crate::engine) mod transcript;
pub(in crate::engine) mod usage;
