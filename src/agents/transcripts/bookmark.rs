//! Bookmarks: how far a transcript was read, and whether it is still the same file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::conversation::{ConversationEntry, stable_hash};
use crate::model::Timestamp;

/// How many bytes before a bookmark are compared.
const CHECKED: u64 = 4096;

/// How far a transcript was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Bookmark {
    pub offset: u64,
    /// A hash of the bytes before it, to detect another file.
    pub(super) check: u64,
    /// The last messages, for agents that write a message again with more content.
    pub(super) recent: Vec<u64>,
    /// The last time, for lines without a time.
    pub(super) last: Option<Timestamp>,
    /// The position in a database, which has no offsets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) position: Option<Position>,
}

/// A position in OpenCode's database: the last part that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) message: RowKey,
    pub(super) part: RowKey,
    /// Whether the message is complete.
    pub(super) over: bool,
}

/// The sort key of OpenCode: its ids alone start over every two years.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowKey {
    pub(super) at: i64,
    pub(super) id: String,
}

/// Some entries, and how far they reach.
#[derive(Debug, PartialEq)]
pub(crate) struct Batch {
    pub entries: Vec<ConversationEntry>,
    /// Lines that could not be parsed.
    pub skipped: u64,
    pub bookmark: Bookmark,
}

/// The hash of the bytes before this offset; None where the file is shorter.
pub(super) fn check(path: &Path, offset: u64) -> std::io::Result<Option<u64>> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() < offset {
        return Ok(None);
    }
    let start = offset.saturating_sub(CHECKED);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(offset - start).read_to_end(&mut bytes)?;
    Ok(Some(stable_hash(&bytes)))
}
