//! The journal of the operation that is under way, or of the last one.

use std::io::{BufRead, BufReader};
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
        let file = match std::fs::File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io("read", &self.path)(error)),
        };
        let mut entries = Vec::new();
        let mut torn = None;
        for line in BufReader::new(file).split(b'\n') {
            let line = line.map_err(StoreError::io("read", &self.path))?;
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice::<JournalEntry>(&line) {
                Ok(entry) => entries.push(entry),
                // At most one incomplete line: at the end, or before a later append.
                Err(error) if torn.is_none() && !line.ends_with(b"}") => torn = Some(error),
                Err(error) => return Err(self.not_understood(&line, &error)),
            }
        }
        Journal::from_entries(entries)
            .map(Some)
            .map_err(StoreError::journal(&self.path))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::{Fact, Facts, Plan, Step};
    use crate::model::{OperationId, Timestamp};
    use crate::process::Identity;

    #[test]
    fn a_journal_cut_at_any_byte_is_an_earlier_journal_never_a_wrong_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = JournalFile::new(dir.path().join("journal.jsonl"));
        file.begin(&JournalEntry::Begin {
            format: JournalEntry::FORMAT,
            id: OperationId::random(),
            at: Timestamp::parse("2026-11-14T18:02:00Z").unwrap(),
            by: Identity::of_this_process(),
            plan: Plan::pause(),
            facts: Facts::none(),
        })
        .unwrap();
        let first = std::fs::read(&file.path).unwrap().len();
        for step in [Step::Quiesce, Step::SaveConversation] {
            let facts = Facts::none().with(Fact::new("a"), &"b}");
            file.append(&JournalEntry::Done { step, facts }).unwrap();
        }
        let whole = std::fs::read(&file.path).unwrap();
        for cut in first..=whole.len() {
            std::fs::write(&file.path, &whole[..cut]).unwrap();
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
}
