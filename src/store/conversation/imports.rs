//! How far the agents' transcripts were read, and what is known of their entries.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::directory::ConversationDir;
use super::reader::ConversationReader;
use crate::conversation::{ConversationEntry, Fingerprint, Speaker, hash_without_whitespace};
use crate::model::Timestamp;
use crate::store::{Document, Lock, StoreError, read_if_there, set_aside, write_document};

/// A transcript may tell of a prompt a moment before it was seen to be submitted …
const BEFORE: Duration = Duration::from_secs(60);
/// … and some time after: a busy agent keeps it waiting.
const AFTER: Duration = Duration::from_secs(15 * 60);
/// Prompts that a transcript never told of are let go.
const MOST_SENT: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Imports {
    pub format: u32,
    /// Which current file `stored` speaks of, and how long it was.
    generation: u64,
    stored: u64,
    /// By format and session reference, in the words of the room that reads them.
    pub sources: BTreeMap<String, Value>,
    pub sent: Vec<Sent>,
    /// Lines of transcripts that could not be understood.
    pub skipped: u64,
}

/// A prompt that is sent through Bivouac and that no transcript has told of yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub at: Timestamp,
    pub words: u64,
    /// Whether it stands in the conversation already.
    pub written: bool,
}

/// What stands in the conversation already, as far as it could come again.
#[derive(Debug, Default)]
pub(crate) struct Known {
    entries: HashMap<Fingerprint, u32>,
    /// Prompts that were sent and whose transcripts' version was left out.
    sent: Vec<Sent>,
}

impl Document for Imports {
    const FORMAT: u32 = 1;
}

impl Imports {
    /// Notes that a prompt is about to be sent.
    pub(crate) fn note_sent(&mut self, at: Timestamp, prompt: &str) {
        if self.sent.len() >= MOST_SENT {
            self.sent.remove(0);
        }
        self.sent.push(Sent {
            at,
            words: hash_without_whitespace(prompt),
            written: false,
        });
    }

    /// Takes a note back, unless a transcript has told of the prompt.
    pub(crate) fn forget_sent(&mut self, at: Timestamp, prompt: &str) {
        let words = hash_without_whitespace(prompt);
        self.sent
            .retain(|sent| sent.written || sent.at != at || sent.words != words);
    }

    /// Marks a noted prompt as written; false where a transcript has told of it before.
    pub(crate) fn write_sent(&mut self, at: Timestamp, prompt: &str) -> bool {
        let words = hash_without_whitespace(prompt);
        let noted = self
            .sent
            .iter_mut()
            .find(|sent| !sent.written && sent.at == at && sent.words == words);
        if let Some(sent) = noted {
            sent.written = true;
            return true;
        }
        false
    }

    /// What becomes of an entry of a transcript: None if it stands in the conversation already, as
    /// a prompt that was sent; with a mark if it was sent and is written here first.
    pub(crate) fn admit(&mut self, entry: ConversationEntry) -> Option<ConversationEntry> {
        match take_match(&mut self.sent, &entry) {
            None => Some(entry),
            Some(sent) if sent.written => None,
            Some(_) => Some(entry.with("source", "biv")),
        }
    }
}

impl Known {
    /// Whether the entry stands in the conversation already. Each that stands there is found once:
    /// the same words may well be said twice.
    pub(crate) fn has(&mut self, entry: &ConversationEntry) -> bool {
        match self.entries.get_mut(&entry.fingerprint()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            Some(_) | None => take_match(&mut self.sent, entry).is_some(),
        }
    }

    fn add(&mut self, entry: &ConversationEntry) {
        if entry.text("source") == Some("biv") {
            self.sent.push(Sent {
                at: entry.timestamp,
                words: hash_without_whitespace(&entry.content),
                written: true,
            });
        } else if !entry.is_summary() {
            *self.entries.entry(entry.fingerprint()).or_default() += 1;
        }
    }
}

fn take_match(sent: &mut Vec<Sent>, entry: &ConversationEntry) -> Option<Sent> {
    if entry.speaker != Speaker::User || sent.is_empty() {
        return None;
    }
    let words = hash_without_whitespace(&entry.content);
    let at = sent.iter().position(|sent| {
        sent.words == words
            && entry.timestamp.until(sent.at) <= BEFORE
            && sent.at.until(entry.timestamp) <= AFTER
    })?;
    Some(sent.remove(at))
}

impl ConversationDir {
    /// What was imported. A damaged file is as none: everything is then compared
    /// with what stands in the conversation.
    pub(crate) fn imports(&self) -> Result<Imports, StoreError> {
        match read_if_there(&self.imports_path()) {
            Ok(imports) => Ok(imports.unwrap_or_default()),
            Err(StoreError::Corrupt { .. }) => Ok(Imports::default()),
            Err(error) => Err(error),
        }
    }

    /// Writes down what was imported up to the present end of the current file.
    pub(crate) fn save_imports(
        &self,
        _lock: &Lock,
        imports: &mut Imports,
    ) -> Result<(), StoreError> {
        let path = self.imports_path();
        imports.format = Imports::FORMAT;
        imports.generation = self.generation()?;
        imports.stored = self.length();
        if let Err(StoreError::Corrupt { .. }) = read_if_there::<Imports>(&path) {
            set_aside(&path)?;
        }
        write_document(&path, imports)
    }

    /// What a crash kept from being written down: entries behind the end that the imports know of.
    /// Prompts among them that were sent count as written.
    pub(crate) fn unacknowledged(&self, imports: &mut Imports) -> Result<Known, StoreError> {
        if imports.generation != self.generation()? {
            return self.known();
        }
        let mut known = Known::default();
        if imports.stored < self.length() {
            self.learn(&mut known, self.reader(imports.stored)?)?;
        }
        for sent in &mut imports.sent {
            let written = known
                .sent
                .iter()
                .position(|other| other.words == sent.words);
            if let Some(at) = written.filter(|_| !sent.written) {
                known.sent.remove(at);
                sent.written = true;
            }
        }
        known.sent.clear();
        Ok(known)
    }

    /// All that stands in the conversation, archives included.
    pub(crate) fn known(&self) -> Result<Known, StoreError> {
        let mut known = Known::default();
        for number in self.archives()? {
            let path = self.archive(number);
            self.learn(&mut known, ConversationReader::open(&path, 0)?)?;
        }
        self.learn(&mut known, self.reader(0)?)?;
        Ok(known)
    }

    fn learn(&self, known: &mut Known, mut reader: ConversationReader) -> Result<(), StoreError> {
        loop {
            let entries = reader.next()?;
            if entries.is_empty() {
                return Ok(());
            }
            entries.iter().for_each(|entry| known.add(entry));
        }
    }

    fn imports_path(&self) -> PathBuf {
        self.path.join("imports.json")
    }
}
