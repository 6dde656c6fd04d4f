//! Old entries become one.

use super::{Digest, Entry};

/// A conversation whose older part was summed up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compacted {
    pub summary: Entry,
    pub kept: Vec<Entry>,
}

/// Keeps the last `keep` entries and sums up those before; None where there is nothing to sum up.
/// What the store does in a stream, told in one line: the tests hold the digest to it.
pub(crate) fn compact(entries: &[Entry], keep: usize) -> Option<Compacted> {
    let (older, kept) = entries.split_at(entries.len().saturating_sub(keep));
    if older.iter().all(Entry::is_summary) {
        return None;
    }
    Some(Compacted {
        summary: Digest::of(older).summary()?,
        kept: kept.to_vec(),
    })
}
