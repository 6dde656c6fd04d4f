//! Reads the content of many blobs, a bounded amount at a time.

use super::{GitError, Repo};

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
    repo: &Repo,
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
        let answers = repo
            .git()
            // The bytes themselves, whatever the user has put in their place.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .args(["cat-file", "--batch", "--buffer"])
            .stdin(questions)
            .deadline(super::call::SLOW)
            .run()?;
        let mut rest = answers.as_slice();
        for number in from..to {
            let (blob, after) = one(rest).ok_or_else(|| GitError::Unexpected {
                call: "git cat-file --batch".to_owned(),
                answer: String::from_utf8_lossy(&rest[..rest.len().min(100)]).into_owned(),
            })?;
            take(number, blob)?;
            rest = after;
        }
        from = to;
    }
    Ok(())
}

/// `<id> blob <size>\n<content>\n`, or `<id> missing\n`.
fn one(answers: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = answers.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&answers[..end]).ok()?;
    let rest = &answers[end + 1..];
    let mut words = line.split(' ').skip(1);
    let kind = words.next()?;
    if kind == "missing" {
        return Some((None, rest));
    }
    let size: usize = words.next()?.parse().ok()?;
    let content = rest.get(..size)?;
    Some(((kind == "blob").then_some(content), rest.get(size + 1..)?))
}
