//! Reads objects of the vault and, through it, of the user's repository: many blobs, a bounded amount at a time, or a few by name.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use super::repository::Vault;
use crate::git::GitError;
use crate::git::disk::open_file;

/// As much as one call of git may return.
const BATCH_BYTES: u64 = 32 << 20;
const BATCH_COUNT: usize = 20_000;
/// A larger blob is read as a stream.
const LARGE: u64 = 8 << 20;

/// A blob that is wanted.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub id: String,
    pub size: u64,
}

/// The content of a blob, which may be larger than memory.
pub(super) enum Blob<'a> {
    Bytes(&'a [u8]),
    Large {
        vault: &'a Vault,
        id: &'a str,
        size: u64,
    },
}

/// What a file has of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    All,
    /// Its first bytes, and nothing else.
    Beginning,
    /// Something that is not in the blob.
    Other,
}

impl Blob<'_> {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Large { size, .. } => *size,
        }
    }

    /// The bytes of a small one. No link has a large one.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Large { .. } => None,
        }
    }

    pub(super) fn write_to(&self, file: &mut File) -> std::io::Result<()> {
        match self {
            Self::Bytes(bytes) => file.write_all(bytes),
            Self::Large { size, .. } => {
                let written = self.streamed(|blob| std::io::copy(blob, file))?;
                if written == *size {
                    Ok(())
                } else {
                    Err(std::io::ErrorKind::UnexpectedEof.into())
                }
            }
        }
    }

    /// Compares a file with it, without following a link.
    pub(super) fn compare(&self, path: &Path) -> std::io::Result<Share> {
        let mut file = open_file(path).ok_or(std::io::ErrorKind::NotFound)?;
        match self {
            Self::Bytes(bytes) => {
                let mut found = Vec::with_capacity(bytes.len());
                file.take(bytes.len() as u64 + 1).read_to_end(&mut found)?;
                Ok(if found == *bytes {
                    Share::All
                } else if bytes.starts_with(&found) {
                    Share::Beginning
                } else {
                    Share::Other
                })
            }
            Self::Large { .. } => self.streamed(|blob| share(&mut file, blob)),
        }
    }

    fn streamed<T: Send>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> std::io::Result<T> + Send,
    ) -> std::io::Result<T> {
        let Self::Large { vault, id, .. } = self else {
            return Err(std::io::ErrorKind::Unsupported.into());
        };
        let command = vault.git().args(["cat-file", "blob", id]);
        let read = command.deadline(crate::git::call::SLOW).streamed(read);
        read.map_err(std::io::Error::other)?.0
    }
}

/// Reads both side by side, as far as they agree.
fn share(file: &mut File, blob: &mut dyn Read) -> std::io::Result<Share> {
    let (mut mine, mut theirs) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let length = fill(file, &mut mine)?;
        let wanted = if length == 0 { 1 } else { length };
        let found = fill(blob, &mut theirs[..wanted])?;
        if length == 0 {
            return Ok(if found == 0 {
                Share::All
            } else {
                Share::Beginning
            });
        }
        if found < length || mine[..length] != theirs[..length] {
            return Ok(Share::Other);
        }
    }
}

/// Reads until the buffer is full or there is no more.
fn fill(from: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match from.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Passes each blob to `take`, with its position in `wanted`; None for one that does not exist or
/// is not a blob.
pub(super) fn read_blobs(
    vault: &Vault,
    wanted: &[Wanted],
    mut take: impl FnMut(usize, Option<Blob<'_>>) -> Result<(), GitError>,
) -> Result<(), GitError> {
    let mut from = 0;
    while from < wanted.len() {
        if let Wanted { id, size } = &wanted[from]
            && *size > LARGE
        {
            let there = sizes(vault, std::slice::from_ref(&wanted[from]))?;
            let large = |size| Blob::Large { vault, id, size };
            take(from, there.first().copied().flatten().map(large))?;
            from += 1;
            continue;
        }
        let mut bytes = 0;
        let mut to = from;
        while let Some(next) = wanted.get(to)
            && next.size <= LARGE
            && to - from < BATCH_COUNT
            && (to == from || bytes < BATCH_BYTES)
        {
            bytes += next.size;
            to += 1;
        }
        let questions: String = wanted[from..to]
            .iter()
            .map(|blob| format!("{}\n", blob.id))
            .collect();
        let answers = batch(vault, questions)?;
        let mut rest = answers.as_slice();
        for number in from..to {
            let (object, after) = one(rest)?;
            let blob = object.filter(|object| object.kind == "blob");
            take(number, blob.map(|blob| Blob::Bytes(blob.content)))?;
            rest = after;
        }
        from = to;
    }
    Ok(())
}

/// How large each of the blobs is; None for one that does not exist or is not a blob.
pub(super) fn sizes(vault: &Vault, wanted: &[Wanted]) -> Result<Vec<Option<u64>>, GitError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let questions: String = wanted.iter().map(|blob| format!("{}\n", blob.id)).collect();
    let answers = vault
        .git()
        .args([
            "cat-file",
            "--batch-check=%(objecttype) %(objectsize)",
            "--buffer",
        ])
        .stdin(questions)
        .deadline(crate::git::call::SLOW)
        .text()?;
    let size = |line: &str| line.strip_prefix("blob ")?.parse().ok();
    Ok(answers.lines().map(size).collect())
}

/// An object that was asked for by name.
#[derive(Debug)]
pub(super) struct Named {
    pub id: String,
    pub content: Vec<u8>,
}

/// Each of the names' objects, None where it names nothing. Names hold no line breaks.
pub(super) fn read_named<const N: usize>(
    vault: &Vault,
    names: [&str; N],
) -> Result<[Option<Named>; N], GitError> {
    let answers = batch(vault, names.map(|name| format!("{name}\n")).concat())?;
    let mut rest = answers.as_slice();
    let mut named = [const { None }; N];
    for slot in &mut named {
        let (object, after) = one(rest)?;
        *slot = object.map(|object| Named {
            id: object.id.to_owned(),
            content: object.content.to_vec(),
        });
        rest = after;
    }
    Ok(named)
}

fn batch(vault: &Vault, questions: String) -> Result<Vec<u8>, GitError> {
    Ok(vault
        .git()
        .args(["cat-file", "--batch", "--buffer"])
        .stdin(questions)
        .deadline(crate::git::call::SLOW)
        .run()?)
}

/// One answer.
struct Object<'a> {
    id: &'a str,
    kind: &'a str,
    content: &'a [u8],
}

/// The first answer, and what comes after it.
fn one(answers: &[u8]) -> Result<(Option<Object<'_>>, &[u8]), GitError> {
    parsed(answers).ok_or_else(|| GitError::Unexpected {
        call: "git cat-file --batch".to_owned(),
        answer: String::from_utf8_lossy(&answers[..answers.len().min(100)]).into_owned(),
    })
}

/// `<id> <kind> <size>\n<content>\n`, or `<name> missing\n`.
fn parsed(answers: &[u8]) -> Option<(Option<Object<'_>>, &[u8])> {
    let end = answers.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&answers[..end]).ok()?;
    let rest = &answers[end + 1..];
    let mut words = line.split(' ');
    let id = words.next()?;
    let kind = words.next()?;
    if kind == "missing" {
        return Some((None, rest));
    }
    let size: usize = words.next()?.parse().ok()?;
    let content = rest.get(..size)?;
    Some((Some(Object { id, kind, content }), rest.get(size + 1..)?))
}
