//! What a paused instance has changed against its base, by its snapshot.

use super::fact::SnapshotFact;
use super::repository::Vault;
use crate::git::call::{SLOW, fetching};
use crate::git::diff::{RENAMES, counted, quiet, shown};
use crate::git::{DiffOutput, GitError, Repo};
use crate::model::DiffStat;

/// As [`crate::git::diff_stat`], of a paused instance.
pub(crate) fn snapshot_diff_stat(
    repo: &Repo,
    fact: &SnapshotFact,
    base: Option<&str>,
) -> Result<DiffStat, GitError> {
    let mut stat = DiffStat::default();
    let vault = Vault::find(repo)?;
    for (from, to) in snapshot_pairs(repo, fact, base) {
        let listing = quiet(vault.seen_by(repo.git()).arg("diff"))
            .args(["--numstat", "-z", RENAMES, &from, &to, "--"])
            .deadline(SLOW)
            .run()?;
        let part = counted(&listing);
        stat.files += part.files;
        stat.added += part.added;
        stat.removed += part.removed;
    }
    Ok(stat)
}

/// Whether a snapshot has anything that no commit has: untracked files, or an index or tracked files that
/// differ from HEAD in their content. A file that was written again as it was is no difference.
pub(crate) fn snapshot_is_dirty(repo: &Repo, fact: &SnapshotFact) -> Result<bool, GitError> {
    if fact.untracked > 0 {
        return Ok(true);
    }
    let head = match &fact.head {
        Some(head) => head.clone(),
        None => repo.empty_tree().to_owned(),
    };
    let vault = Vault::find(repo)?;
    let names = [&head, &fact.commit, &format!("{}^2", fact.commit)];
    let trees = vault
        .seen_by(repo.git())
        .arg("rev-parse")
        .args(names.map(|name| format!("{name}^{{tree}}")))
        .deadline(SLOW)
        .text()?;
    let mut trees = trees.lines();
    let head = trees.next();
    Ok(trees.any(|tree| Some(tree) != head))
}

/// As [`crate::git::diff_text`], of a paused instance.
pub(crate) fn snapshot_diff_text(
    repo: &Repo,
    fact: &SnapshotFact,
    base: Option<&str>,
    output: DiffOutput,
    color: bool,
) -> Result<Vec<u8>, GitError> {
    let vault = Vault::find(repo)?;
    let mut text = Vec::new();
    for (from, to) in snapshot_pairs(repo, fact, base) {
        text.extend(
            shown(
                fetching(vault.seen_by(repo.git())).arg("diff"),
                output,
                color,
            )
            .args([&from, &to, "--"])
            .deadline(SLOW)
            .run()?,
        );
    }
    Ok(text)
}

/// Tracked files against the base, untracked ones against nothing.
fn snapshot_pairs(repo: &Repo, fact: &SnapshotFact, base: Option<&str>) -> [(String, String); 2] {
    let empty = repo.empty_tree().to_owned();
    [
        (
            base.map_or_else(|| empty.clone(), str::to_owned),
            fact.commit.clone(),
        ),
        (empty, format!("{}^3", fact.commit)),
    ]
}
