//! The list of what a snapshot or a thinned worktree holds beyond what a git tree can say: raw
//! bytes, modes, times, names that git refuses. It is a blob in the commit that keeps the content.
//!
//! One record for each path, fields separated by spaces, the path last, a NUL at the end:
//! `kind mode size seconds.nanoseconds inode source path`. Paths are bytes as the disk has them.

use std::collections::HashMap;
use std::path::Path;

use rustix::io::Errno;

use super::objects::Wanted;
use super::repository::Vault;
use super::stamp::Stamp;
use crate::git::GitError;
use crate::git::call::{SLOW, bytes_to_path, fields};

const HEADER: &[u8] = b"bivouac manifest 1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// In the index, differing on disk.
    Tracked,
    /// Not in the index.
    Untracked,
    /// In the index, missing on disk.
    Gone,
    /// A repository of its own, kept by the parking place.
    Nested,
    /// A file of git's own record of the worktree.
    Admin,
    /// A file of a thinned worktree.
    File,
    /// One that git knew to be unchanged without reading it.
    Clean,
    Symlink,
    Directory,
    /// Still on disk: it cannot be stored.
    Kept,
    /// Deleted without a copy, by policy.
    Dropped,
}

const LETTERS: &[(Kind, u8)] = &[
    (Kind::Tracked, b't'),
    (Kind::Untracked, b'u'),
    (Kind::Gone, b'g'),
    (Kind::Nested, b'n'),
    (Kind::Admin, b'a'),
    (Kind::File, b'f'),
    (Kind::Clean, b'c'),
    (Kind::Symlink, b'l'),
    (Kind::Directory, b'd'),
    (Kind::Kept, b'k'),
    (Kind::Dropped, b'x'),
];

/// Where the bytes of an entry are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    Nowhere,
    /// The blob of that number in the same commit.
    Raw(usize),
    /// An object that the repository has anyway.
    Object(String),
    /// A hard link to the file of an earlier entry.
    SameAs(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub kind: Kind,
    pub mode: u32,
    pub size: u64,
    pub mtime: (i64, u32),
    pub inode: u64,
    pub source: Source,
    pub path: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Manifest {
    pub items: Vec<Item>,
}

impl Manifest {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        bytes.push(0);
        for item in &self.items {
            let letter = LETTERS
                .iter()
                .find(|(kind, _)| *kind == item.kind)
                .map_or(b'?', |(_, letter)| *letter);
            let source = match &item.source {
                Source::Nowhere => "-".to_owned(),
                Source::Raw(number) => format!("#{number}"),
                Source::Object(id) => format!("={id}"),
                Source::SameAs(number) => format!("@{number}"),
            };
            bytes.push(letter);
            bytes.extend_from_slice(
                format!(
                    " {:o} {} {}.{} {} {source} ",
                    item.mode, item.size, item.mtime.0, item.mtime.1, item.inode
                )
                .as_bytes(),
            );
            bytes.extend_from_slice(&item.path);
            bytes.push(0);
        }
        bytes
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut records = bytes
            .strip_suffix(b"\0")
            .ok_or("it is cut off")?
            .split(|byte| *byte == 0);
        if records.next() != Some(HEADER) {
            return Err("its format is unknown".to_owned());
        }
        let items = records
            .map(|record| item(record).ok_or_else(|| "a record is malformed".to_owned()))
            .collect::<Result<_, _>>()?;
        Ok(Self { items })
    }

    /// Reads the manifest that a commit of ours holds.
    pub(super) fn load(vault: &Vault, commit: &str) -> Result<Self, GitError> {
        let name = format!("{commit}:manifest");
        let output = vault.git().args(["cat-file", "blob"]).arg(&name).output()?;
        if !output.success() {
            return Err(GitError::SnapshotMissing {
                reference: commit.to_owned(),
            });
        }
        Self::parse(&output.stdout).map_err(|problem| GitError::Manifest {
            reference: commit.to_owned(),
            problem,
        })
    }

    /// The blob behind each item that has one, in the commit that holds this manifest.
    pub(super) fn sources(
        &self,
        vault: &Vault,
        commit: &str,
    ) -> Result<Vec<Option<Wanted>>, GitError> {
        let listing = vault
            .git()
            .args(["ls-tree", "-r", "-z", "--full-tree", commit])
            .deadline(SLOW)
            .run()?;
        let mut raw: HashMap<usize, String> = HashMap::new();
        for line in fields(&listing) {
            // `100644 blob <id>\t<path>`
            let mut halves = line.splitn(2, |byte| *byte == b'\t');
            let id = halves
                .next()
                .and_then(|half| half.rsplit(|byte| *byte == b' ').next());
            if let (Some(id), Some(number)) = (id, halves.next().and_then(raw_number)) {
                raw.insert(number, String::from_utf8_lossy(id).into_owned());
            }
        }
        self.items
            .iter()
            .map(|item| {
                let id = match &item.source {
                    Source::Nowhere | Source::SameAs(_) => return Ok(None),
                    Source::Object(id) => id.clone(),
                    Source::Raw(number) => {
                        raw.get(number).cloned().ok_or_else(|| GitError::Manifest {
                            reference: commit.to_owned(),
                            problem: format!("blob {number} is missing"),
                        })?
                    }
                };
                Ok(Some(Wanted {
                    id,
                    size: item.size,
                }))
            })
            .collect()
    }

    pub(super) fn paths(&self, kind: Kind) -> Vec<Vec<u8>> {
        self.items
            .iter()
            .filter(|item| item.kind == kind)
            .map(|item| item.path.clone())
            .collect()
    }
}

/// The directory that an item lies in.
pub(super) fn above(item: &Item) -> &[u8] {
    let cut = item.path.iter().rposition(|byte| *byte == b'/');
    &item.path[..cut.unwrap_or(0)]
}

pub(super) fn stamp_of(dir: &Path, item: &Item) -> Result<Option<Stamp>, GitError> {
    let path = dir.join(bytes_to_path(&item.path));
    match rustix::fs::lstat(&path) {
        Ok(stat) => Ok(Some(Stamp::of(&stat))),
        // The last: below a link that leads to itself there is nothing.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(errno) => Err(GitError::reading(&path)(errno.into())),
    }
}

fn item(record: &[u8]) -> Option<Item> {
    let mut words = record.splitn(7, |byte| *byte == b' ');
    let mut word = || words.next().and_then(|word| std::str::from_utf8(word).ok());
    let letter = *word()?.as_bytes().first()?;
    let mode = u32::from_str_radix(word()?, 8).ok()?;
    let size = word()?.parse().ok()?;
    let (seconds, nanoseconds) = word()?.split_once('.')?;
    let mtime = (seconds.parse().ok()?, nanoseconds.parse().ok()?);
    let inode = word()?.parse().ok()?;
    let source = word()?;
    let (sign, rest) = source.split_at_checked(1)?;
    let source = match sign {
        "-" => Source::Nowhere,
        "#" => Source::Raw(rest.parse().ok()?),
        "=" => Source::Object(rest.to_owned()),
        "@" => Source::SameAs(rest.parse().ok()?),
        _ => return None,
    };
    Some(Item {
        kind: LETTERS.iter().find(|(_, other)| *other == letter)?.0,
        mode,
        size,
        mtime,
        inode,
        source,
        path: words.next()?.to_vec(),
    })
}

/// Where the blob of a number lies in its commit: at most 256 to a directory, because git's
/// importer searches directories from end to end.
pub(super) fn raw_path(number: usize) -> Vec<u8> {
    format!("raw/{:x}/{:02x}", number >> 8, number & 255).into_bytes()
}

pub(super) fn raw_number(path: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(path).ok()?.strip_prefix("raw/")?;
    let (high, low) = text.split_once('/')?;
    Some(usize::from_str_radix(high, 16).ok()? << 8 | usize::from_str_radix(low, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blobs_are_found_where_they_were_put() {
        for number in [0, 1, 255, 256, 70_000] {
            assert_eq!(raw_number(&raw_path(number)), Some(number));
        }
    }

    proptest! {
        #[test]
        fn any_path_reads_back(
            path in proptest::collection::vec(1_u8.., 1..40),
            mode in 0_u32..0o200_000,
            seconds in any::<i64>(),
            number in any::<usize>(),
        ) {
            let manifest = Manifest {
                items: vec![
                    Item {
                        kind: Kind::Untracked,
                        mode,
                        size: 5,
                        mtime: (seconds, 7),
                        inode: 9,
                        source: Source::Raw(number),
                        path,
                    };
                    2
                ],
            };
            prop_assert_eq!(Manifest::parse(&manifest.to_bytes()), Ok(manifest));
        }

        #[test]
        fn a_cut_manifest_is_never_taken_for_whole(cut in 0_usize..60) {
            let manifest = Manifest {
                items: vec![Item {
                    kind: Kind::File,
                    mode: 0o644,
                    size: 5,
                    mtime: (1, 2),
                    inode: 9,
                    source: Source::Nowhere,
                    path: b"some path".to_vec(),
                }],
            };
            let bytes = manifest.to_bytes();
            if cut < bytes.len() {
                let cut = Manifest::parse(&bytes[..cut]);
                prop_assert!(cut.is_err() || cut == Ok(Manifest::default()));
            }
        }
    }
}
