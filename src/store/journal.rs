//! The journal of the operation that is under way, or of the last one.

use std::path::PathBuf;

use super::{Durability, StoreError, append_line, replace_file};
use crate::lifecycle::{Journal, JournalEntry};

#[derive(Debug, Clone)]
pub(crate) struct JournalFile {
    path: PathBuf,
}

impl JournalFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Replaces the last operation's journal, which must be closed.
    pub(crate) fn begin(&self, entry: &JournalEntry) -> Result<(), StoreError> {
        let mut line =
            serde_json::to_vec(entry).map_err(|error| self.corrupt(&error.to_string()))?;
        line.push(b'\n');
        replace_file(&self.path, &line)
    }

    pub(crate) fn append(&self, entry: &JournalEntry) -> Result<(), StoreError> {
        let tail = if entry.must_be_durable() {
            Durability::Durable
        } else {
            Durability::Soon
        };
        append_line(&self.path, entry, tail)
    }

    /// The journal, if there is one. An incomplete line means that its step was never reported as done.
    /// Any other unreadable line is an error: recovery must not act on this journal.
    pub(crate) fn read(&self) -> Result<Option<Journal>, StoreError> {
        self.text()?.map(|text| self.parse(&text)).transpose()
    }

    /// The journal of an operation that has not ended. The last line tells that one has ended, and the
    /// rest of it is not parsed: looks at many instances would spend most of their time on it.
    pub(crate) fn read_open(&self) -> Result<Option<Journal>, StoreError> {
        let Some(text) = self.text()? else {
            return Ok(None);
        };
        if is_closed(&text) {
            return Ok(None);
        }
        let journal = self.parse(&text)?;
        Ok((!journal.is_closed()).then_some(journal))
    }

    fn text(&self) -> Result<Option<Vec<u8>>, StoreError> {
        match std::fs::read(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", &self.path)(error)),
        }
    }

    fn parse(&self, text: &[u8]) -> Result<Journal, StoreError> {
        let mut entries = Vec::new();
        let mut torn = None;
        for line in text.split(|byte| *byte == b'\n') {
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice::<JournalEntry>(line) {
                Ok(entry) => entries.push(entry),
                // At most one incomplete line: at the end, or before a later append.
                Err(error) if torn.is_none() && !line.ends_with(b"}") => torn = Some(error),
                Err(error) => return Err(self.not_understood(line, &error)),
            }
        }
        Journal::from_entries(entries).map_err(StoreError::journal(&self.path))
    }

    /// Valid JSON of an unknown kind is from a newer version; anything else is damage.
    fn not_understood(&self, line: &[u8], error: &serde_json::Error) -> StoreError {
        if serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
            return self.corrupt(&error.to_string());
        }
        StoreError::Unknown {
            path: self.path.clone(),
            message: error.to_string(),
        }
    }

    fn corrupt(&self, message: &str) -> StoreError {
        StoreError::Corrupt {
            path: self.path.clone(),
            message: message.to_owned(),
        }
    }
}

/// Whether the last line is complete and ends its operation.
fn is_closed(text: &[u8]) -> bool {
    let last = text
        .strip_suffix(b"\n")
        .and_then(|lines| lines.rsplit(|byte| *byte == b'\n').next());
    last.and_then(|line| serde_json::from_slice::<JournalEntry>(line).ok())
        .is_some_and(|entry| entry.closes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::{Fact, Facts, Plan, Step};
    use crate::model::{OperationId, Timestamp};
    use crate::process::Identity;

    fn beginning() -> JournalEntry {
        JournalEntry::Begin {
            format: JournalEntry::FORMAT,
            id: OperationId::random(),
            at: Timestamp::parse("2026-11-14T18:02:00Z").unwrap(),
            by: Identity::of_this_process(),
            plan: Plan::pause(),
            facts: Facts::none(),
        }
    }

    #[test]
    fn a_journal_cut_at_any_byte_is_an_earlier_journal_never_a_wrong_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = JournalFile::new(dir.path().join("journal.jsonl"));
        file.begin(&beginning()).unwrap();
        let first = std::fs::read(&file.path).unwrap().len();
        for step in [Step::Quiesce, Step::SaveConversation] {
            let facts = Facts::none().with(Fact::new("a"), &"b}");
            file.append(&JournalEntry::Done { step, facts }).unwrap();
        }
        let whole = std::fs::read(&file.path).unwrap();
        for cut in first..=whole.len() {
            std::fs::write(&file.path, &whole[..cut]).unwrap();
            assert!(
                matches!(file.read_open(), Ok(Some(_)) | Err(_)),
                "cut {cut}"
            );
            // A cut inside a line may leave a shorter text that still ends like an object. It is
            // then refused, which is safe, and never read as another entry.
            if let Ok(journal) = file.read() {
                let journal = journal.unwrap();
                let complete = whole[first..cut]
                    .iter()
                    .filter(|byte| **byte == b'\n')
                    .count();
                let done = [Step::Quiesce, Step::SaveConversation]
                    .into_iter()
                    .filter(|step| journal.is_done(*step))
                    .count();
                assert!(
                    done == complete || cut + 1 == whole.len() || done == complete + 1,
                    "cut {cut}"
                );
            }
        }
    }

    #[test]
    fn an_operation_has_ended_only_where_the_last_line_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let file = JournalFile::new(dir.path().join("journal.jsonl"));
        assert!(file.read_open().unwrap().is_none(), "no journal at all");
        file.begin(&beginning()).unwrap();
        for end in [JournalEntry::Committed, JournalEntry::TakenBack] {
            let open = std::fs::read(&file.path).unwrap();
            assert!(file.read_open().unwrap().is_some());
            file.append(&end).unwrap();
            assert!(file.read().unwrap().unwrap().is_closed());
            assert!(file.read_open().unwrap().is_none());
            let closed = std::fs::read(&file.path).unwrap();
            // Without its line end the entry may still be a part of a longer one; read whole, it tells.
            for cut in open.len()..closed.len() - 1 {
                std::fs::write(&file.path, &closed[..cut]).unwrap();
                assert!(file.read_open().unwrap().is_some(), "cut {cut}");
            }
            std::fs::write(&file.path, &open).unwrap();
        }
    }
}
