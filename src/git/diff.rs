//! What a checkout has changed against its base: committed or not, untracked files included. The
//! user's index is neither written nor locked.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::call::{SLOW, bytes_to_path, fetching, fields};
use super::disk::open_file;
use super::untracked::untracked;
use super::{Checkout, GitError, Repo, ScratchDir};
use crate::model::DiffStat;
use crate::process::Command;

/// Git looks at this many bytes to tell text from binary.
const PROBE: usize = 8000;

/// How a difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffOutput {
    Patch,
    /// One line for each file, and a summary.
    Stat,
}

/// A moved file counts as one, in the counts as in the patch, whatever the user's configuration says.
pub(crate) const RENAMES: &str = "--find-renames";

/// Counts files and lines that differ between the base and what is on disk.
pub(crate) fn diff_stat(
    repo: &Repo,
    worktree: &Path,
    base: Option<&str>,
) -> Result<DiffStat, GitError> {
    let checkout = Checkout::live(repo, worktree)?;
    Ok(counted_live(repo, &checkout, base)?.0)
}

/// As [`diff_stat`], and whether anything in the worktree is in no commit.
pub(crate) fn diff_stat_and_dirt(
    repo: &Repo,
    worktree: &Path,
    base: Option<&str>,
) -> Result<(DiffStat, bool), GitError> {
    let checkout = Checkout::live(repo, worktree)?;
    let (stat, untracked) = counted_live(repo, &checkout, base)?;
    if untracked {
        return Ok((stat, true));
    }
    let changed = checkout
        .git()
        .args(["status", "--porcelain=v1", "-z", "--no-renames"])
        .args(["--untracked-files=no", "--ignore-submodules=dirty"])
        .deadline(SLOW)
        .run()?;
    Ok((stat, !changed.is_empty()))
}

/// The counts, and whether there are untracked files.
fn counted_live(
    repo: &Repo,
    checkout: &Checkout,
    base: Option<&str>,
) -> Result<(DiffStat, bool), GitError> {
    let base = base.unwrap_or_else(|| repo.empty_tree());
    let numstat = || {
        quiet(checkout.git().arg("diff"))
            .args(["--numstat", "-z", RENAMES, base, "--"])
            .deadline(SLOW)
    };
    let listing = numstat().run()?;
    let mut stat = counted(&listing);
    let (files, nested) = untracked(checkout)?;
    let any = !files.is_empty() || !nested.is_empty();
    stat.files += nested.len() as u64;
    // An untracked file may be a tracked one that was moved: then the two count as one, as in the patch.
    if !files.is_empty() && has_possible_deletion(&listing) {
        let index = PrivateIndex::with(repo, checkout, files)?;
        let mut stat = counted(&numstat().env("GIT_INDEX_FILE", &index.path).run()?);
        stat.files += nested.len() as u64;
        return Ok((stat, any));
    }
    for path in files {
        stat.files += 1;
        stat.added += lines(&checkout.dir.join(bytes_to_path(&path)));
    }
    Ok((stat, any))
}

/// The difference between the base and what is on disk, as git prints it.
pub(crate) fn diff_text(
    repo: &Repo,
    worktree: &Path,
    base: Option<&str>,
    output: DiffOutput,
    color: bool,
) -> Result<Vec<u8>, GitError> {
    let checkout = Checkout::live(repo, worktree)?;
    let (files, _) = untracked(&checkout)?;
    let index = PrivateIndex::with(repo, &checkout, files)?;
    let base = base.unwrap_or_else(|| repo.empty_tree());
    Ok(shown(fetching(checkout.git()).arg("diff"), output, color)
        .args([base, "--"])
        .env("GIT_INDEX_FILE", &index.path)
        .deadline(SLOW)
        .run()?)
}

/// A copy of the index that knows the untracked files, so that git shows them as new.
struct PrivateIndex {
    path: PathBuf,
    _scratch: ScratchDir,
}

impl PrivateIndex {
    fn with(repo: &Repo, checkout: &Checkout, files: Vec<Vec<u8>>) -> Result<Self, GitError> {
        let scratch = ScratchDir::new(repo, "diff-")?;
        let path = scratch.path().join("index");
        match std::fs::copy(checkout.index_path(), &path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(GitError::writing(&path)(error)),
        }
        if !files.is_empty() {
            let mut entries = Vec::new();
            for path in files {
                entries.extend_from_slice(format!("100644 {} 0\t", repo.empty_blob()).as_bytes());
                entries.extend_from_slice(&path);
                entries.push(0);
            }
            checkout
                .git()
                .args(["update-index", "-z", "--add", "--index-info"])
                .env("GIT_INDEX_FILE", &path)
                .stdin(entries)
                .run()?;
        }
        Ok(Self {
            path,
            _scratch: scratch,
        })
    }
}

/// Runs none of the user's programs, whatever the configuration says.
pub(crate) fn quiet(command: Command) -> Command {
    command.args([
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
    ])
}

pub(crate) fn shown(command: Command, output: DiffOutput, color: bool) -> Command {
    quiet(command)
        .arg(if color {
            "--color=always"
        } else {
            "--color=never"
        })
        .arg(match output {
            DiffOutput::Patch => "--patch",
            DiffOutput::Stat => "--stat",
        })
        .arg(RENAMES)
        .args(["--src-prefix=a/", "--dst-prefix=b/"])
}

/// Whether a file of a listing has only lost lines, as a deleted one has.
fn has_possible_deletion(listing: &[u8]) -> bool {
    fields(listing).any(|record| record.starts_with(b"0\t") || record.starts_with(b"-\t"))
}

/// `added TAB removed TAB path NUL`; binary files have dashes. A renamed file has no path there: its two
/// names are the next two fields.
pub(crate) fn counted(listing: &[u8]) -> DiffStat {
    let mut stat = DiffStat::default();
    let mut records = fields(listing);
    while let Some(record) = records.next() {
        let path = record.splitn(3, |byte| *byte == b'\t').nth(2);
        if path.is_some_and(<[u8]>::is_empty) {
            records.next();
            records.next();
        }
        let mut words = record.splitn(3, |byte| *byte == b'\t');
        let mut number = || {
            words
                .next()
                .and_then(|word| std::str::from_utf8(word).ok()?.parse::<u64>().ok())
                .unwrap_or(0)
        };
        stat.files += 1;
        stat.added += number();
        stat.removed += number();
    }
    stat
}

/// As many lines as git would count in a new file; none in a binary one.
fn lines(path: &Path) -> u64 {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return 0;
    };
    if found.is_symlink() {
        return 1;
    }
    let Some(mut file) = open_file(path).filter(|_| found.is_file()) else {
        return 0;
    };
    let mut buffer = vec![0; 1 << 16];
    let (mut count, mut seen, mut last) = (0, 0, b'\n');
    while let Ok(length @ 1..) = file.read(&mut buffer) {
        let chunk = &buffer[..length];
        if seen < PROBE && chunk[..length.min(PROBE - seen)].contains(&0) {
            return 0;
        }
        seen += length;
        count += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        last = chunk[length - 1];
    }
    count + u64::from(last != b'\n')
}
