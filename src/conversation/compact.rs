//! Compaction: old entries become one summary.

use super::{ConversationEntry, Digest};

/// A conversation whose older part was summarised.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compacted {
    pub summary: ConversationEntry,
    pub kept: Vec<ConversationEntry>,
}

/// Keeps the last `keep` entries and summarises those before; None where there are none. The store does
/// the same in a stream; the tests compare the two.
pub(crate) fn compact(entries: &[ConversationEntry], keep: usize) -> Option<Compacted> {
    let (older, kept) = entries.split_at(entries.len().saturating_sub(keep));
    if older.iter().all(ConversationEntry::is_summary) {
        return None;
    }
    Some(Compacted {
        summary: Digest::of(older).summary()?,
        kept: kept.to_vec(),
    })
}
