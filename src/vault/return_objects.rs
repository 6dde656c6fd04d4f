//! Copies back into the user's repository what its `git gc` has dropped, when a worktree that needs
//! it comes back.

use std::collections::BTreeSet;
use std::fs::File;

use super::closure::{DEADLINE, without};
use super::fact::SnapshotFact;
use super::keep::kept_commits;
use super::repository::Vault;
use crate::git::call::fields;
use crate::git::{GitError, Repo, ScratchDir};

/// Puts back what a worktree that was brought back needs and the user's repository has lost: staged
/// content, objects of an operation in progress.
pub(crate) fn bring_objects_back(repo: &Repo, fact: &SnapshotFact) -> Result<(), GitError> {
    if fact.guarded == Some(0) {
        return Ok(());
    }
    let vault = Vault::find(repo)?;
    let _lock = vault.share()?;
    let tips = guarded(&vault, &fact.extra)?;
    if tips.is_empty() {
        return Ok(());
    }
    let mut excluded: Vec<String> = fact.head.iter().cloned().collect();
    if let Some(id) = fact.instance() {
        excluded.extend(kept_commits(repo, id)?);
    }
    copy_objects(&vault, &tips, &excluded)
}

/// Copies `tips` and all that they reach into the user's repository, as far as it lacks them.
pub(super) fn copy_objects(
    vault: &Vault,
    tips: &[String],
    excluded: &[String],
) -> Result<(), GitError> {
    let tips: Vec<&str> = tips.iter().map(String::as_str).collect();
    let questions = without(&tips, excluded);
    let rev_list = ["rev-list", "--objects", "--no-object-names", "--stdin"];
    let there = vault
        .repo()
        .git()
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .args(rev_list)
        .arg("--quiet")
        .stdin(questions.clone())
        .deadline(DEADLINE)
        .output()?;
    if there.success() {
        return Ok(());
    }
    let all = vault
        .git()
        .args(rev_list)
        .stdin(questions)
        .deadline(DEADLINE)
        .text()?;
    let missing = missing(vault.repo(), &all)?;
    // Through a file: what was staged may be larger than memory.
    let scratch = ScratchDir::new(vault.repo(), "give-")?;
    let name = vault
        .git()
        .args(["pack-objects", "-q", "--delta-base-offset"])
        .arg(scratch.path().join("pack"))
        .stdin(missing)
        .deadline(DEADLINE)
        .text()?;
    let pack = scratch.path().join(format!("pack-{name}.pack"));
    let mut pack = File::open(&pack).map_err(GitError::reading(&pack))?;
    let unpack = vault
        .repo()
        .git()
        .args(["-c", "core.fsync=committed,loose-object"])
        .args(["unpack-objects", "-q"])
        .deadline(DEADLINE);
    let output = unpack.output_fed(|pipe| std::io::copy(&mut pack, pipe).map(drop))?;
    if output.success() {
        Ok(())
    } else {
        Err(unpack.status_failure(&output).into())
    }
}

/// Those of the objects, one in a line, that a repository does not have.
fn missing(repo: &Repo, ids: &str) -> Result<String, GitError> {
    let answers = repo
        .git()
        .args(["cat-file", "--batch-check=%(objectname)", "--buffer"])
        .stdin(format!("{ids}\n"))
        .deadline(DEADLINE)
        .text()?;
    Ok(answers
        .lines()
        .filter_map(|line| line.strip_suffix(" missing"))
        .map(|id| format!("{id}\n"))
        .collect())
}

/// What a snapshot guards beside its files: all that index and admin directory name.
fn guarded(vault: &Vault, extra: &str) -> Result<Vec<String>, GitError> {
    let mut tips: BTreeSet<String> = BTreeSet::new();
    let parents = vault
        .git()
        .args(["rev-list", "--parents", "--no-walk", extra])
        .text()?;
    tips.extend(parents.split_whitespace().skip(1).map(str::to_owned));
    let listing = vault
        .git()
        .args(["ls-tree", "-r", "-t", "-z", "--full-tree", extra, "keep/"])
        .deadline(DEADLINE)
        .run()?;
    for line in fields(&listing) {
        // `100644 blob <id>\tkeep/blob/0/00`; what is below belongs to a tree that is kept.
        let mut halves = line.splitn(2, |byte| *byte == b'\t');
        let id = halves
            .next()
            .and_then(|half| half.rsplit(|byte| *byte == b' ').next());
        let depth = halves
            .next()
            .map(|path| path.iter().filter(|byte| **byte == b'/').count());
        if let (Some(id), Some(3)) = (id, depth) {
            tips.insert(String::from_utf8_lossy(id).into_owned());
        }
    }
    Ok(tips.into_iter().collect())
}
