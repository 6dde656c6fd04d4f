//! Copies between the two repositories: into the vault what the user's `git gc` could drop, and back
//! what it has dropped when a worktree that needs it comes back.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use super::call::{SLOW, fields};
use super::keep::kept_commits;
use super::snapshot::SnapshotFact;
use super::vault::Vault;
use super::{GitError, Repo};

const DEADLINE: Duration = SLOW;

/// Copies everything that `tips` reach, that `stands_on` do not reach, and that no pack of the
/// vault has yet. Git itself says what that is; what the vault reads through its alternates does not
/// count.
pub(super) fn complete(vault: &Vault, tips: &[&str], stands_on: &[String]) -> Result<(), GitError> {
    mark_kept(vault)?;
    vault
        .git()
        .args(["-c", "core.fsync=committed", "-c", "pack.compression=0"])
        .args(["pack-objects", "-q", "--revs", "--sparse", "--non-empty"])
        // A pack is "kept" if a file says so: those of the vault are.
        .args(["--honor-pack-keep", "--delta-base-offset", "--window=0"])
        // In a partial clone some objects are on another machine; what is changed is not.
        .arg("--missing=allow-any")
        .arg(vault.objects().join("pack/pack"))
        .stdin(without(tips, stands_on))
        .deadline(DEADLINE)
        .run()?;
    mark_kept(vault)
}

/// What [`complete`] has to have copied and is not in a pack of the vault.
pub(super) fn lacking(
    vault: &Vault,
    commit: &str,
    stands_on: &[String],
) -> Result<Vec<String>, GitError> {
    let all = vault
        .git()
        .args(["rev-list", "--objects", "--no-object-names", "--stdin"])
        .stdin(without(&[commit], stands_on))
        .deadline(DEADLINE)
        .text()?;
    let own = objects_in(vault, &indexes(vault)?)?;
    let lacking = all.lines().filter(|id| !own.contains(*id));
    Ok(lacking.map(str::to_owned).collect())
}

/// The objects that packs have, by their indexes.
pub(super) fn objects_in(vault: &Vault, indexes: &[PathBuf]) -> Result<BTreeSet<String>, GitError> {
    let mut objects: BTreeSet<String> = BTreeSet::new();
    let format = format!("--object-format={}", vault.repo().object_format());
    for index in indexes {
        let bytes = std::fs::read(index).map_err(GitError::reading(index))?;
        let listing = vault
            .git()
            .args(["show-index", &format])
            .stdin(bytes)
            .text()?;
        // `<offset> <id> (<checksum>)`
        let ids = listing.lines().filter_map(|line| line.split(' ').nth(1));
        objects.extend(ids.map(str::to_owned));
    }
    Ok(objects)
}

/// Reads every object of every pack of the vault and compares it with its name.
pub(super) fn verify_packs(vault: &Vault) -> Result<(), GitError> {
    let indexes = indexes(vault)?;
    if !indexes.is_empty() {
        vault
            .git()
            .arg("verify-pack")
            .args(indexes)
            .deadline(DEADLINE)
            .run()?;
    }
    Ok(())
}

pub(super) fn indexes(vault: &Vault) -> Result<Vec<PathBuf>, GitError> {
    let dir = vault.objects().join("pack");
    let entries = std::fs::read_dir(&dir).map_err(GitError::reading(&dir))?;
    Ok(entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "idx"))
        .collect())
}

/// `tips`, and nothing that `excluded` reach, as git reads it.
pub(super) fn without(tips: &[&str], excluded: &[String]) -> String {
    let mut lines: String = tips.iter().map(|tip| format!("{tip}\n")).collect();
    lines.push_str("--not\n");
    lines.extend(excluded.iter().map(|id| format!("{id}\n")));
    lines
}

/// Says of each pack of the vault that it stays: even `git gc`, run there by mistake, then leaves it
/// alone.
pub(super) fn mark_kept(vault: &Vault) -> Result<(), GitError> {
    for index in indexes(vault)? {
        let keep = index.with_extension("keep");
        if !keep.exists() {
            std::fs::write(&keep, "").map_err(GitError::writing(&keep))?;
        }
    }
    Ok(())
}

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
    give(&vault, &tips, &excluded)
}

/// Copies `tips` and all that they reach into the user's repository, as far as it lacks them.
pub(super) fn give(vault: &Vault, tips: &[String], excluded: &[String]) -> Result<(), GitError> {
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
    let dir = vault.repo().own_dir("tmp")?;
    let scratch = tempfile::Builder::new()
        .prefix("give-")
        .tempdir_in(&dir)
        .map_err(GitError::writing(&dir))?;
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
