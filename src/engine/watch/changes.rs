//! How much an instance has changed, counted only when something may have.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::base::now;
use crate::git::{self, Repo};
use crate::model::{DiffStat, InstanceRecord};
use crate::store::{InstanceDir, replace_file};
use crate::tmux::Pane;
use crate::vault::{self, SnapshotFact};

/// Files that belong to an agent's last output may be written a moment after it.
const SETTLE_TIME: i64 = 2;

/// The way of counting. A count that was made in another way is made again.
const COUNTING: u32 = 1;

/// A count, and the evidence at the time when it was made.
#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    evidence: Evidence,
    stat: DiffStat,
    /// None where an older version has counted.
    #[serde(default)]
    dirty: Option<bool>,
    #[serde(default)]
    counting: u32,
}

/// Cheap signs that something may have changed: new output of the agent, or a new time of git's
/// index or of the top of the worktree.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Evidence {
    active_at: i64,
    index: (i64, i64),
    top: (i64, i64),
}

/// What a saved worktree is counted by: its snapshot never changes.
#[derive(Debug, Serialize, Deserialize)]
struct CountedSnapshot {
    commit: String,
    stat: DiffStat,
    #[serde(default)]
    counting: u32,
    /// None where an older version has counted.
    #[serde(default)]
    dirty: Option<bool>,
}

/// The difference of a saved worktree against its base, and whether it has uncommitted work; counted once.
pub(in crate::engine) fn count_saved(
    dir: &InstanceDir,
    record: &InstanceRecord,
    snapshot: &SnapshotFact,
) -> Option<(DiffStat, bool)> {
    let path = dir.path.join("diff-saved.json");
    let known = std::fs::read(&path)
        .ok()
        .and_then(|text| serde_json::from_slice::<CountedSnapshot>(&text).ok());
    if let Some(known) =
        known.filter(|known| known.counting == COUNTING && known.commit == snapshot.commit)
        && let Some(dirty) = known.dirty
    {
        return Some((known.stat, dirty));
    }
    let repository = Repo::recorded(&record.repository.root).ok()?;
    let base = record.base.commit.as_deref();
    let stat = vault::snapshot_diff_stat(&repository, snapshot, base).ok()?;
    let dirty = vault::snapshot_is_dirty(&repository, snapshot).ok()?;
    let counted = CountedSnapshot {
        commit: snapshot.commit.clone(),
        stat,
        counting: COUNTING,
        dirty: Some(dirty),
    };
    if let Ok(text) = serde_json::to_vec(&counted) {
        // Only a cache: if it cannot be written, the next look counts again.
        drop(replace_file(&path, &text));
    }
    Some((stat, dirty))
}

/// What the files tell of the changes of a live worktree: all but when its agent wrote last.
#[derive(Debug)]
pub(in crate::engine) struct LiveSigns {
    index: (i64, i64),
    top: (i64, i64),
    known: Option<Counted>,
}

impl LiveSigns {
    pub(in crate::engine) fn read(dir: &InstanceDir, worktree: &Path) -> Option<Self> {
        Some(Self {
            index: touched(&index_of(worktree)?),
            top: touched(worktree),
            known: std::fs::read(counted_path(dir))
                .ok()
                .and_then(|text| serde_json::from_slice(&text).ok()),
        })
    }
}

/// The difference of a live worktree against its base, and whether it has uncommitted work.
pub(in crate::engine) fn count(
    dir: &InstanceDir,
    record: &InstanceRecord,
    signs: LiveSigns,
    pane: Option<&Pane>,
) -> Option<(DiffStat, bool)> {
    let worktree = &record.worktree.path;
    let evidence = Evidence {
        active_at: pane.map_or(0, |pane| pane.active_at),
        index: signs.index,
        top: signs.top,
    };
    if let Some(known) = signs
        .known
        .filter(|known| known.counting == COUNTING && known.evidence == evidence)
        && let Some(dirty) = known.dirty
    {
        return Some((known.stat, dirty));
    }
    let repository = Repo::recorded(&record.repository.root).ok()?;
    let base = record.base.commit.as_deref();
    let (stat, dirty) = git::diff_stat_and_dirt(&repository, worktree, base).ok()?;
    let settled = now().seconds_since_epoch() - evidence.active_at > SETTLE_TIME;
    let counted = Counted {
        evidence,
        stat,
        dirty: Some(dirty),
        counting: COUNTING,
    };
    if settled && let Ok(text) = serde_json::to_vec(&counted) {
        // Only a cache: if it cannot be written, the next look counts again.
        drop(replace_file(&counted_path(dir), &text));
    }
    Some((stat, dirty))
}

fn counted_path(dir: &InstanceDir) -> PathBuf {
    dir.path.join("diff.json")
}

/// Makes the next look count again: something was changed that leaves no cheap sign.
pub(in crate::engine) fn forget(dir: &InstanceDir) {
    // Usually the file does not exist.
    drop(std::fs::remove_file(counted_path(dir)));
}

/// The index of a worktree, by the file that says where its git directory is.
fn index_of(worktree: &Path) -> Option<PathBuf> {
    let dot_git = worktree.join(".git");
    match std::fs::read_to_string(&dot_git) {
        Ok(text) => {
            let directory = text.trim().strip_prefix("gitdir: ")?;
            Some(worktree.join(directory).join("index"))
        }
        // The worktree of the repository itself.
        Err(_) => dot_git.is_dir().then(|| dot_git.join("index")),
    }
}

/// When a file was changed last; zero if there is none.
pub(in crate::engine) fn touched(path: &Path) -> (i64, i64) {
    std::fs::metadata(path).map_or((0, 0), |metadata| (metadata.mtime(), metadata.mtime_nsec()))
}
