//! The files of one conversation.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::reverse_lines::ReverseLines;
use crate::conversation::ConversationEntry;
use crate::store::jsonl::ends_torn;
use crate::store::{InstanceDir, Lock, LockMode, StoreError, ensure_private};

/// The holder of the lock appends a few lines or copies a file.
const WAIT: Duration = Duration::from_secs(5);
/// The most bytes that are read from the end of a conversation.
const TAIL_BUDGET: usize = 24 * 1024 * 1024;
/// The longest summary.
const LONGEST_SUMMARY: u64 = 4 * 1024 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct ConversationDir {
    pub(super) path: PathBuf,
    lock: PathBuf,
}

/// The last entries of a conversation.
#[derive(Debug, Default)]
pub(crate) struct LastEntries {
    pub entries: Vec<ConversationEntry>,
    /// The offset of the first of them.
    pub start: u64,
    /// Lines among them that could not be read.
    pub skipped: u64,
}

impl InstanceDir {
    pub(crate) fn conversation(&self) -> ConversationDir {
        ConversationDir {
            path: self.path.join("conversation"),
            lock: self.path.join("conversation.lock"),
        }
    }
}

impl ConversationDir {
    /// The lock for writing here. It is the last lock in the order.
    pub(crate) fn lock(&self) -> Result<Lock, StoreError> {
        ensure_private(&self.path)?;
        Lock::take(&self.lock, LockMode::Exclusive, WAIT, "conversation")
    }

    pub(crate) fn current(&self) -> PathBuf {
        self.path.join("current.jsonl")
    }

    /// How long the current file is.
    pub(crate) fn length(&self) -> u64 {
        std::fs::metadata(self.current()).map_or(0, |metadata| metadata.len())
    }

    /// Adds entries; they survive a power cut once this returns. An incomplete last line that a crash has
    /// left is ended first, so that it cannot damage the new lines.
    pub(crate) fn append(
        &self,
        _lock: &Lock,
        entries: &[ConversationEntry],
    ) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let path = self.current();
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        let mut lines = Vec::new();
        if ends_torn(&mut file).map_err(StoreError::io("read", &path))? {
            lines.push(b'\n');
        }
        for entry in entries {
            serde_json::to_writer(&mut lines, entry).map_err(|error| StoreError::Corrupt {
                path: path.clone(),
                message: error.to_string(),
            })?;
            lines.push(b'\n');
        }
        file.write_all(&lines)
            .map_err(StoreError::io("append to", &path))?;
        file.sync_data().map_err(StoreError::io("sync", &path))
    }

    /// The last entries, without reading the rest: `count`, or as many as fit into memory.
    pub(crate) fn tail(&self, count: usize) -> Result<LastEntries, StoreError> {
        let path = self.current();
        let mut tailed = LastEntries::default();
        let Some(file) = open(&path)? else {
            return Ok(tailed);
        };
        let read = StoreError::io("read", &path);
        let fill = |tailed: &mut LastEntries| -> std::io::Result<()> {
            let mut lines = ReverseLines::new(file)?;
            let mut size = 0;
            tailed.start = lines.length();
            while tailed.entries.len() < count && size < TAIL_BUDGET {
                let Some((at, line)) = lines.next()? else {
                    break;
                };
                if line.is_empty() {
                    continue;
                }
                match serde_json::from_slice(&line) {
                    Ok(entry) => {
                        tailed.entries.push(entry);
                        tailed.start = at;
                        size += line.len();
                    }
                    Err(_) => tailed.skipped += 1,
                }
            }
            tailed.entries.reverse();
            Ok(())
        };
        fill(&mut tailed).map_err(read)?;
        Ok(tailed)
    }

    /// How often this conversation was compacted, from the summary at its start.
    pub(crate) fn generation(&self) -> Result<u64, StoreError> {
        Ok(self.head()?.map_or(0, |head| head.number))
    }

    pub(super) fn head(&self) -> Result<Option<Head>, StoreError> {
        let path = self.current();
        let Some(file) = open(&path)? else {
            return Ok(None);
        };
        Head::read(file).map_err(StoreError::io("read", &path))
    }
}

/// What the summary at the start of a compacted conversation records about the compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub number: u64,
    /// The offset of the kept part in the previous file.
    pub cut: u64,
    /// The length of the summary with its line end.
    pub length: u64,
}

impl Head {
    pub(super) fn read(file: File) -> std::io::Result<Option<Self>> {
        let mut line = Vec::new();
        BufReader::new(file.take(LONGEST_SUMMARY)).read_until(b'\n', &mut line)?;
        let Ok(entry) = serde_json::from_slice::<ConversationEntry>(&line) else {
            return Ok(None);
        };
        let told = |key: &str| entry.metadata.get("compaction")?.get(key)?.as_u64();
        let head = |(number, cut)| Self {
            number,
            cut,
            length: line.len() as u64,
        };
        Ok(told("number")
            .zip(told("cut"))
            .filter(|_| entry.is_summary())
            .map(head))
    }
}

/// The file, if it exists.
pub(super) fn open(path: &Path) -> Result<Option<File>, StoreError> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}
