//! Reads a conversation from start to end in pieces, also while it grows or is compacted.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::directory::{ConversationDir, Head, open};
use crate::conversation::ConversationEntry;
use crate::store::StoreError;

/// How many bytes are read per piece.
const PIECE: u64 = 1024 * 1024;

#[derive(Debug)]
pub(crate) struct ConversationReader {
    path: PathBuf,
    /// None while there is no conversation.
    file: Option<BufReader<File>>,
    position: u64,
    /// Where to stop; None: at the end.
    limit: Option<u64>,
    skipped: u64,
}

impl ConversationDir {
    /// Reads on from a place in the current file.
    pub(crate) fn reader(&self, from: u64) -> Result<ConversationReader, StoreError> {
        ConversationReader::open(&self.current(), from)
    }

    /// Readers of everything that was said, in order: the archives, then the current file without its
    /// summary.
    pub(crate) fn whole(&self) -> Result<Vec<ConversationReader>, StoreError> {
        let mut readers = Vec::new();
        for number in self.archives()? {
            readers.push(ConversationReader::open(&self.archive(number), 0)?);
        }
        readers.push(self.reader(self.head()?.map_or(0, |head| head.length))?);
        Ok(readers)
    }
}

impl ConversationReader {
    pub(super) fn open(path: &Path, from: u64) -> Result<Self, StoreError> {
        let mut reader = Self {
            path: path.to_owned(),
            file: None,
            position: from,
            limit: None,
            skipped: 0,
        };
        reader.reopen()?;
        Ok(reader)
    }

    /// Stops at this offset.
    pub(super) fn until(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Lines that could not be read so far.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The next entries; empty at the end of what is written so far.
    pub(crate) fn next(&mut self) -> Result<Vec<ConversationEntry>, StoreError> {
        self.read_piece()
            .map_err(StoreError::io("read", &self.path))
    }

    fn read_piece(&mut self) -> std::io::Result<Vec<ConversationEntry>> {
        let mut entries = Vec::new();
        let start = self.position;
        let Some(file) = &mut self.file else {
            return Ok(entries);
        };
        let mut line = Vec::new();
        while self.limit.is_none_or(|limit| self.position < limit) {
            if self.position - start >= PIECE && !entries.is_empty() {
                break;
            }
            line.clear();
            let length = file.read_until(b'\n', &mut line)?;
            let whole = line.last() == Some(&b'\n');
            match serde_json::from_slice::<ConversationEntry>(&line) {
                Ok(entry) => entries.push(entry),
                // An incomplete line: another process is writing it, or a crash cut it off and the next
                // append ends it.
                Err(_) if !whole => {
                    file.seek(SeekFrom::Start(self.position))?;
                    break;
                }
                Err(_) if line == b"\n" => {}
                Err(_) => self.skipped += 1,
            }
            self.position += length as u64;
        }
        Ok(entries)
    }

    /// Switches to the new file after a compaction; returns whether there was one. The new file has the
    /// end of the old one, so reading continues at the same entry.
    pub(crate) fn follow(&mut self) -> Result<bool, StoreError> {
        let now = match std::fs::metadata(&self.path) {
            Ok(metadata) => metadata.ino(),
            Err(_) => return Ok(false),
        };
        let before = match &self.file {
            None => None,
            Some(file) => Some(
                file.get_ref()
                    .metadata()
                    .map_err(StoreError::io("read", &self.path))?,
            ),
        };
        if before.as_ref().is_some_and(|before| before.ino() == now) {
            return Ok(false);
        }
        if let Some(before) = before
            && let Some(file) = open(&self.path)?
        {
            let head = Head::read(file).map_err(StoreError::io("read", &self.path))?;
            let left = before.len().saturating_sub(self.position);
            self.position = match head {
                Some(head) => (head.length + before.len()).saturating_sub(head.cut + left),
                None => 0,
            };
        }
        self.reopen()?;
        Ok(true)
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        self.file = match open(&self.path)? {
            None => None,
            Some(file) => {
                let mut file = BufReader::with_capacity(1 << 16, file);
                file.seek(SeekFrom::Start(self.position))
                    .map_err(StoreError::io("read", &self.path))?;
                Some(file)
            }
        };
        Ok(())
    }
}
