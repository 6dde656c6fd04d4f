//! Append-only files of JSON lines.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StoreError;

/// Whether an appended line must survive a power cut before the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    Durable,
    Soon,
}

/// Appends one line with a single write. An incomplete last line that a crash has left is ended first, so
/// that it does not merge with the new line.
pub(crate) fn append_line(
    path: &Path,
    value: &impl Serialize,
    tail: Durability,
) -> Result<(), StoreError> {
    let mut line = serde_json::to_vec(value).map_err(|error| StoreError::Corrupt {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    line.push(b'\n');
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map_err(StoreError::io("open", path))?;
    if ends_torn(&mut file).map_err(StoreError::io("read", path))? {
        line.insert(0, b'\n');
    }
    file.write_all(&line)
        .map_err(StoreError::io("append to", path))?;
    if tail == Durability::Durable {
        file.sync_data().map_err(StoreError::io("sync", path))?;
    }
    Ok(())
}

pub(super) fn ends_torn(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

/// All lines that can be read, and how many could not. A missing file has none.
pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<(Vec<T>, usize), StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        Err(error) => return Err(StoreError::io("read", path)(error)),
    };
    let mut values = Vec::new();
    let mut skipped = 0;
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(StoreError::io("read", path))?;
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(value) => values.push(value),
            Err(_) => skipped += 1,
        }
    }
    Ok((values, skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_cut_at_any_byte_keeps_its_whole_lines_and_takes_new_ones() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines.jsonl");
        for text in ["one", "two\nlines", "drei ü"] {
            append_line(&path, &text, Durability::Soon).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let complete = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
            append_line(&path, &"new", Durability::Durable).unwrap();
            let (lines, _) = read_lines::<String>(&path).unwrap();
            assert!(lines.len() > complete, "cut at {cut}");
            assert_eq!(lines.last().map(String::as_str), Some("new"));
        }
    }
}
