//! Writes an index file: entries with stages and flags, without stat data. Git reads the files once, or
//! finds what [`crate::vault::restat`] writes into it.

use super::listing::StagedEntry;
use crate::vault::digest::checksum;
use crate::vault::tree::unhex;

/// The index with these entries, in any order; `undo` is its extension for resolved conflicts.
pub(super) fn index_file(entries: &[StagedEntry], undo: Option<&[u8]>, id_bytes: usize) -> Vec<u8> {
    let mut sorted: Vec<&StagedEntry> = entries.iter().collect();
    sorted.sort_by(|one, other| (&one.path, one.stage).cmp(&(&other.path, other.stage)));
    let extended = |entry: &StagedEntry| entry.intent_to_add || entry.skip_worktree;
    let version: u32 = if entries.iter().any(extended) { 3 } else { 2 };
    let mut out = b"DIRC".to_vec();
    out.extend_from_slice(&version.to_be_bytes());
    out.extend_from_slice(&(sorted.len() as u32).to_be_bytes());
    for entry in sorted {
        let begin = out.len();
        // Times, device and inode.
        out.extend_from_slice(&[0; 24]);
        out.extend_from_slice(&entry.mode.to_be_bytes());
        // Owner and size.
        out.extend_from_slice(&[0; 12]);
        out.extend_from_slice(&unhex(&entry.id));
        let mut flags = u16::from(entry.stage) << 12;
        flags |= u16::from(entry.assume_unchanged) << 15;
        flags |= u16::from(extended(entry)) << 14;
        flags |= u16::try_from(entry.path.len().min(0xfff)).unwrap_or(0xfff);
        out.extend_from_slice(&flags.to_be_bytes());
        if extended(entry) {
            let more = u16::from(entry.skip_worktree) << 14 | u16::from(entry.intent_to_add) << 13;
            out.extend_from_slice(&more.to_be_bytes());
        }
        out.extend_from_slice(&entry.path);
        // One NUL at least, up to a multiple of eight.
        let length = out.len() - begin;
        out.resize(begin + length + (8 - length % 8), 0);
    }
    if let Some(undo) = undo.filter(|undo| !undo.is_empty()) {
        out.extend_from_slice(b"REUC");
        out.extend_from_slice(&(undo.len() as u32).to_be_bytes());
        out.extend_from_slice(undo);
    }
    let sum = checksum(&out, id_bytes);
    out.extend_from_slice(&sum);
    out
}
