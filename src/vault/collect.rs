//! Frees the disk of what no snapshot in the vault needs any more.
//!
//! Git's own collection cannot be used: it counts as safe what the user's repository has, which may
//! drop it tomorrow. So git lists for each snapshot what it reaches beyond its base commits. All of
//! that goes into one new pack. When that was read back, the older packs are deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::closure::{indexes, mark_kept, objects_in, without};
use super::refs::{HELD, KEEP, THINNED, TRASH};
use super::repository::Vault;
use crate::git::call::SLOW;
use crate::git::disk::{parent, sync_dir, sync_filesystem};
use crate::git::{GitError, Repo};

/// What is younger stays: an operation that was cut off may still need it.
pub(crate) const GRACE: Duration = Duration::from_secs(14 * 24 * 3600);

/// From this many packs on they are merged, even if that frees nothing: git searches each of them.
const MANY_PACKS: usize = 50;

/// Deletes from the vault what is older than `grace` and no snapshot needs; gives the bytes that were
/// freed. Does nothing while others write to the vault.
pub(crate) fn collect_vault(repo: &Repo, grace: Duration) -> Result<u64, GitError> {
    let Some(vault) = Vault::existing(repo)? else {
        return Ok(0);
    };
    let Some(_lock) = vault.try_exclude()? else {
        return Ok(0);
    };
    let packs = old(indexes(&vault)?, grace);
    let loose = old(loose(&vault)?, grace);
    let Some(wanted) = wanted(&vault)? else {
        return Ok(0);
    };
    let has_garbage = !objects_in(&vault, &packs)?.is_subset(&wanted);
    if !has_garbage && packs.len() < MANY_PACKS && loose.is_empty() {
        return Ok(0);
    }
    let before = bytes(&vault.objects());
    let fresh = pack(&vault, &wanted)?;
    sync_filesystem(vault.dir())?;
    for index in packs.iter().filter(|index| Some(*index) != fresh.as_ref()) {
        // The index first: without it the pack is not looked at any more.
        for ending in ["idx", "rev", "bitmap", "keep", "pack"] {
            remove(&index.with_extension(ending))?;
        }
    }
    for object in &loose {
        remove(object)?;
    }
    sync_dir(&vault.objects().join("pack"))?;
    Ok(before.saturating_sub(bytes(&vault.objects())))
}

/// Every object that a snapshot needs from the vault itself. None if the base commits of a snapshot
/// are not known: then nothing is known to be garbage.
fn wanted(vault: &Vault) -> Result<Option<BTreeSet<String>>, GitError> {
    let listing = vault
        .git()
        .args(["for-each-ref", "--format=%(refname) %(parent)"])
        .text()?;
    let mut base_commits: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut snapshots: Vec<(&str, &str)> = Vec::new();
    for line in listing.lines() {
        let (name, parents) = line.split_once(' ').unwrap_or((line, ""));
        let of = |namespace| name.strip_prefix(namespace);
        if let Some(snapshot) = of(KEEP) {
            let parents = parents.split_whitespace().map(str::to_owned);
            base_commits.insert(snapshot, parents.collect());
        } else if let Some(snapshot) = of(HELD).or_else(|| of(TRASH)) {
            snapshots.push((name, snapshot.strip_suffix(THINNED).unwrap_or(snapshot)));
        } else {
            // Not one of ours: what it needs is not known.
            return Ok(None);
        }
    }
    let mut wanted = BTreeSet::new();
    for (name, snapshot) in snapshots {
        let Some(base_commits) = base_commits.get(snapshot) else {
            return Ok(None);
        };
        let note = format!("{KEEP}{snapshot}");
        let ids = vault
            .git()
            .args(["rev-list", "--objects", "--no-object-names", "--stdin"])
            .stdin(without(&[name, &note], base_commits))
            .deadline(SLOW)
            .text()?;
        wanted.extend(ids.lines().map(str::to_owned));
    }
    Ok(Some(wanted))
}

/// Puts the objects into one pack and reads it back; gives its index.
fn pack(vault: &Vault, wanted: &BTreeSet<String>) -> Result<Option<PathBuf>, GitError> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let ids: String = wanted.iter().map(|id| format!("{id}\n")).collect();
    let name = vault
        .git()
        .args(["-c", "core.fsync=committed"])
        .args(["pack-objects", "-q", "--delta-base-offset", "--window=0"])
        .arg(vault.objects().join("pack/pack"))
        .stdin(ids)
        .deadline(SLOW)
        .text()?;
    mark_kept(vault)?;
    let index = vault.objects().join(format!("pack/pack-{name}.idx"));
    if objects_in(vault, std::slice::from_ref(&index))? != *wanted {
        return Err(GitError::Unexpected {
            call: "git pack-objects".to_owned(),
            answer: name,
        });
    }
    vault
        .git()
        .arg("verify-pack")
        .arg(&index)
        .deadline(SLOW)
        .run()?;
    Ok(Some(index))
}

fn old(paths: Vec<PathBuf>, grace: Duration) -> Vec<PathBuf> {
    let now = SystemTime::now();
    let is_old = |path: &PathBuf| {
        std::fs::metadata(path)
            .and_then(|found| found.modified())
            .is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age >= grace))
    };
    paths.into_iter().filter(is_old).collect()
}

/// Objects in files of their own.
fn loose(vault: &Vault) -> Result<Vec<PathBuf>, GitError> {
    let top = vault.objects();
    let list = |dir: &Path| -> Result<Vec<PathBuf>, GitError> {
        let entries = std::fs::read_dir(dir).map_err(GitError::reading(dir))?;
        Ok(entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect())
    };
    let mut objects = Vec::new();
    for dir in list(&top)? {
        let two_digits = dir
            .file_name()
            .is_some_and(|name| name.len() == 2 && name.to_string_lossy() != "..");
        if two_digits {
            objects.extend(list(&dir)?);
        }
    }
    Ok(objects)
}

fn remove(path: &Path) -> Result<(), GitError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(GitError::writing(parent(path))(error)),
    }
}

fn bytes(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return 0;
    };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
