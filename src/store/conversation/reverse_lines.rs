//! Reads the lines of a file from its end.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

const BLOCK: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct ReverseLines {
    file: File,
    /// Where `unread` begins in the file.
    position: u64,
    /// What was read and not returned: everything before the line that was returned last.
    unread: Vec<u8>,
    /// How much of the start of `unread` may still contain a line end.
    unsearched: usize,
    ended: bool,
}

impl ReverseLines {
    pub(super) fn new(mut file: File) -> std::io::Result<Self> {
        let position = file.seek(SeekFrom::End(0))?;
        Ok(Self {
            file,
            position,
            unread: Vec::new(),
            unsearched: 0,
            ended: false,
        })
    }

    /// The length of the file, before the first line is returned.
    pub(super) fn length(&self) -> u64 {
        self.position + self.unread.len() as u64
    }

    /// The line before the one returned last, and its offset; None at the start of the file.
    pub(super) fn next(&mut self) -> std::io::Result<Option<(u64, Vec<u8>)>> {
        loop {
            let searched = self.unread.get(..self.unsearched).unwrap_or_default();
            if let Some(end) = searched.iter().rposition(|byte| *byte == b'\n') {
                let line = self.unread.split_off(end + 1);
                self.unread.truncate(end);
                self.unsearched = end;
                return Ok(Some((self.position + end as u64 + 1, line)));
            }
            self.unsearched = 0;
            if self.position == 0 {
                if self.ended {
                    return Ok(None);
                }
                self.ended = true;
                return Ok(Some((0, std::mem::take(&mut self.unread))));
            }
            self.read_block()?;
        }
    }

    /// Reads longer and longer blocks for a long line, so that it is not copied too often.
    fn read_block(&mut self) -> std::io::Result<()> {
        let wanted = self.unread.len().max(BLOCK) as u64;
        let length = wanted.min(self.position);
        self.position -= length;
        self.file.seek(SeekFrom::Start(self.position))?;
        let mut block = vec![0; usize::try_from(length).unwrap_or(BLOCK)];
        self.file.read_exact(&mut block)?;
        self.unsearched = block.len();
        block.append(&mut self.unread);
        self.unread = block;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_from_the_end_with_their_places() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        let long = "x".repeat(3 * BLOCK + 17);
        for text in [
            "",
            "\n",
            "one",
            "one\ntwo\n",
            "\n\na\n\n",
            &format!("a\n{long}\nb\n{long}"),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut lines = ReverseLines::new(File::open(&path).unwrap()).unwrap();
            let mut found = Vec::new();
            while let Some((at, line)) = lines.next().unwrap() {
                let start = usize::try_from(at).unwrap();
                assert_eq!(&text.as_bytes()[start..start + line.len()], line.as_slice());
                found.insert(0, String::from_utf8(line).unwrap());
            }
            assert_eq!(found.join("\n"), text);
        }
    }
}
