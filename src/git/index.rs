//! Reads git's index file: every entry with its stage, flags and the stat data git remembers.
//!
//! Read here and not through git for two reasons: `assume-unchanged`, `skip-worktree` and
//! `intent-to-add` blind git's own commands to what is on disk, and one pass over the file is many
//! times faster than any listing. A split or sparse index is first written out in full by git, into
//! a private copy. Versions 2 to 4, SHA-1 and SHA-256.

use std::path::Path;

use super::{Checkout, GitError, Repo, ScratchDir};

/// Bits of the extended flags (version 3 and later).
const SKIP_WORKTREE: u16 = 1 << 14;
const INTENT_TO_ADD: u16 = 1 << 13;

pub(crate) const GITLINK: u32 = 0o160_000;
pub(crate) const SYMLINK: u32 = 0o120_000;
const SPARSE_DIRECTORY: u32 = 0o040_000;

/// What git remembers of a file to know it unchanged without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CachedStat {
    pub ctime: (u32, u32),
    pub mtime: (u32, u32),
    pub inode: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub path: Vec<u8>,
    pub mode: u32,
    id: [u8; 32],
    id_length: u8,
    pub stage: u8,
    pub assume_unchanged: bool,
    pub intent_to_add: bool,
    pub skip_worktree: bool,
    pub stat: CachedStat,
    /// Where the entry begins in the file, for writing fresh stat data into it.
    pub offset: usize,
}

impl Entry {
    pub(crate) fn id(&self) -> String {
        hex(&self.id[..usize::from(self.id_length)])
    }

    /// Whether git would take a file for unchanged without reading it: `mode` is the one that git would record
    /// for it, `written` the time of the index. Errs towards "changed".
    pub(crate) fn is_unchanged(&self, mode: u32, found: &CachedStat, written: (u32, u32)) -> bool {
        let cached = &self.stat;
        let same_time = |cached: (u32, u32), found: (u32, u32)| {
            cached.0 == found.0 && (cached.1 == 0 || cached.1 == found.1)
        };
        self.stage == 0
            && !self.intent_to_add
            && *cached != CachedStat::default()
            && self.mode == mode
            && same_time(cached.mtime, found.mtime)
            && same_time(cached.ctime, found.ctime)
            && cached.inode == found.inode
            && cached.uid == found.uid
            && cached.gid == found.gid
            && cached.size == found.size
            // As young as the index itself: it may have been written to after git looked.
            && cached.mtime < written
    }
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    pub entries: Vec<Entry>,
    /// Blobs that a resolved conflict can still be brought back from.
    pub resolve_undo: Vec<String>,
    /// The extension that they are in, as it is.
    pub undo_extension: Vec<u8>,
    /// When the file was written: an entry as young as this may have changed unnoticed.
    pub written: (u32, u32),
}

impl Index {
    /// The index of a checkout; empty where there is none yet.
    pub(crate) fn read(repo: &Repo, checkout: &Checkout) -> Result<Self, GitError> {
        let path = checkout.index_path();
        let mut bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(GitError::reading(&path)(error)),
        };
        let hash = repo.id_length() / 2;
        let written = modified(&path)?;
        let bad = |problem: String| GitError::Index {
            path: path.clone(),
            problem,
        };
        let mut index = Parser::new(&bytes, hash).parse().map_err(bad)?;
        if index.needs_git {
            bytes = expanded(repo, checkout)?;
            index = Parser::new(&bytes, hash).parse().map_err(bad)?;
        }
        Ok(Self {
            entries: index.entries,
            resolve_undo: index.resolve_undo,
            undo_extension: index.undo_extension,
            written,
        })
    }

    /// As [`Self::read`], but None where the file on disk is only a part of the index: entries then
    /// lie where their offsets say.
    pub(crate) fn read_plain(repo: &Repo, checkout: &Checkout) -> Result<Option<Self>, GitError> {
        Self::read_plain_of(repo, checkout, |_| true)
    }

    /// The same with no entries but those of the wanted paths.
    pub(crate) fn read_plain_of(
        repo: &Repo,
        checkout: &Checkout,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Self>, GitError> {
        let path = checkout.index_path();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(GitError::reading(&path)(error)),
        };
        let parsed = Parser::new(&bytes, repo.id_length() / 2)
            .parse_of(wanted)
            .map_err(|problem| GitError::Index {
                path: path.clone(),
                problem,
            })?;
        Ok((!parsed.needs_git).then_some(Self {
            entries: parsed.entries,
            resolve_undo: parsed.resolve_undo,
            undo_extension: parsed.undo_extension,
            written: modified(&path)?,
        }))
    }

    /// The entry of a path that has no conflict.
    pub(crate) fn find(&self, path: &[u8]) -> Option<&Entry> {
        self.entries
            .binary_search_by(|entry| entry.path.as_slice().cmp(path).then(entry.stage.cmp(&0)))
            .ok()
            .map(|found| &self.entries[found])
    }
}

fn modified(path: &Path) -> Result<(u32, u32), GitError> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).map_err(GitError::reading(path))?;
    Ok((found.mtime() as u32, found.mtime_nsec() as u32))
}

/// The same index with neither a shared part nor collapsed directories, from a private copy.
fn expanded(repo: &Repo, checkout: &Checkout) -> Result<Vec<u8>, GitError> {
    let scratch = ScratchDir::new(repo, "index-")?;
    let copy = scratch.path().join("index");
    std::fs::copy(checkout.index_path(), &copy).map_err(GitError::writing(&copy))?;
    checkout
        .git()
        .args(["-c", "index.sparse=false", "-c", "core.splitIndex=false"])
        .args(["update-index", "--no-split-index", "--force-write-index"])
        .env("GIT_INDEX_FILE", &copy)
        .run()?;
    std::fs::read(&copy).map_err(GitError::reading(&copy))
}

/// What one pass over the file found.
struct Parsed {
    entries: Vec<Entry>,
    resolve_undo: Vec<String>,
    undo_extension: Vec<u8>,
    /// A part of it lies in another file, or whole directories are one entry.
    needs_git: bool,
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    hash: usize,
}

impl<'a> Parser<'a> {
    fn new(bytes: &'a [u8], hash: usize) -> Self {
        Self { bytes, at: 0, hash }
    }

    fn parse(self) -> Result<Parsed, String> {
        self.parse_of(|_| true)
    }

    /// Everything but the entries of paths that are not wanted.
    fn parse_of(mut self, wanted: impl Fn(&[u8]) -> bool) -> Result<Parsed, String> {
        if self.take(4)? != b"DIRC" {
            return Err("no index signature".to_owned());
        }
        let version = self.number()?;
        if !(2..=4).contains(&version) {
            return Err(format!("version {version} is unknown"));
        }
        let count = self.number()?;
        let mut entries = Vec::new();
        let mut needs_git = false;
        let mut path = Vec::new();
        for _ in 0..count {
            let entry = self.entry(version, &mut path)?;
            needs_git |= entry.mode == SPARSE_DIRECTORY;
            if wanted(&path) {
                let path = path.clone();
                entries.push(Entry { path, ..entry });
            }
        }
        let mut resolve_undo = Vec::new();
        let mut undo_extension = Vec::new();
        while self.at + self.hash + 8 <= self.bytes.len() {
            let name = self.take(4)?;
            let length = self.number()? as usize;
            let content = self.take(length)?;
            match name {
                b"link" => needs_git = true,
                b"REUC" => {
                    resolve_undo = undo_ids(content, self.hash)?;
                    undo_extension = content.to_vec();
                }
                _ => {}
            }
        }
        Ok(Parsed {
            entries,
            resolve_undo,
            undo_extension,
            needs_git,
        })
    }

    /// The next entry without its path, which takes the place of the one before: a part of that may be the
    /// beginning of this one.
    fn entry(&mut self, version: u32, path: &mut Vec<u8>) -> Result<Entry, String> {
        let offset = self.at;
        let ctime = (self.number()?, self.number()?);
        let mtime = (self.number()?, self.number()?);
        let _device = self.number()?;
        let inode = self.number()?;
        let mode = self.number()?;
        let (uid, gid, size) = (self.number()?, self.number()?, self.number()?);
        let mut id = [0; 32];
        id.get_mut(..self.hash)
            .ok_or("its ids are too long")?
            .copy_from_slice(self.take(self.hash)?);
        let flags = self.short()?;
        let extended = if flags & (1 << 14) != 0 {
            self.short()?
        } else {
            0
        };
        if version == 4 {
            let stripped = self.varint()?;
            let kept = path.len().checked_sub(stripped);
            path.truncate(kept.ok_or("a path reaches too far back")?);
            path.extend_from_slice(self.until_nul()?);
        } else {
            path.clear();
            path.extend_from_slice(self.until_nul()?);
            // Padded with NULs to a multiple of eight; one has been taken already.
            let length = self.at - offset;
            self.take((8 - length % 8) % 8)?;
        }
        Ok(Entry {
            path: Vec::new(),
            mode,
            id,
            id_length: self.hash as u8,
            stage: ((flags >> 12) & 3) as u8,
            assume_unchanged: flags & (1 << 15) != 0,
            intent_to_add: extended & INTENT_TO_ADD != 0,
            skip_worktree: extended & SKIP_WORKTREE != 0,
            stat: CachedStat {
                ctime,
                mtime,
                inode,
                uid,
                gid,
                size,
            },
            offset,
        })
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(length).ok_or("it is cut off")?;
        let taken = self.bytes.get(self.at..end).ok_or("it is cut off")?;
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn short(&mut self) -> Result<u16, String> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn until_nul(&mut self) -> Result<&'a [u8], String> {
        let rest = self.bytes.get(self.at..).ok_or("it is cut off")?;
        let length = rest
            .iter()
            .position(|byte| *byte == 0)
            .ok_or("a path has no end")?;
        self.at += length + 1;
        Ok(&rest[..length])
    }

    /// Git's offset encoding: seven bits a byte, each further byte adding one.
    fn varint(&mut self) -> Result<usize, String> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value = value
                .checked_add(1)
                .and_then(|value| value.checked_mul(128))
                .ok_or("a length is too large")?
                + usize::from(byte & 0x7f);
        }
        Ok(value)
    }
}

/// The blobs of the resolve-undo extension: path, three octal modes, then an id for each mode.
fn undo_ids(content: &[u8], hash: usize) -> Result<Vec<String>, String> {
    let mut parser = Parser::new(content, hash);
    let mut ids = Vec::new();
    while parser.at < content.len() {
        parser.until_nul()?;
        let mut present = 0;
        for _ in 0..3 {
            if parser.until_nul()? != b"0" {
                present += 1;
            }
        }
        for _ in 0..present {
            ids.push(hex(parser.take(hash)?));
        }
    }
    Ok(ids)
}

/// Whether two index files say the same, apart from what git remembers of the files on disk.
pub(crate) fn same_entries(one: &[u8], other: &[u8], repo: &Repo) -> bool {
    if one == other {
        return true;
    }
    let parse = |bytes| Parser::new(bytes, repo.id_length() / 2).parse();
    let (Ok(mut one), Ok(mut other)) = (parse(one), parse(other)) else {
        return false;
    };
    for entry in one.entries.iter_mut().chain(&mut other.entries) {
        entry.stat = CachedStat::default();
        entry.offset = 0;
    }
    !one.needs_git
        && !other.needs_git
        && one.entries == other.entries
        && one.resolve_undo == other.resolve_undo
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| {
            [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]
        })
        .map(char::from)
        .collect()
}
