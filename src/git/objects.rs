//! Reads objects of the vault and, through it, of the user's repository: many blobs, a bounded amount at a time, or a few by name.

use super::GitError;
use super::vault::Vault;

/// As much as one call of git may return.
const BATCH_BYTES: u64 = 32 << 20;
const BATCH_COUNT: usize = 20_000;

/// A blob that is wanted.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub id: String,
    pub size: u64,
}

/// Hands each blob to `take`, by its position in `wanted`; None for one that does not exist or is
/// not a blob.
pub(super) fn read_blobs(
    vault: &Vault,
    wanted: &[Wanted],
    mut take: impl FnMut(usize, Option<&[u8]>) -> Result<(), GitError>,
) -> Result<(), GitError> {
    let mut from = 0;
    while from < wanted.len() {
        let mut bytes = 0;
        let mut to = from;
        while to < wanted.len() && to - from < BATCH_COUNT && (to == from || bytes < BATCH_BYTES) {
            bytes += wanted[to].size;
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
            take(number, blob.map(|blob| blob.content))?;
            rest = after;
        }
        from = to;
    }
    Ok(())
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
        .deadline(super::call::SLOW)
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
