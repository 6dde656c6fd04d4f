//! The state of transcript imports: how far each transcript was read, and which prompts were sent.

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

/// A transcript may record a prompt shortly before it was seen to be submitted …
const BEFORE: Duration = Duration::from_secs(60);
/// … or some time after, if the agent was busy.
const AFTER: Duration = Duration::from_secs(15 * 60);
/// The most prompts that are kept while no transcript has recorded them.
const MOST_SENT: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Imports {
    pub format: u32,
    /// The generation of the current file that `stored` refers to, and its length.
    generation: u64,
    stored: u64,
    /// Bookmarks by format and session reference. Opaque here: the `agents` room defines them.
    pub sources: BTreeMap<String, Value>,
    pub sent: Vec<SentPrompt>,
    /// Lines of transcripts that could not be understood.
    pub skipped: u64,
}

/// A prompt that was sent through Bivouac and that no transcript has recorded yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentPrompt {
    pub at: Timestamp,
    pub words: u64,
    /// Whether it is in the conversation already.
    pub written: bool,
}

/// Entries of the conversation that an import could add again.
#[derive(Debug, Default)]
pub(crate) struct KnownEntries {
    entries: HashMap<Fingerprint, u32>,
    /// Sent prompts whose transcript entry was left out.
    sent: Vec<SentPrompt>,
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
        self.sent.push(SentPrompt {
            at,
            words: hash_without_whitespace(prompt),
            written: false,
        });
    }

    /// Removes a note, unless a transcript has recorded the prompt.
    pub(crate) fn forget_sent(&mut self, at: Timestamp, prompt: &str) {
        let words = hash_without_whitespace(prompt);
        self.sent
            .retain(|sent| sent.written || sent.at != at || sent.words != words);
    }

    /// Marks a noted prompt as written; false where a transcript has recorded it before.
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

    /// Whether no transcript has recorded a noted prompt yet.
    pub(crate) fn awaits(&self, at: Timestamp, prompt: &str) -> bool {
        let words = hash_without_whitespace(prompt);
        let mut sent = self.sent.iter();
        sent.any(|sent| sent.at == at && sent.words == words)
    }

    /// Filters an entry of a transcript. None if it is in the conversation already as a sent prompt;
    /// marked as sent if it was sent and is written here first.
    pub(crate) fn admit(&mut self, entry: ConversationEntry) -> Option<ConversationEntry> {
        match take_match(&mut self.sent, &entry) {
            None => Some(entry),
            Some(sent) if sent.written => None,
            Some(_) => Some(entry.with("source", "biv")),
        }
    }
}

impl KnownEntries {
    /// Whether the entry is in the conversation already. Each known entry matches once, because the same
    /// words may be said twice.
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
            self.sent.push(SentPrompt {
                at: entry.timestamp,
                words: hash_without_whitespace(&entry.content),
                written: true,
            });
        } else if !entry.is_summary() {
            *self.entries.entry(entry.fingerprint()).or_default() += 1;
        }
    }
}

fn take_match(sent: &mut Vec<SentPrompt>, entry: &ConversationEntry) -> Option<SentPrompt> {
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
    /// The import state. A damaged file counts as none: every entry is then compared with the
    /// conversation.
    pub(crate) fn imports(&self) -> Result<Imports, StoreError> {
        match read_if_there(&self.imports_path()) {
            Ok(imports) => Ok(imports.unwrap_or_default()),
            Err(StoreError::Corrupt { .. }) => Ok(Imports::default()),
            Err(error) => Err(error),
        }
    }

    /// Stores the import state for the present end of the current file.
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

    /// Entries after the stored end, whose import state a crash kept from being stored. Sent prompts among
    /// them count as written.
    pub(crate) fn unacknowledged(&self, imports: &mut Imports) -> Result<KnownEntries, StoreError> {
        if imports.generation != self.generation()? {
            return self.known();
        }
        let mut known = KnownEntries::default();
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

    /// All entries of the conversation, including archives.
    pub(crate) fn known(&self) -> Result<KnownEntries, StoreError> {
        let mut known = KnownEntries::default();
        for number in self.archives()? {
            let path = self.archive(number);
            self.learn(&mut known, ConversationReader::open(&path, 0)?)?;
        }
        self.learn(&mut known, self.reader(0)?)?;
        Ok(known)
    }

    fn learn(
        &self,
        known: &mut KnownEntries,
        mut reader: ConversationReader,
    ) -> Result<(), StoreError> {
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
