//! Reads a file of JSON lines from a bookmark.

use std::path::Path;

use serde_json::Value;

use super::bookmark::{Batch, Bookmark, check};
use super::lines::{Lines, Next};
use super::{claude, codex, demo, described, gemini};
use crate::agents::TranscriptFormat;
use crate::agents::described::LineRules;
use crate::agents::json_path::JsonPath;
use crate::conversation::{ConversationEntry, stable_hash};
use crate::model::Timestamp;

/// How many bytes are read per batch.
const BATCH: u64 = 1024 * 1024;
/// How many recent messages an agent may write again.
const RECENT: usize = 256;

#[derive(Debug)]
pub(super) struct JsonLines {
    meaning: Meaning,
    lines: Lines,
    bookmark: Bookmark,
}

/// How lines are read: by the code of a format, or by rules and the place of the time.
#[derive(Debug)]
enum Meaning {
    Known(TranscriptFormat),
    Described(LineRules, Option<JsonPath>),
}

impl JsonLines {
    pub(super) fn described(
        lines: LineRules,
        time: Option<JsonPath>,
        path: &Path,
        bookmark: Bookmark,
    ) -> std::io::Result<Self> {
        Ok(Self {
            meaning: Meaning::Described(lines, time),
            lines: Lines::open(path, bookmark.offset)?,
            bookmark,
        })
    }

    pub(super) fn open(
        format: TranscriptFormat,
        path: &Path,
        bookmark: Bookmark,
    ) -> std::io::Result<Self> {
        Ok(Self {
            meaning: Meaning::Known(format),
            lines: Lines::open(path, bookmark.offset)?,
            bookmark,
        })
    }

    /// The next entries; None at the end of what is written so far.
    pub(super) fn next(&mut self, path: &Path) -> std::io::Result<Option<Batch>> {
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
                        understand(&self.meaning, &value, &mut self.bookmark, &mut entries);
                    }
                }
            }
        }
        if self.lines.offset() == start {
            return Ok(None);
        }
        self.bookmark.offset = self.lines.offset();
        self.bookmark.check = check(path, self.bookmark.offset)?.unwrap_or_default();
        Ok(Some(Batch {
            entries,
            skipped,
            bookmark: self.bookmark.clone(),
        }))
    }
}

/// The values on a line, and whether the whole line was parsed. A killed agent may leave out a line end;
/// the next message is then on the same line.
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
    meaning: &Meaning,
    line: &Value,
    bookmark: &mut Bookmark,
    entries: &mut Vec<ConversationEntry>,
) {
    let told = match meaning {
        Meaning::Described(_, Some(time)) => time.time(line),
        Meaning::Described(_, None) => None,
        Meaning::Known(_) => {
            let told = line.get("timestamp").and_then(Value::as_str);
            told.and_then(Timestamp::parse)
        }
    };
    bookmark.last = told.or(bookmark.last);
    let Some(at) = bookmark.last else { return };
    let format = match meaning {
        Meaning::Described(rules, _) => return described::entries(rules, line, at, entries),
        Meaning::Known(format) => *format,
    };
    match format {
        TranscriptFormat::Claude => claude::entries(line, at, entries),
        TranscriptFormat::Codex => codex::entries(line, at, entries),
        TranscriptFormat::Demo => demo::entries(line, at, entries),
        TranscriptFormat::Gemini => {
            let mut found = Vec::new();
            gemini::entries(line, at, &mut found);
            // It writes a message again when more of it is known.
            found.retain(|entry| bookmark.is_new(entry));
            entries.append(&mut found);
        }
        // These formats are not JSON lines.
        TranscriptFormat::Opencode
        | TranscriptFormat::Aider
        | TranscriptFormat::Described
        | TranscriptFormat::None => {}
    }
}

impl Bookmark {
    pub(super) fn is_new(&mut self, entry: &ConversationEntry) -> bool {
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
