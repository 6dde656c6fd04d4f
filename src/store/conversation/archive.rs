//! Compaction: the older part of a conversation is moved to an archive and replaced by a summary.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::directory::{ConversationDir, open};
use super::reader::ConversationReader;
use super::reverse_lines::ReverseLines;
use crate::conversation::ConversationEntry;
use crate::store::replace::sync_directory;
use crate::store::{Lock, StoreError};

/// The prefix of files that are not complete.
const UNFINISHED: &str = ".new-";

/// Where a conversation is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    generation: u64,
    /// Where the older part begins: after an existing summary.
    from: u64,
    /// Where the kept part begins.
    at: u64,
}

impl ConversationDir {
    /// The split before the last `keep` entries; None where only a summary is before it.
    pub(crate) fn cut(&self, keep: usize) -> Result<Option<Cut>, StoreError> {
        let path = self.current();
        let Some(file) = open(&path)? else {
            return Ok(None);
        };
        let start = start_of_last(file, keep).map_err(StoreError::io("read", &path))?;
        let head = self.head()?;
        let from = head.map_or(0, |head| head.length);
        let older = ConversationReader::open(&path, from)?.until(start).next()?;
        Ok((!older.is_empty()).then_some(Cut {
            generation: head.map_or(0, |head| head.number),
            from,
            at: start,
        }))
    }

    /// Whether there are more entries than this, a summary not counted.
    pub(crate) fn has_more_than(&self, count: usize) -> Result<bool, StoreError> {
        Ok(self.cut(count)?.is_some())
    }

    /// The older part, which is to be summarised, with the summary at its start.
    pub(crate) fn older(&self, cut: &Cut) -> Result<ConversationReader, StoreError> {
        Ok(self.reader(0)?.until(cut.at))
    }

    /// Archives the older part and replaces it by the summary. Entries that were added since the cut are
    /// kept too. Returns the archive, or None where another process has compacted it already.
    pub(crate) fn replace_older(
        &self,
        _lock: &Lock,
        cut: &Cut,
        summary: ConversationEntry,
    ) -> Result<Option<PathBuf>, StoreError> {
        if self.generation()? != cut.generation {
            return Ok(None);
        }
        self.forget_unfinished();
        let number = self.free_number(cut)?;
        let archive = self.archive(number);
        self.write_whole(&archive, &[], cut.from, Some(cut.at))?;
        let summary = summary.with("compaction", json!({ "number": number, "cut": cut.at }));
        let path = self.current();
        let mut line = serde_json::to_vec(&summary).map_err(|error| StoreError::Corrupt {
            path: path.clone(),
            message: error.to_string(),
        })?;
        line.push(b'\n');
        self.write_whole(&path, &line, cut.at, None)?;
        Ok(Some(archive))
    }

    pub(super) fn archive(&self, number: u64) -> PathBuf {
        self.path.join(format!("archive-{number:04}.jsonl"))
    }

    /// The numbers of all archives, in order.
    pub(super) fn archives(&self) -> Result<Vec<u64>, StoreError> {
        let entries = match std::fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("read", &self.path)(error)),
        };
        let mut numbers: Vec<u64> = entries
            .filter_map(|entry| {
                let name = entry.ok()?.file_name().into_string().ok()?;
                let number = name.strip_prefix("archive-")?.strip_suffix(".jsonl")?;
                number.parse().ok()
            })
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The number of the next archive. An archive that a crash has left contains part of what is about to
    /// be archived, and is replaced. Any other archive is the only copy of its entries.
    fn free_number(&self, cut: &Cut) -> Result<u64, StoreError> {
        let next = cut.generation + 1;
        let last = self.archives()?.last().copied().unwrap_or(0);
        if last < next {
            return Ok(next);
        }
        let left = self.archive(next);
        let ours = last == next
            && self
                .is_part(&left, cut)
                .map_err(StoreError::io("read", &left))?;
        Ok(if ours { next } else { last + 1 })
    }

    fn is_part(&self, archive: &Path, cut: &Cut) -> std::io::Result<bool> {
        let length = std::fs::metadata(archive)?.len();
        if length > cut.at - cut.from {
            return Ok(false);
        }
        let mut current = File::open(self.current())?;
        current.seek(SeekFrom::Start(cut.from))?;
        let (mut one, mut other) = (File::open(archive)?.take(length), current.take(length));
        let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        loop {
            let read = one.read(&mut left)?;
            if read == 0 {
                return Ok(true);
            }
            let right = right.get_mut(..read).unwrap_or_default();
            other.read_exact(right)?;
            if left.get(..read) != Some(&*right) {
                return Ok(false);
            }
        }
    }

    /// Writes `first` and a part of the current file to `target`, atomically.
    fn write_whole(
        &self,
        target: &Path,
        first: &[u8],
        from: u64,
        until: Option<u64>,
    ) -> Result<(), StoreError> {
        let mut temporary = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(&self.path)
            .map_err(StoreError::io("write in", &self.path))?;
        let copy = |to: &mut File| -> std::io::Result<()> {
            let mut source = File::open(self.current())?;
            source.seek(SeekFrom::Start(from))?;
            to.write_all(first)?;
            let length = until.map_or(u64::MAX, |until| until.saturating_sub(from));
            std::io::copy(&mut source.take(length), to)?;
            to.sync_all()
        };
        copy(temporary.as_file_mut()).map_err(StoreError::io("write", target))?;
        temporary
            .persist(target)
            .map_err(|error| StoreError::io("replace", target)(error.error))?;
        sync_directory(&self.path)
    }

    /// Removes incomplete files that a crash has left. The caller holds the lock, so no other process is
    /// writing one.
    fn forget_unfinished(&self) {
        for entry in std::fs::read_dir(&self.path)
            .into_iter()
            .flatten()
            .flatten()
        {
            // A failure is tried again the next time.
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED)
                && let Err(error) = std::fs::remove_file(entry.path())
            {
                tracing::debug!(%error, "an incomplete conversation file was not removed");
            }
        }
    }
}

/// Where the last `keep` entries begin. Reads one entry at a time.
fn start_of_last(file: File, keep: usize) -> std::io::Result<u64> {
    let mut lines = ReverseLines::new(file)?;
    let mut start = lines.length();
    let mut found = 0;
    while found < keep {
        let Some((at, line)) = lines.next()? else {
            break;
        };
        if serde_json::from_slice::<ConversationEntry>(&line).is_ok() {
            found += 1;
            start = at;
        }
    }
    Ok(start)
}
