//! How far a transcript was read, and whether it is still the same one.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::conversation::{ConversationEntry, stable_hash};
use crate::model::Timestamp;

/// How many bytes before a bookmark must be what they were.
const CHECKED: u64 = 4096;

/// How far a transcript was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Bookmark {
    pub offset: u64,
    /// A number for the bytes before it: whether it is still the same file is told by what is in it.
    pub(super) check: u64,
    /// Messages that came last, for agents that write one again when they know more.
    pub(super) recent: Vec<u64>,
    /// For lines that have no time of their own.
    pub(super) last: Option<Timestamp>,
    /// The place in a database, which has no offsets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) position: Option<Position>,
}

/// A place in OpenCode's database: the last part that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) message: Row,
    pub(super) part: Row,
    /// Whether the message is over, and nothing more will come in it.
    pub(super) over: bool,
}

/// What OpenCode itself orders by: its ids begin anew every two years.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) at: i64,
    pub(super) id: String,
}

/// Some entries, and how far they reach.
#[derive(Debug, PartialEq)]
pub(crate) struct Batch {
    pub entries: Vec<ConversationEntry>,
    /// Lines that could not be understood.
    pub skipped: u64,
    pub bookmark: Bookmark,
}

/// A number for the bytes before this place; None where the file is shorter.
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
