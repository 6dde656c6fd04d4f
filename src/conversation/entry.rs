//! One entry of a conversation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::todo::Todo;
use crate::model::{Timestamp, printable_line};

/// One line of a conversation: `{"timestamp","type","content","metadata"}`.
///
/// What metadata may hold, all of it optional:
///
/// | key | of | meaning |
/// |---|---|---|
/// | `source` | any | `biv` for a prompt that was sent through Bivouac |
/// | `run` | any | the run it belongs to |
/// | `id` | any | the agent's own name for it |
/// | `tool`, `subject` | tool | which tool, and on what: a command or a path |
/// | `phase`, `call` | tool | `call` or `result`, and what ties the two; one without a phase is both |
/// | `failed` | tool | whether it went wrong |
/// | `todos` | tool, summary | the whole todo list as it is from here on |
/// | `task` | tool | one change of a todo list that is kept item by item |
/// | `summary` | system | what older entries came to |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ConversationEntry {
    pub timestamp: Timestamp,
    #[serde(rename = "type")]
    pub speaker: Speaker,
    pub content: String,
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Speaker {
    User,
    Assistant,
    System,
    Tool,
}

/// Whether an entry is the call of a tool or its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Call,
    Result,
    Both,
}

/// Identifies an entry, to recognise one that is imported twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Fingerprint(u64);

impl ConversationEntry {
    pub(crate) fn new(timestamp: Timestamp, speaker: Speaker, content: impl Into<String>) -> Self {
        Self {
            timestamp,
            speaker,
            content: content.into(),
            metadata: Map::new(),
        }
    }

    /// With one more metadata field.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    /// The same, where there is a value.
    pub(crate) fn with_some(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub(crate) fn with_todos(self, todos: &[Todo]) -> Self {
        match serde_json::to_value(todos) {
            Ok(value) => self.with("todos", value),
            Err(_) => self,
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.metadata.get(key)?.as_str()
    }

    pub(crate) fn tool(&self) -> Option<&str> {
        self.text("tool")
    }

    /// The tool and its subject in one line, for display.
    pub(crate) fn tool_line(&self) -> String {
        let name = self
            .tool()
            .map_or_else(|| "output".to_owned(), printable_line);
        match self.text("subject") {
            Some(subject) => format!("{name} {}", printable_line(subject)),
            None => name,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.text("phase") {
            Some("call") => Phase::Call,
            Some("result") => Phase::Result,
            Some(_) | None => Phase::Both,
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.metadata.get("failed").and_then(Value::as_bool) == Some(true)
    }

    pub(crate) fn is_summary(&self) -> bool {
        self.speaker == Speaker::System && self.metadata.contains_key("summary")
    }

    /// Equal for the same entry read twice. Fields that are added on import (run, source) do not count.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut hash = fnv(FNV_OFFSET, self.timestamp.to_string().as_bytes());
        hash = fnv(hash, &[0, self.speaker as u8]);
        hash = fnv(hash, self.content.as_bytes());
        for key in ["id", "call", "subject"] {
            hash = fnv(hash, &[0]);
            hash = fnv(hash, self.text(key).unwrap_or_default().as_bytes());
        }
        Fingerprint(hash)
    }
}

/// The entries of one run, and those without a known run. A new run does not inherit the todo list of the
/// one before.
pub(crate) fn of_run(mut entries: Vec<ConversationEntry>, run: &str) -> Vec<ConversationEntry> {
    entries.retain(|entry| entry.text("run").is_none_or(|of| of == run));
    entries
}

/// A hash that ignores white space: agents trim a pasted text, or add a line end. It is stored, so the
/// algorithm must never change.
pub(crate) fn hash_without_whitespace(text: &str) -> u64 {
    text.split_whitespace().fold(FNV_OFFSET, |hash, word| {
        fnv(fnv(hash, word.as_bytes()), b" ")
    })
}

/// A hash of these bytes, the same in every version of the program.
pub(crate) fn stable_hash(bytes: &[u8]) -> u64 {
    fnv(FNV_OFFSET, bytes)
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a: the same in every version of the program, which the standard library's hashes are not.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    })
}
