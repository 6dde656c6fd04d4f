//! One transcript, read on from where it was left.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lines::{Lines, Next};
use super::{claude, codex, demo, gemini};
use crate::agents::TranscriptFormat;
use crate::conversation::{Entry, stable_hash};
use crate::model::Timestamp;

/// So much of the file is read before its entries are handed on.
const BATCH: u64 = 1024 * 1024;
/// How many bytes before a bookmark must be what they were.
const CHECKED: u64 = 4096;
/// How many messages back an agent may write one again.
const RECENT: usize = 256;

/// The transcript of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TranscriptFile {
    pub format: TranscriptFormat,
    pub path: PathBuf,
}

/// How far a transcript was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Bookmark {
    pub offset: u64,
    /// A number for the bytes before it: whether it is still the same file is told by what is in it.
    check: u64,
    /// Messages that came last, for agents that write one again when they know more.
    recent: Vec<u64>,
    /// For lines that have no time of their own.
    last: Option<Timestamp>,
}

/// Whether a reading goes on or has to begin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuity {
    Continues,
    /// The file is not the one that was read: what comes may be known already.
    Anew,
}

#[derive(Debug)]
pub(crate) struct Reading {
    file: TranscriptFile,
    lines: Lines,
    bookmark: Bookmark,
}

/// Some entries, and how far they reach.
#[derive(Debug, PartialEq)]
pub(crate) struct Batch {
    pub entries: Vec<Entry>,
    /// Lines that could not be understood.
    pub skipped: u64,
    pub bookmark: Bookmark,
}

impl TranscriptFile {
    /// Goes on at the bookmark, or begins again where that does not fit any more. `now` is the time
    /// of lines that tell none.
    pub(crate) fn read_on(
        self,
        bookmark: Option<Bookmark>,
        now: Timestamp,
    ) -> std::io::Result<(Reading, Continuity)> {
        let fresh = Bookmark {
            last: Some(now),
            ..Bookmark::default()
        };
        let (bookmark, continuity) = match bookmark {
            None => (fresh, Continuity::Continues),
            Some(bookmark) if self.check(bookmark.offset)? == Some(bookmark.check) => {
                (bookmark, Continuity::Continues)
            }
            Some(_) => (fresh, Continuity::Anew),
        };
        let lines = Lines::open(&self.path, bookmark.offset)?;
        let reading = Reading {
            file: self,
            lines,
            bookmark,
        };
        Ok((reading, continuity))
    }

    /// Whether there is anything behind the bookmark.
    pub(crate) fn has_more(&self, bookmark: &Bookmark) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() != bookmark.offset)
    }

    /// A number for the bytes before this place; None where the file is shorter.
    fn check(&self, offset: u64) -> std::io::Result<Option<u64>> {
        let mut file = File::open(&self.path)?;
        if file.metadata()?.len() < offset {
            return Ok(None);
        }
        let start = offset.saturating_sub(CHECKED);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(offset - start).read_to_end(&mut bytes)?;
        Ok(Some(stable_hash(&bytes)))
    }
}

impl Reading {
    /// The next entries; None at the end of what is written so far.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Batch>> {
        let start = self.lines.offset();
        let mut entries = Vec::new();
        let mut skipped = 0;
        while self.lines.offset() - start < BATCH {
            match self.lines.next()? {
                Next::End => break,
                Next::TooLong => skipped += 1,
                Next::Line(line) => {
                    let (found, whole) = parse(line);
                    skipped += u64::from(!whole);
                    for value in found {
                        understand(self.file.format, &value, &mut self.bookmark, &mut entries);
                    }
                }
            }
        }
        if self.lines.offset() == start {
            return Ok(None);
        }
        self.bookmark.offset = self.lines.offset();
        self.bookmark.check = self.file.check(self.bookmark.offset)?.unwrap_or_default();
        Ok(Some(Batch {
            entries,
            skipped,
            bookmark: self.bookmark.clone(),
        }))
    }
}

/// The values on a line, and whether that was all. A killed agent may leave out a line end, and the
/// next message then stands on the same line.
fn parse(line: &[u8]) -> (Vec<Value>, bool) {
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_slice(line).into_iter::<Value>() {
        match value {
            Ok(value @ Value::Object(_)) => values.push(value),
            Ok(_) | Err(_) => return (values, false),
        }
    }
    (values, true)
}

fn understand(
    format: TranscriptFormat,
    line: &Value,
    bookmark: &mut Bookmark,
    entries: &mut Vec<Entry>,
) {
    let told = line.get("timestamp").and_then(Value::as_str);
    bookmark.last = told.and_then(Timestamp::parse).or(bookmark.last);
    let Some(at) = bookmark.last else { return };
    match format {
        TranscriptFormat::Claude => claude::entries(line, at, entries),
        TranscriptFormat::Codex => codex::entries(line, at, entries),
        TranscriptFormat::Demo => demo::entries(line, at, entries),
        TranscriptFormat::Gemini => {
            let mut found = Vec::new();
            gemini::entries(line, at, &mut found);
            // It writes a message again whenever it knows more of it.
            found.retain(|entry| bookmark.is_new(entry));
            entries.append(&mut found);
        }
        TranscriptFormat::Opencode | TranscriptFormat::Aider | TranscriptFormat::None => {}
    }
}

impl Bookmark {
    fn is_new(&mut self, entry: &Entry) -> bool {
        let name = ["id", "call", "phase"].map(|key| entry.text(key).unwrap_or_default());
        let name = stable_hash(name.join("\n").as_bytes());
        if self.recent.contains(&name) {
            return false;
        }
        if self.recent.len() >= RECENT {
            self.recent.remove(0);
        }
        self.recent.push(name);
        true
    }
}
