//! What is on disk in a checkout compared with its index and HEAD: found by looking at names and
//! stat data alone, without a lock, and ignoring the flags that make git skip files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::io::Errno;

use super::digest::FastHash;
use super::stamp::{Stamp, Time, join, look_at_all};
use crate::git::call::{SLOW, fields};
use crate::git::index::{CachedStat, Entry, GITLINK, Index};
use crate::git::{Checkout, GitError, Repo, untracked};

/// A path with what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub path: Vec<u8>,
    pub stamp: Stamp,
}

impl Found {
    /// The mode that git would record for it.
    pub(super) fn tree_mode(&self) -> u32 {
        self.stamp.tree_mode()
    }
}

/// One difference between HEAD and the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Staged {
    pub path: Vec<u8>,
    /// None where the index drops the path.
    pub content: Option<(u32, String)>,
}

#[derive(Debug)]
pub(super) struct Survey {
    pub head: Option<String>,
    pub branch: Option<String>,
    pub index: Index,
    pub staged: Vec<Staged>,
    /// In the index, and possibly not the same on disk.
    pub changed: Vec<Found>,
    /// In the index and not on disk (or something there that git cannot hold).
    pub gone: Vec<Vec<u8>>,
    pub untracked: Vec<Found>,
    /// Other repositories inside this one; their inside is not looked at.
    pub nested: Vec<Vec<u8>>,
    /// A digest of all stamps seen.
    pub evidence: String,
    /// When it was begun, and the last change of any file or directory that was seen.
    begun: SystemTime,
    newest: Time,
}

/// Two changes of a file within one tick of its filesystem's clock look like one.
const TICK: Duration = Duration::from_secs(2);

/// The tick of a filesystem that counts nanoseconds: the kernel's timer, 100 Hz at the least, twice.
const FINE_TICK: Duration = Duration::from_millis(20);

/// The digest of a survey that saw changes: no look at the same places matches it.
const NO_EVIDENCE: &str = "incomplete";

/// Whether something that was seen may have changed after the survey began. Names are listed and
/// directories looked at side by side: a file that came in between is in the directory's stamp and
/// not in the list.
fn changed_meanwhile(begun: SystemTime, newest: Time) -> bool {
    let tick = if newest.1 == 0 { TICK } else { FINE_TICK };
    !is_before(newest, begun, tick)
}

fn is_before(time: Time, begun: SystemTime, tick: Duration) -> bool {
    let begun = begun.duration_since(UNIX_EPOCH).unwrap_or_default();
    let limit = begun.saturating_sub(tick);
    time < (limit.as_secs().cast_signed(), limit.subsec_nanos())
}

impl Survey {
    /// Whether every later change of what was seen shows in its stamp.
    pub(super) fn is_settled(&self) -> bool {
        is_before(self.newest, self.begun, TICK)
    }

    /// Asks git for what a survey of [`Depth::Files`] has left out.
    pub(super) fn complete(&mut self, checkout: &Checkout) -> Result<(), GitError> {
        let (head, branch, staged) = staged(checkout)?;
        self.head = head;
        self.branch = branch;
        self.staged = staged.unwrap_or_else(|| everything(&self.index));
        Ok(())
    }

    /// What it takes to know this checkout again.
    pub(super) fn seen(&self) -> Seen {
        let untracked = self.untracked.iter().map(|found| found.path.clone());
        Seen {
            tracked: in_worktree(&self.index)
                .map(|entry| entry.path.clone())
                .collect(),
            untracked: untracked.collect(),
            evidence: self.evidence.clone(),
        }
    }

    /// Leaves out files that change while they are read; the digest then matches nothing.
    pub(super) fn leave_out(&mut self, paths: &[PathBuf]) {
        let stays = |found: &Found| !paths.contains(&crate::git::call::bytes_to_path(&found.path));
        self.changed.retain(stays);
        self.untracked.retain(stays);
        NO_EVIDENCE.clone_into(&mut self.evidence);
    }
}

/// How much is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Files on disk only: HEAD, branch and what is staged are left out.
    Files,
    All,
}

pub(super) fn survey(repo: &Repo, checkout: &Checkout, depth: Depth) -> Result<Survey, GitError> {
    std::thread::scope(|scope| {
        let begun = SystemTime::now();
        let others = scope.spawn(|| untracked(checkout));
        let staged = scope.spawn(move || match depth {
            Depth::All => staged(checkout),
            Depth::Files => Ok((None, None, Some(Vec::new()))),
        });
        let own = own_stamps(checkout)?;
        let index = Index::read(repo, checkout)?;
        let mut changed = Vec::new();
        let mut gone = Vec::new();
        let tracked: Vec<&Entry> = in_worktree(&index).collect();
        let paths: Vec<&[u8]> = tracked.iter().map(|entry| entry.path.as_slice()).collect();
        let (stamps, mut seen) = look_at_all(&checkout.dir, &paths)?;
        for (entry, stamp) in tracked.into_iter().zip(stamps) {
            match stamp {
                Some(stamp) if stamp.is_file() || stamp.is_symlink() => {
                    if !unchanged(entry, &stamp, index.written) {
                        changed.push(Found {
                            path: entry.path.clone(),
                            stamp,
                        });
                    }
                }
                // Sparse checkouts leave files out on purpose.
                None if entry.skip_worktree => {}
                _ => gone.push(entry.path.clone()),
            }
        }
        let (others, nested) = join(others)?;
        let paths: Vec<&[u8]> = others.iter().map(Vec::as_slice).collect();
        let (stamps, others_seen) = look_at_all(&checkout.dir, &paths)?;
        seen.add(others_seen);
        // Gone since it was listed: the same as never there.
        let untracked = others
            .into_iter()
            .zip(stamps)
            .filter_map(|(path, stamp)| stamp.map(|stamp| Found { path, stamp }))
            .collect();
        let (head, branch, staged) = join(staged)?;
        let evidence = if changed_meanwhile(begun, seen.newest) {
            NO_EVIDENCE.to_owned()
        } else {
            closed(seen.digest, &own)
        };
        Ok(Survey {
            evidence,
            begun,
            newest: seen.newest,
            head,
            branch,
            staged: staged.unwrap_or_else(|| everything(&index)),
            index,
            changed,
            gone,
            untracked,
            nested,
        })
    })
}

/// A checkout as it was once seen: looking at the same places again tells whether it is as it was.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    tracked: Vec<Vec<u8>>,
    untracked: Vec<Vec<u8>>,
    evidence: String,
}

impl Seen {
    /// Rebuilt from the record of a snapshot. The index says what was tracked; if it has changed since,
    /// the digest shows it.
    pub(super) fn again(
        repo: &Repo,
        checkout: &Checkout,
        untracked: Vec<Vec<u8>>,
        evidence: &str,
    ) -> Result<Self, GitError> {
        let index = Index::read(repo, checkout)?;
        Ok(Self {
            tracked: in_worktree(&index)
                .map(|entry| entry.path.clone())
                .collect(),
            untracked,
            evidence: evidence.to_owned(),
        })
    }

    /// Whether exactly these paths were untracked.
    pub(super) fn has_untracked(&self, paths: &[Vec<u8>]) -> bool {
        self.untracked == paths
    }

    /// Whether nothing was touched since, wherever the checkout lies now.
    pub(crate) fn is_now(&self, checkout: &Checkout) -> Result<bool, GitError> {
        let own = own_stamps(checkout)?;
        let paths = |paths: &[Vec<u8>]| {
            let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
            Ok::<_, GitError>(look_at_all(&checkout.dir, &paths)?.1)
        };
        let mut seen = paths(&self.tracked)?;
        seen.add(paths(&self.untracked)?);
        Ok(closed(seen.digest, &own) == self.evidence)
    }
}

/// The stamps of git's own files. Taken before they are read: one that is replaced meanwhile must not
/// pass for the one that was read.
fn own_stamps(checkout: &Checkout) -> Result<Vec<Stamp>, GitError> {
    let mut stamps = Vec::new();
    for file in ["index", "HEAD"] {
        let path = checkout.git_dir.join(file);
        match rustix::fs::lstat(&path) {
            Ok(stat) => stamps.push(Stamp::of(&stat)),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(GitError::reading(&path)(errno.into())),
        }
    }
    Ok(stamps)
}

fn closed(mut evidence: FastHash, own: &[Stamp]) -> String {
    for stamp in own {
        stamp.add_to(&mut evidence);
    }
    evidence.text()
}

/// Each path of the index that is a file, once.
fn in_worktree(index: &Index) -> impl Iterator<Item = &Entry> {
    let mut last: Option<&[u8]> = None;
    index
        .entries
        .iter()
        .filter(|entry| entry.mode != GITLINK)
        .filter(move |entry| last.replace(&entry.path) != Some(&entry.path))
}

/// Whether git would take the file for unchanged without reading it. Errs towards "changed".
pub(super) fn unchanged(entry: &Entry, stamp: &Stamp, written: (u32, u32)) -> bool {
    let found = CachedStat {
        ctime: (stamp.ctime.0 as u32, stamp.ctime.1),
        mtime: (stamp.mtime.0 as u32, stamp.mtime.1),
        inode: stamp.inode as u32,
        uid: stamp.uid,
        gid: stamp.gid,
        size: stamp.size as u32,
    };
    entry.is_unchanged(stamp.tree_mode(), &found, written)
}

type StagedAnswer = (Option<String>, Option<String>, Option<Vec<Staged>>);

/// HEAD, its branch, and how the index differs from it; no difference is given for an unborn HEAD.
fn staged(checkout: &Checkout) -> Result<StagedAnswer, GitError> {
    let branch = checkout.head_branch()?;
    let head = checkout.head_commit()?;
    if head.is_none() {
        return Ok((head, branch, None));
    }
    let listing = checkout
        .git()
        .args([
            "diff-index",
            "--cached",
            "--raw",
            "-z",
            "--no-renames",
            "--no-abbrev",
        ])
        .args(["--ignore-submodules=none", "HEAD", "--"])
        .deadline(SLOW)
        .run()?;
    Ok((
        head,
        branch,
        Some(raw_differences(&listing).into_values().collect()),
    ))
}

/// `:old new old-id new-id X\0path\0`, unmerged paths left out.
pub(super) fn raw_differences(listing: &[u8]) -> BTreeMap<Vec<u8>, Staged> {
    let mut found = BTreeMap::new();
    let mut parts = fields(listing);
    while let (Some(what), Some(path)) = (parts.next(), parts.next()) {
        let words: Vec<&[u8]> = what.split(|byte| *byte == b' ').collect();
        let [_, mode, _, id, kind] = words[..] else {
            continue;
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let content = match kind.first() {
            Some(b'U') => continue,
            Some(b'D') => None,
            _ => u32::from_str_radix(&text(mode), 8)
                .ok()
                .map(|mode| (mode, text(id))),
        };
        found.insert(
            path.to_vec(),
            Staged {
                path: path.to_vec(),
                content,
            },
        );
    }
    found
}

/// Against nothing, all that is staged is new.
fn everything(index: &Index) -> Vec<Staged> {
    index
        .entries
        .iter()
        .filter(|entry| entry.stage == 0 && !entry.intent_to_add)
        .map(|entry| Staged {
            path: entry.path.clone(),
            content: Some((entry.mode, entry.id())),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_within_a_tick_of_the_survey_may_be_a_later_one() {
        let begun = UNIX_EPOCH + Duration::from_millis(1_000_500);
        for (newest, changed) in [
            ((1_000, 600_000_000), true),
            ((1_000, 500_000_000), true),
            ((1_000, 481_000_000), true),
            ((1_000, 479_000_000), false),
            // Whole seconds: the clock of this filesystem is coarse.
            ((1_000, 0), true),
            ((999, 0), true),
            ((998, 0), false),
        ] {
            assert_eq!(changed_meanwhile(begun, newest), changed, "{newest:?}");
        }
    }
}
