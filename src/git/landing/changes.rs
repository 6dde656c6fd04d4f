//! What differs between two commits.

use std::path::PathBuf;

use crate::git::call::{SLOW, bytes_to_path, fields};
use crate::git::{GitError, Repo};

const SUBMODULE: &[u8] = b"160000";

/// One path that differs between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub path: PathBuf,
    /// Mode and id in the old commit.
    pub old: (u32, String),
    pub added: bool,
    pub deleted: bool,
    pub submodule: bool,
}

impl Repo {
    /// Every path that differs between two commits.
    pub(crate) fn changes(&self, old: &str, new: &str) -> Result<Vec<Change>, GitError> {
        let listing = self
            .git()
            // Git reads the index here although it needs nothing of it.
            .env("GIT_INDEX_FILE", self.common_dir().join("no-index"))
            .args(["diff-tree", "-r", "-z", "--raw", "--no-renames", old, new])
            .arg("--")
            .deadline(SLOW)
            .run()?;
        let mut fields = fields(&listing);
        let mut changes = Vec::new();
        // `:MODE MODE ID ID LETTER NUL path NUL`
        while let (Some(header), Some(path)) = (fields.next(), fields.next()) {
            let words: Vec<&[u8]> = header.split(|byte| *byte == b' ').collect();
            let old_mode = words.first().map_or(&b""[..], |word| &word[1..]);
            let new_mode = words.get(1).copied().unwrap_or_default();
            let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
            let old_id = words.get(2).copied().unwrap_or_default();
            changes.push(Change {
                path: bytes_to_path(path),
                old: (
                    u32::from_str_radix(&text(old_mode), 8).unwrap_or(0),
                    text(old_id),
                ),
                added: words.last() == Some(&&b"A"[..]),
                deleted: words.last() == Some(&&b"D"[..]),
                submodule: old_mode == SUBMODULE || new_mode == SUBMODULE,
            });
        }
        Ok(changes)
    }
}
