//! Snapshots of earlier versions, which were refs of the user's repository, are moved into the vault
//! at its first use: under the same names, with the same commits.
//!
//! The order makes it safe to be cut off anywhere: copy the objects, name them in the vault, prove
//! the copies, wait for the disk, protect their base commits in the user's repository, wait for the
//! disk again, and only then delete the old refs. Run again it completes what is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;

use super::closure::{complete, lacking};
use super::keep::{keep_more, message, with_public};
use super::refs::{HELD, KEEP, THINNED, TRASH};
use super::repository::Vault;
use crate::git::call::SLOW;
use crate::git::disk::sync_filesystem;
use crate::git::{GitError, Repo};
use crate::model::{InstanceId, Timestamp};

/// A snapshot in the user's repository.
#[derive(Debug, Clone)]
pub(super) struct Old {
    reference: String,
    commit: String,
    id: InstanceId,
    number: String,
    taken: Timestamp,
}

/// A snapshot that has been copied.
#[derive(Debug)]
pub(super) struct Copied {
    old: Old,
    base_commits: Vec<String>,
}

/// The snapshots that an earlier version left in the user's repository. Refs of other names are not
/// ours, or of a version to come.
pub(super) fn old_snapshots(repo: &Repo) -> Result<Vec<Old>, GitError> {
    let listing = repo
        .git()
        .args([
            "for-each-ref",
            "--format=%(objectname) %(committerdate:unix) %(refname)",
        ])
        .args([HELD, TRASH])
        .text()?;
    Ok(listing.lines().filter_map(old).collect())
}

fn old(line: &str) -> Option<Old> {
    let mut words = line.splitn(3, ' ');
    let commit = words.next()?.to_owned();
    let taken = Timestamp::from_epoch(words.next()?.parse().ok()?)?;
    let reference = words.next()?;
    let name = reference
        .strip_prefix(HELD)
        .or_else(|| reference.strip_prefix(TRASH))?;
    let (id, number) = name.split_once('/')?;
    Some(Old {
        commit,
        taken,
        id: InstanceId::parse(id)?,
        number: number.strip_suffix(THINNED).unwrap_or(number).to_owned(),
        reference: reference.to_owned(),
    })
}

/// Moves them all; gives those that could not be moved and stay where they are. The caller holds the
/// vault's lock alone.
pub(super) fn migrate(vault: &Vault, old: Vec<Old>) -> Result<Vec<Old>, GitError> {
    remove_crash_reports(vault.repo());
    let (copied, left) = copy(vault, old)?;
    name(vault, &copied)?;
    prove(vault, &copied)?;
    sync_filesystem(vault.dir())?;
    keep(vault, &copied)?;
    sync_filesystem(vault.repo().common_dir())?;
    delete_old_refs(vault.repo(), &copied)?;
    Ok(left)
}

/// Copies what the vault has to have itself. A snapshot that lacks something already is no reason to
/// leave the others where they are.
pub(super) fn copy(vault: &Vault, old: Vec<Old>) -> Result<(Vec<Copied>, Vec<Old>), GitError> {
    let (mut copied, mut left) = (Vec::new(), Vec::new());
    for old in old {
        match copied_one(vault, &old) {
            Ok(base_commits) => copied.push(Copied { old, base_commits }),
            Err(error @ (GitError::DiskFull { .. } | GitError::GitMissing)) => return Err(error),
            Err(_) => left.push(old),
        }
    }
    Ok((copied, left))
}

fn copied_one(vault: &Vault, old: &Old) -> Result<Vec<String>, GitError> {
    let (heads, others) = foundation(vault.repo(), &old.commit)?;
    let base_commits = with_public(vault.repo(), heads, &others)?.public;
    complete(vault, &[&old.commit], &base_commits)?;
    Ok(base_commits)
}

type Foundation = (BTreeSet<String>, BTreeSet<String>);

/// The user's commits that our commits have as parents: HEAD, and all others.
fn foundation(repo: &Repo, commit: &str) -> Result<Foundation, GitError> {
    let (mut heads, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut seen = BTreeSet::new();
    let mut next = vec![commit.to_owned()];
    while !next.is_empty() {
        let listing = repo
            .git()
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .args(["log", "--no-walk=unsorted", "--stdin"])
            .arg("--format=%H%x09%ce%x09%P%x09%s")
            .stdin(next.join("\n") + "\n")
            .deadline(SLOW)
            .text()?;
        next.clear();
        for line in listing.lines() {
            let words: Vec<&str> = line.splitn(4, '\t').collect();
            let [id, mail, parents, subject] = words[..] else {
                continue;
            };
            if mail != crate::git::call::EMAIL || !subject.starts_with("bivouac: ") {
                others.insert(id.to_owned());
                continue;
            }
            let parents: Vec<String> = parents.split_whitespace().map(str::to_owned).collect();
            // `bivouac: <id> #<n>`: the snapshot itself, whose first parent is HEAD.
            let number = subject.rsplit('#').next().unwrap_or_default();
            if number.bytes().all(|byte| byte.is_ascii_digit()) {
                heads.extend(parents.first().cloned());
            }
            next.extend(parents.into_iter().filter(|id| seen.insert(id.clone())));
        }
    }
    heads.retain(|id| others.remove(id));
    Ok((heads, others))
}

/// Makes the refs of the copies in the vault, and those of their base commits.
pub(super) fn name(vault: &Vault, copied: &[Copied]) -> Result<(), GitError> {
    if copied.is_empty() {
        return Ok(());
    }
    vault.git().arg("mktree").run()?;
    let mut notes: BTreeMap<String, (&Old, BTreeSet<String>)> = BTreeMap::new();
    for Copied { old, base_commits } in copied {
        let note = notes
            .entry(format!("{KEEP}{}/{}", old.id, old.number))
            .or_insert_with(|| (old, BTreeSet::new()));
        note.1.extend(base_commits.iter().cloned());
    }
    let mut changes = Vec::new();
    for (reference, (old, mut base_commits)) in notes {
        // What an attempt that was cut off has noted was true then.
        let noted = vault
            .git()
            .args(["for-each-ref", "--format=%(parent)", &reference])
            .text()?;
        base_commits.extend(noted.split_whitespace().map(str::to_owned));
        let date = format!("{} +0000", old.taken.seconds_since_epoch());
        let note = vault
            .git()
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .args(["commit-tree", "-m", message(&old.id).trim_end()])
            .args(base_commits.iter().flat_map(|parent| ["-p", parent]))
            .arg(vault.repo().empty_tree())
            .text()?;
        changes.push(format!("update {reference} {note}\n"));
    }
    for Copied { old, .. } in copied {
        changes.push(format!("update {} {}\n", old.reference, old.commit));
    }
    vault
        .git()
        .args(["-c", "core.fsync=committed,loose-object,reference"])
        .args(["update-ref", "--stdin"])
        .stdin(changes.concat())
        .run()?;
    // The notes themselves, each without what it names.
    for Copied { old, base_commits } in copied {
        let note = format!("{KEEP}{}/{}", old.id, old.number);
        complete(vault, &[&note], base_commits)?;
    }
    Ok(())
}

/// Reads every pack of the vault, and sees that each object is there that has to be.
pub(super) fn prove(vault: &Vault, copied: &[Copied]) -> Result<(), GitError> {
    for Copied { old, base_commits } in copied {
        let lacking = lacking(vault, &old.commit, base_commits)?;
        if !lacking.is_empty() {
            return Err(GitError::SnapshotMissing {
                reference: old.reference.clone(),
            });
        }
    }
    super::closure::verify_packs(vault)
}

/// Protects in the user's repository what was not copied.
pub(super) fn keep(vault: &Vault, copied: &[Copied]) -> Result<(), GitError> {
    let mut instances: BTreeMap<&InstanceId, (Timestamp, Vec<String>)> = BTreeMap::new();
    for Copied { old, base_commits } in copied {
        let of_one = instances
            .entry(&old.id)
            .or_insert_with(|| (old.taken, Vec::new()));
        of_one.1.extend(base_commits.iter().cloned());
    }
    for (id, (at, commits)) in instances {
        keep_more(vault.repo(), id, &commits, at)?;
    }
    Ok(())
}

/// Deletes the old refs, provided that they still name what was copied.
pub(super) fn delete_old_refs(repo: &Repo, copied: &[Copied]) -> Result<(), GitError> {
    if copied.is_empty() {
        return Ok(());
    }
    let changes: String = copied
        .iter()
        .map(|Copied { old, .. }| format!("delete {} {}\n", old.reference, old.commit))
        .collect();
    repo.git()
        .args(["update-ref", "--stdin"])
        .stdin(changes)
        .deadline(SLOW)
        .run()?;
    Ok(())
}

/// Earlier versions let git import into the user's repository, where it left a report when it was cut
/// off. Those that name a ref of ours are removed; one that stays does no harm.
fn remove_crash_reports(repo: &Repo) {
    let Ok(entries) = std::fs::read_dir(repo.common_dir()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = |report: &[u8]| report.windows(13).any(|words| words == b"refs/bivouac/");
        if name.as_bytes().starts_with(b"fast_import_crash_")
            && std::fs::read(entry.path()).is_ok_and(|report| ours(&report))
        {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}
