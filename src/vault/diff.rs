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
