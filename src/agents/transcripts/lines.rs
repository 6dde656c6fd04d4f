//! Reads complete lines of a growing file, from any offset.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

/// A longer line is skipped, to bound memory.
const LONGEST: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Lines {
    file: BufReader<File>,
    /// Where the next line begins.
    offset: u64,
    line: Vec<u8>,
}

/// What the next line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'l> {
    Line(&'l [u8]),
    TooLong,
    /// No complete line is left; there may be one later.
    End,
}

impl Lines {
    pub(super) fn open(path: &Path, offset: u64) -> std::io::Result<Self> {
        let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self {
            file,
            offset,
            line: Vec::new(),
        })
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn next(&mut self) -> std::io::Result<Next<'_>> {
        self.line.clear();
        let mut length = 0_u64;
        loop {
            let buffer = self.file.fill_buf()?;
            if buffer.is_empty() {
                // The incomplete line is kept for the next call.
                self.file.seek(SeekFrom::Start(self.offset))?;
                return Ok(Next::End);
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(buffer.len(), |end| end + 1);
            length += taken as u64;
            let text = buffer.get(..end.unwrap_or(taken)).unwrap_or_default();
            if self.line.len() + text.len() <= LONGEST {
                self.line.extend_from_slice(text);
            }
            self.file.consume(taken);
            if end.is_some() {
                self.offset += length;
                // Without its line end.
                return Ok(if (self.line.len() as u64) + 1 < length {
                    self.line = Vec::new();
                    Next::TooLong
                } else {
                    Next::Line(&self.line)
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_waits_until_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, "one\n\nthr").unwrap();
        let mut lines = Lines::open(&path, 0).unwrap();
        assert_eq!(lines.next().unwrap(), Next::Line(b"one"));
        assert_eq!(lines.next().unwrap(), Next::Line(b""));
        assert_eq!(lines.next().unwrap(), Next::End);
        assert_eq!(lines.offset(), 5);
        std::fs::write(&path, "one\n\nthree\n").unwrap();
        assert_eq!(lines.next().unwrap(), Next::Line(b"three"));
        assert_eq!(lines.next().unwrap(), Next::End);
        assert_eq!(lines.offset(), 11);
    }

    #[test]
    fn a_line_without_bound_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let mut text = vec![b'x'; LONGEST + 1];
        text.extend(b"\nshort\n");
        std::fs::write(&path, &text).unwrap();
        let mut lines = Lines::open(&path, 0).unwrap();
        assert_eq!(lines.next().unwrap(), Next::TooLong);
        assert_eq!(lines.next().unwrap(), Next::Line(b"short"));
    }
}
