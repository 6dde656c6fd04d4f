//! The base commits of a snapshot: commits of the user's history that the vault does not copy, and
//! the one ref in the user's repository that keeps `git gc` from dropping them.
//!
//! `refs/bivouac-keep/<id>` names a commit without files whose parents are those commits. A push of
//! it shows that an instance was paused, and nothing that was not committed. Commits that no branch,
//! tag or remote has and that are not HEAD or part of an operation in progress (amended away, stashed
//! by a rebase) are no such parents: they are copied into the vault.

use std::collections::BTreeSet;

use super::guard::{AdminFile, Named, tokens};
use super::owner::forget_owner;
use super::refs::{HELD, KEEP, THINNED, TRASH};
use super::repository::Vault;
use crate::git::{GitError, Repo};
use crate::model::{InstanceId, Timestamp};

/// Files of an admin directory that name commits of an operation in progress.
const OPERATION: &[&[u8]] = &[
    b"MERGE_HEAD",
    b"CHERRY_PICK_HEAD",
    b"REVERT_HEAD",
    b"rebase-merge/onto",
    b"rebase-merge/orig-head",
    b"rebase-apply/onto",
    b"rebase-apply/orig-head",
    b"sequencer/head",
];

/// More than this many are reduced to those that reach the others.
const MANY: usize = 8;

pub(super) fn message(id: &InstanceId) -> String {
    format!(
        "bivouac: keeps commits for {id}\n\n\
         Bookkeeping of biv, without files. As long as work of this instance is saved, it keeps\n\
         `git gc` from dropping the commits that the work stands on. biv removes it.\n"
    )
}

/// Commits of the user's history, and whether others were named that are not in it.
#[derive(Debug, Default)]
pub(super) struct BaseCommits {
    pub public: Vec<String>,
    /// Named commits that are copied into the vault.
    pub private: usize,
}

/// The base commits of a snapshot: HEAD, the commits of an operation in progress, and those of the
/// other named commits that the user's branches, tags and remotes have anyway.
pub(super) fn base_commits(
    repo: &Repo,
    head: Option<&String>,
    admin: &[AdminFile],
    named: &Named,
) -> Result<BaseCommits, GitError> {
    let mut heads: BTreeSet<String> = head.cloned().into_iter().collect();
    for file in admin {
        if OPERATION.contains(&file.path.as_slice()) {
            let ids = tokens(&file.content, repo.id_length());
            heads.extend(ids.filter(|id| named.commits.contains(id)));
        }
    }
    let others = named.commits.difference(&heads).cloned().collect();
    with_public(repo, heads, &others)
}

/// `heads`, and what has to be kept of `others` because it is in the user's history.
pub(super) fn with_public(
    repo: &Repo,
    mut heads: BTreeSet<String>,
    others: &BTreeSet<String>,
) -> Result<BaseCommits, GitError> {
    let mut base_commits = BaseCommits::default();
    let beyond = history(repo, others, &heads, &[])?;
    if !beyond.is_empty() {
        let refs = ["--boundary", "--branches", "--tags", "--remotes"];
        let tips = others.intersection(&beyond).cloned().collect();
        let private = history(repo, &tips, &heads, &refs)?;
        // A boundary commit is marked: it is in the history of a ref, one of its children is not.
        let boundary = private.iter().filter_map(|line| line.strip_prefix('-'));
        let public: Vec<String> = boundary
            .chain(tips.iter().map(String::as_str))
            .filter(|id| beyond.contains(*id) && !private.contains(*id))
            .map(str::to_owned)
            .collect();
        base_commits.private = tips.intersection(&private).count();
        heads.extend(public);
    }
    if heads.len() > MANY {
        let independent = repo
            .git()
            .args(["merge-base", "--independent"])
            .args(&heads)
            .text()?;
        base_commits.public = independent.lines().map(str::to_owned).collect();
    } else {
        base_commits.public = heads.into_iter().collect();
    }
    Ok(base_commits)
}

/// The commits that `from` reach and `without` do not.
fn history(
    repo: &Repo,
    from: &BTreeSet<String>,
    without: &BTreeSet<String>,
    refs: &[&str],
) -> Result<BTreeSet<String>, GitError> {
    if from.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut tips: String = from.iter().map(|id| format!("{id}\n")).collect();
    // Before 2.42 git takes no `--not` from standard input.
    tips.extend(without.iter().map(|id| format!("^{id}\n")));
    let (options, refs): (Vec<&str>, Vec<&str>) =
        refs.iter().partition(|word| **word == "--boundary");
    let listing = repo
        .git()
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .arg("rev-list")
        .args(options)
        .arg("--stdin")
        .args(if refs.is_empty() { &[][..] } else { &["--not"] })
        .args(refs)
        .stdin(tips)
        .deadline(crate::git::call::SLOW)
        .text()?;
    Ok(listing.lines().map(str::to_owned).collect())
}

/// The keep-ref of an instance in the user's repository as it is now.
struct Kept {
    commit: String,
    parents: BTreeSet<String>,
}

fn kept(repo: &Repo, reference: &str) -> Result<Option<Kept>, GitError> {
    let line = repo
        .git()
        .args(["for-each-ref", "--format=%(objectname) %(parent)"])
        .arg(reference)
        .text()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    Ok(words.next().map(|commit| Kept {
        commit,
        parents: words.collect(),
    }))
}

/// The commits that an instance's keep-ref protects now.
pub(super) fn kept_commits(repo: &Repo, id: &str) -> Result<BTreeSet<String>, GitError> {
    let kept = kept(repo, &format!("{KEEP}{id}"))?;
    Ok(kept.map(|kept| kept.parents).unwrap_or_default())
}

/// Keeps these commits too. The caller holds the vault's lock, shared or not.
pub(super) fn keep_more(
    repo: &Repo,
    id: &InstanceId,
    commits: &[String],
    at: Timestamp,
) -> Result<(), GitError> {
    let reference = format!("{KEEP}{id}");
    let now = kept(repo, &reference)?;
    let mut wanted: BTreeSet<String> = commits.iter().cloned().collect();
    if let Some(now) = &now {
        if wanted.is_subset(&now.parents) {
            return Ok(());
        }
        wanted.extend(now.parents.iter().cloned());
    }
    if wanted.is_empty() {
        return Ok(());
    }
    set(repo, &reference, id, now.as_ref(), &wanted, at)
}

/// Keeps the base commits of this instance's snapshots in the vault, and nothing else. The caller
/// holds the vault's exclusive lock.
pub(super) fn keep_exactly(vault: &Vault, id: &InstanceId, at: Timestamp) -> Result<(), GitError> {
    let repo = vault.repo();
    let reference = format!("{KEEP}{id}");
    let now = kept(repo, &reference)?;
    let (wanted, gone) = wanted(vault, id)?;
    if !gone.is_empty() {
        let changes: String = gone.iter().map(|name| format!("delete {name}\n")).collect();
        vault
            .git()
            .args(["update-ref", "--stdin"])
            .stdin(changes)
            .run()?;
    }
    if wanted.is_empty() && list_of(vault, id)?.is_empty() {
        forget_owner(vault, id);
    }
    match now {
        None if wanted.is_empty() => Ok(()),
        Some(now) if wanted.is_empty() => {
            repo.git()
                .args(["update-ref", "-d", &reference, &now.commit])
                .run()?;
            Ok(())
        }
        Some(now) if now.parents == wanted => Ok(()),
        now => set(repo, &reference, id, now.as_ref(), &wanted, at),
    }
}

/// The base commits of an instance's snapshots, and the notes of snapshots that are gone.
pub(super) fn wanted(
    vault: &Vault,
    id: &InstanceId,
) -> Result<(BTreeSet<String>, Vec<String>), GitError> {
    let listing = vault
        .git()
        .args(["for-each-ref", "--format=%(refname) %(parent)"])
        .args([HELD, TRASH, KEEP].map(|namespace| format!("{namespace}{id}/")))
        .text()?;
    let mut snapshots: BTreeSet<&str> = BTreeSet::new();
    let mut notes = Vec::new();
    for line in listing.lines() {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let number = name.rsplit('/').next().unwrap_or_default();
        if name.starts_with(KEEP) {
            notes.push((name, number, words));
        } else {
            snapshots.insert(number.strip_suffix(THINNED).unwrap_or(number));
        }
    }
    let mut wanted = BTreeSet::new();
    let mut gone: Vec<String> = Vec::new();
    for (name, number, parents) in notes {
        if snapshots.contains(number) {
            wanted.extend(parents.filter(|id| !id.is_empty()).map(str::to_owned));
        } else {
            gone.push(name.to_owned());
        }
    }
    Ok((wanted, gone))
}

fn list_of(vault: &Vault, id: &InstanceId) -> Result<String, GitError> {
    Ok(vault
        .git()
        .args(["for-each-ref", "--format=%(refname)"])
        .args([HELD, TRASH].map(|namespace| format!("{namespace}{id}/")))
        .text()?)
}

fn set(
    repo: &Repo,
    reference: &str,
    id: &InstanceId,
    now: Option<&Kept>,
    parents: &BTreeSet<String>,
    at: Timestamp,
) -> Result<(), GitError> {
    if now.is_none() {
        // Git knows the empty tree without having it, and misses it when it checks itself.
        repo.git().arg("mktree").run()?;
    }
    let date = format!("{} +0000", at.seconds_since_epoch());
    let commit = repo
        .git()
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .args(["commit-tree", "-m", message(id).trim_end()])
        .args(parents.iter().flat_map(|parent| ["-p", parent]))
        .arg(repo.empty_tree())
        .text()?;
    let before = now.map_or_else(|| repo.null_id(), |now| now.commit.clone());
    repo.git()
        .args(["update-ref", reference, &commit, &before])
        .run()?;
    Ok(())
}
