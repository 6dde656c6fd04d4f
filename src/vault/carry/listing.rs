//! The manifest of an export: every path, index entry, file of git's own and part, by its hash.
//!
//! Records end with a NUL; the first word says what it is, the path comes last. Unchanged files have no
//! record: the index has their names and hashes, and one blob (`clean`) their modes and times.

use std::collections::HashSet;

use sha2::Digest;

use super::names::{is_admin, is_own_ref, is_part};
use crate::git::index::Entry;

const HEADER: &[u8] = b"bivouac export 1";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Listing {
    /// The hash of the repository: `sha1` or `sha256`.
    pub format: String,
    /// None before the first commit.
    pub head: Option<String>,
    /// None if HEAD is detached.
    pub head_branch: Option<String>,
    /// The branch of the instance, and where it is.
    pub branch: Option<(String, Option<String>)>,
    /// None if there is no index file.
    pub index: Option<StagedTree>,
    /// Modes and times of unchanged files, in the order of the index.
    pub clean: Option<String>,
    pub work: Vec<Listed>,
    /// Files of git's record of the worktree.
    pub admin: Vec<(Vec<u8>, String)>,
    /// Refs that belong to the worktree alone.
    pub refs: Vec<(String, String)>,
    pub parts: Vec<(String, String)>,
}

/// The index: a tree, and what differs from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StagedTree {
    pub tree: String,
    pub more: Vec<StagedEntry>,
    /// In the tree, not in the index.
    pub not: Vec<Vec<u8>>,
    /// The extension from which resolved conflicts can be brought back.
    pub undo: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StagedEntry {
    pub stage: u8,
    pub mode: u32,
    pub id: String,
    pub assume_unchanged: bool,
    pub intent_to_add: bool,
    pub skip_worktree: bool,
    pub path: Vec<u8>,
}

impl StagedEntry {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            stage: entry.stage,
            mode: entry.mode,
            id: entry.id(),
            assume_unchanged: entry.assume_unchanged,
            intent_to_add: entry.intent_to_add,
            skip_worktree: entry.skip_worktree,
            path: entry.path.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    File,
    /// A file that git knows to be unchanged, although its bytes are not those of the index.
    Clean,
    Symlink,
    Directory,
    /// Another name of the file at this path.
    SameAs(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub what: What,
    /// Permissions only.
    pub mode: u32,
    pub size: u64,
    pub mtime: (i64, u32),
    /// The hash of its bytes, for a file or a symlink.
    pub id: Option<String>,
    pub path: Vec<u8>,
}

impl Listing {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Records(HEADER.to_vec());
        out.0.push(0);
        out.put(&format!("format {}", self.format), b"");
        out.put(
            &format!(
                "head {} {}",
                or_dash(self.head.as_ref()),
                or_dash(self.head_branch.as_ref())
            ),
            b"",
        );
        if let Some((name, commit)) = &self.branch {
            out.put(&format!("branch {name} {}", or_dash(commit.as_ref())), b"");
        }
        if let Some(index) = &self.index {
            out.put(
                &format!("index {} {}", index.tree, or_dash(index.undo.as_ref())),
                b"",
            );
            for entry in &index.more {
                let flags: String = [
                    (entry.assume_unchanged, 'a'),
                    (entry.intent_to_add, 'i'),
                    (entry.skip_worktree, 's'),
                ]
                .iter()
                .filter(|(set, _)| *set)
                .map(|(_, letter)| *letter)
                .collect();
                out.put(
                    &format!("e {} {:o} {} -{flags} ", entry.stage, entry.mode, entry.id),
                    &entry.path,
                );
            }
            for path in &index.not {
                out.put("x ", path);
            }
        }
        if let Some(clean) = &self.clean {
            out.put(&format!("clean {clean}"), b"");
        }
        for item in &self.work {
            let letter = match item.what {
                What::File => 'f',
                What::Clean => 'c',
                What::Symlink => 'l',
                What::Directory => 'd',
                What::SameAs(_) => 'h',
            };
            let (seconds, nanoseconds) = item.mtime;
            out.put(
                &format!(
                    "{letter} {:o} {} {seconds}.{nanoseconds} {} ",
                    item.mode,
                    item.size,
                    or_dash(item.id.as_ref())
                ),
                &item.path,
            );
            if let What::SameAs(first) = &item.what {
                out.put("", first);
            }
        }
        for (path, id) in &self.admin {
            out.put(&format!("a {id} "), path);
        }
        for (name, id) in &self.refs {
            out.put(&format!("r {id} {name}"), b"");
        }
        for (name, id) in &self.parts {
            out.put(&format!("p {id} {name}"), b"");
        }
        out.0
    }

    /// Reads one, and refuses whatever is not well formed.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut records = bytes
            .strip_suffix(b"\0")
            .ok_or("it is cut off")?
            .split(|byte| *byte == 0);
        if records.next() != Some(HEADER) {
            return Err("its format is unknown".to_owned());
        }
        let mut listing = Self::default();
        while let Some(record) = records.next() {
            listing
                .take(record, &mut records)
                .ok_or_else(|| format!("the record `{}` is malformed", record.escape_ascii()))?;
        }
        if listing.format != "sha1" && listing.format != "sha256" {
            return Err("its hash is unknown".to_owned());
        }
        Ok(listing)
    }

    fn take<'a>(&mut self, record: &[u8], rest: &mut impl Iterator<Item = &'a [u8]>) -> Option<()> {
        let mut words = Words(record);
        let length = if self.format == "sha256" { 64 } else { 40 };
        match words.next()? {
            "format" if self.format.is_empty() => words.next()?.clone_into(&mut self.format),
            // Every other record has ids, whose length depends on the hash.
            _ if self.format.is_empty() => return None,
            "head" => {
                self.head = optional_id(words.next()?, length)?;
                self.head_branch = optional_branch(words.next()?)?;
            }
            "branch" => {
                let name = optional_branch(words.next()?)??;
                self.branch = Some((name, optional_id(words.next()?, length)?));
            }
            "index" if self.index.is_none() => {
                self.index = Some(StagedTree {
                    tree: id(words.next()?, length)?,
                    undo: optional_id(words.next()?, length)?,
                    ..StagedTree::default()
                });
            }
            "e" => {
                let stage = words.next()?.parse().ok().filter(|stage| *stage <= 3)?;
                let mode = u32::from_str_radix(words.next()?, 8).ok()?;
                if !matches!(mode, 0o100_644 | 0o100_755 | 0o120_000 | 0o160_000) {
                    return None;
                }
                let id = id(words.next()?, length)?;
                let flags = words.next()?.strip_prefix('-')?;
                self.index.as_mut()?.more.push(StagedEntry {
                    stage,
                    mode,
                    id,
                    assume_unchanged: flags.contains('a'),
                    intent_to_add: flags.contains('i'),
                    skip_worktree: flags.contains('s'),
                    path: words.0.to_vec(),
                });
            }
            "x" => self.index.as_mut()?.not.push(words.0.to_vec()),
            "clean" => self.clean = Some(id(words.next()?, length)?),
            letter @ ("f" | "c" | "l" | "d" | "h") => {
                let mode = u32::from_str_radix(words.next()?, 8).ok()?;
                let size = words.next()?.parse().ok()?;
                let (seconds, nanoseconds) = words.next()?.split_once('.')?;
                let mtime = (seconds.parse().ok()?, nanoseconds.parse().ok()?);
                let id = optional_id(words.next()?, length)?;
                let path = words.0.to_vec();
                let what = match letter {
                    "f" => What::File,
                    "c" => What::Clean,
                    "l" => What::Symlink,
                    "d" => What::Directory,
                    _ => What::SameAs(rest.next()?.to_vec()),
                };
                let has_bytes = matches!(what, What::File | What::Clean | What::Symlink);
                let odd = mode & !0o1777 != 0 && what != What::Directory || mode & !0o7777 != 0;
                if has_bytes != id.is_some() || odd || mtime.1 >= 1_000_000_000 {
                    return None;
                }
                self.work.push(Listed {
                    what,
                    mode,
                    size,
                    mtime,
                    id,
                    path,
                });
            }
            "a" => {
                let id = id(words.next()?, length)?;
                let path = words.0.to_vec();
                is_admin(&path).then_some(())?;
                self.admin.push((path, id));
            }
            "r" => {
                let id = id(words.next()?, length)?;
                let name = words.next()?.to_owned();
                is_own_ref(&name).then_some(())?;
                self.refs.push((name, id));
            }
            "p" => {
                let id = id(words.next()?, length)?;
                let name = words.next()?.to_owned();
                is_part(&name).then_some(())?;
                self.parts.push((name, id));
            }
            _ => return None,
        }
        Some(())
    }

    /// The first name that occurs twice.
    pub(super) fn twice(&self) -> Option<Vec<u8>> {
        let mut seen = HashSet::new();
        let work = self.work.iter().map(|item| (0, item.path.as_slice()));
        let admin = self.admin.iter().map(|(path, _)| (1, path.as_slice()));
        let parts = self.parts.iter().map(|(name, _)| (2, name.as_bytes()));
        let refs = self.refs.iter().map(|(name, _)| (3, name.as_bytes()));
        work.chain(admin)
            .chain(parts)
            .chain(refs)
            .find(|name| !seen.insert(*name))
            .map(|(_, name)| name.to_vec())
    }
}

/// The hash by which both sides know that they mean the same.
pub(super) fn hash_of(manifest: &[u8]) -> String {
    crate::git::index::hex(&sha2::Sha256::digest(manifest))
}

struct Records(Vec<u8>);

impl Records {
    fn put(&mut self, words: &str, path: &[u8]) {
        self.0.extend_from_slice(words.as_bytes());
        self.0.extend_from_slice(path);
        self.0.push(0);
    }
}

/// Words that end with a blank; what is left is the path.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let end = self.0.iter().position(|byte| *byte == b' ');
        let (word, rest) = match end {
            Some(end) => (&self.0[..end], &self.0[end + 1..]),
            None => (self.0, &[][..]),
        };
        self.0 = rest;
        std::str::from_utf8(word)
            .ok()
            .filter(|word| !word.is_empty())
    }
}

fn or_dash(text: Option<&String>) -> &str {
    text.map_or("-", String::as_str)
}

fn id(word: &str, length: usize) -> Option<String> {
    let whole = word.len() == length
        && word
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    whole.then(|| word.to_owned())
}

fn optional_id(word: &str, length: usize) -> Option<Option<String>> {
    if word == "-" {
        return Some(None);
    }
    id(word, length).map(Some)
}

/// Git itself judges the name again when the branch is made.
fn optional_branch(word: &str) -> Option<Option<String>> {
    if word == "-" {
        return Some(None);
    }
    (!word.starts_with('-') && super::names::is_relative(word.as_bytes()))
        .then(|| Some(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Listing {
        let id = "0123456789012345678901234567890123456789".to_owned();
        Listing {
            format: "sha1".to_owned(),
            head: Some(id.clone()),
            head_branch: None,
            branch: Some(("me/work".to_owned(), Some(id.clone()))),
            index: Some(StagedTree {
                tree: id.clone(),
                more: vec![StagedEntry {
                    stage: 2,
                    mode: 0o100_644,
                    id: id.clone(),
                    assume_unchanged: false,
                    intent_to_add: true,
                    skip_worktree: false,
                    path: b"a b\n".to_vec(),
                }],
                not: vec![b"gone".to_vec()],
                undo: None,
            }),
            clean: Some(id.clone()),
            work: vec![
                Listed {
                    what: What::File,
                    mode: 0o644,
                    size: 3,
                    mtime: (-5, 7),
                    id: Some(id.clone()),
                    path: b" blank first".to_vec(),
                },
                Listed {
                    what: What::SameAs(b" blank first".to_vec()),
                    mode: 0o644,
                    size: 3,
                    mtime: (-5, 7),
                    id: None,
                    path: b"\xff".to_vec(),
                },
            ],
            admin: vec![(b"MERGE_HEAD".to_vec(), id.clone())],
            refs: vec![("refs/bisect/bad".to_owned(), id.clone())],
            parts: vec![("record.json".to_owned(), id)],
        }
    }

    #[test]
    fn a_manifest_reads_back_and_a_cut_one_does_not() {
        let listing = whole();
        let bytes = listing.to_bytes();
        assert_eq!(Listing::parse(&bytes), Ok(listing.clone()));
        for end in 0..bytes.len() {
            assert_ne!(Listing::parse(&bytes[..end]), Ok(listing.clone()));
        }
    }

    #[test]
    fn what_an_export_may_not_bring_is_refused() {
        for (from, to) in [
            ("a 0123", "a 012g"),
            ("MERGE_HEAD", "config.worktree"),
            ("refs/bisect/bad", "refs/heads/main"),
            ("record.json", "../record.json"),
            ("f 644", "f 4644"),
            ("e 2 100644", "e 2 40000"),
            ("me/work", "../work"),
            ("format sha1", "format md5"),
        ] {
            let bytes = whole().to_bytes();
            let text: Vec<u8> = bytes.clone();
            let at = text
                .windows(from.len())
                .position(|window| window == from.as_bytes())
                .unwrap();
            let mut changed = text[..at].to_vec();
            changed.extend_from_slice(to.as_bytes());
            changed.extend_from_slice(&text[at + from.len()..]);
            assert!(Listing::parse(&changed).is_err(), "{to}");
        }
    }
}
