//! Whether a checkout is what its snapshot holds: by stamps where nothing was touched, by content
//! where something was.

use std::collections::HashSet;
use std::path::PathBuf;

use super::fact::SnapshotFact;
use super::manifest::{Item, Kind, Manifest, Source, raw_path, stamp_of};
use super::objects::{Blob, Wanted, read_blobs, read_named};
use super::repository::Vault;
use super::survey::{Depth, Found, Seen, Survey, survey};
use crate::git::call::{SLOW, bytes_to_path, quoted};
use crate::git::index::{Index, same_entries};
use crate::git::{Checkout, GitError, Repo};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verification {
    Equal,
    /// Files were written in the meantime.
    Differs {
        paths: Vec<PathBuf>,
    },
}

/// Whether the checkout, wherever it lies now, is what the snapshot holds, and whether the
/// snapshot is there. `seen` is the checkout at the time of the snapshot, if the caller has it.
pub(crate) fn verify_snapshot(
    repo: &Repo,
    checkout: &Checkout,
    fact: &SnapshotFact,
    seen: Option<&Seen>,
) -> Result<Verification, GitError> {
    let vault = Vault::find(repo)?;
    let manifest = stored_manifest(&vault, fact)?;
    let untouched = match seen {
        Some(seen) => seen.is_now(checkout)?,
        None => {
            let untracked = manifest.paths(Kind::Untracked);
            Seen::again(repo, checkout, untracked, &fact.evidence)?.is_now(checkout)?
        }
    };
    if untouched {
        return Ok(Verification::Equal);
    }
    // Something was touched, perhaps without effect: now compare path by path.
    let now = survey(repo, checkout, Depth::All)?;
    let mut paths = differences(&vault, checkout, &manifest, &now)?;
    if now.head != fact.head || now.branch != fact.branch {
        paths.push(PathBuf::from("HEAD"));
    }
    let index = std::fs::read(checkout.index_path()).unwrap_or_default();
    if !same_entries(&stored_index(&vault, &manifest, fact)?, &index, repo) {
        paths.push(PathBuf::from("index"));
    }
    Ok(if paths.is_empty() {
        Verification::Equal
    } else {
        Verification::Differs { paths }
    })
}

/// What the snapshot lists, if the vault still has it under its name.
pub(super) fn stored_manifest(vault: &Vault, fact: &SnapshotFact) -> Result<Manifest, GitError> {
    let missing = || GitError::SnapshotMissing {
        reference: fact.reference.clone(),
    };
    let listed = format!("{}:manifest", fact.extra);
    let [commit, manifest] = read_named(vault, [&fact.reference, &listed])?;
    if commit.ok_or_else(missing)?.id != fact.commit {
        return Err(missing());
    }
    let manifest = manifest.ok_or_else(missing)?;
    Manifest::parse(&manifest.content).map_err(|problem| GitError::Manifest {
        reference: fact.reference.clone(),
        problem,
    })
}

pub(super) fn differences(
    vault: &Vault,
    checkout: &Checkout,
    manifest: &Manifest,
    now: &Survey,
) -> Result<Vec<PathBuf>, GitError> {
    let mut paths: Vec<&[u8]> = Vec::new();
    let known = |kind: Kind| -> HashSet<&[u8]> {
        let items = manifest.items.iter().filter(|item| item.kind == kind);
        items.map(|item| item.path.as_slice()).collect()
    };
    for item in &manifest.items {
        if matches!(item.kind, Kind::Tracked | Kind::Untracked) {
            let same = stamp_of(&checkout.dir, item)?.is_some_and(|stamp| {
                stamp.mode == item.mode && stamp.size == item.size && stamp.mtime == item.mtime
            });
            if !same {
                paths.push(&item.path);
            }
        }
    }
    let (tracked, untracked) = (known(Kind::Tracked), known(Kind::Untracked));
    let others = now.untracked.iter().map(|found| found.path.as_slice());
    paths.extend(others.filter(|path| !untracked.contains(path)));
    let gone: HashSet<&[u8]> = now.gone.iter().map(Vec::as_slice).collect();
    paths.extend(known(Kind::Gone).symmetric_difference(&gone));
    // New stamps alone do not make a difference: a file may have been rewritten as it was.
    let touched: Vec<&Found> = now
        .changed
        .iter()
        .filter(|found| !tracked.contains(found.path.as_slice()))
        .collect();
    let altered = altered(vault, checkout, &now.index, &touched)?;
    paths.extend(altered.iter().map(|found| found.path.as_slice()));
    Ok(paths.into_iter().map(bytes_to_path).collect())
}

/// Those of the files whose content is not what the index says.
fn altered<'a>(
    vault: &Vault,
    checkout: &Checkout,
    index: &Index,
    files: &[&'a Found],
) -> Result<Vec<&'a Found>, GitError> {
    let (plain, links): (Vec<&Found>, Vec<&Found>) =
        files.iter().partition(|found| found.stamp.is_file());
    let id_of = |found: &Found| {
        index
            .find(&found.path)
            .filter(|entry| entry.mode == found.tree_mode())
            .map(|entry| entry.id())
    };
    // Its raw bytes, else its filtered bytes: git may have stored either.
    let mut altered = plain;
    for conversion in [&["--no-filters"][..], &[]] {
        if altered.is_empty() {
            break;
        }
        let names: String = altered
            .iter()
            .map(|found| quoted(&found.path) + "\n")
            .collect();
        let output = checkout
            .git()
            .args(["hash-object", "--stdin-paths"])
            .args(conversion)
            .stdin(names)
            .deadline(SLOW)
            .output()?;
        let answer = output.stdout_text();
        let mut ids = answer.lines();
        // A filter that fails ends the list; what follows counts as altered.
        altered.retain(|found| {
            let id = ids.next();
            id.is_none() || id_of(found).as_deref() != id
        });
    }
    let wanted: Vec<Wanted> = links
        .iter()
        .map(|found| Wanted {
            id: id_of(found).unwrap_or_else(|| vault.repo().null_id()),
            size: found.stamp.size,
        })
        .collect();
    read_blobs(vault, &wanted, |number, blob| {
        use std::os::unix::ffi::OsStrExt;
        let target = std::fs::read_link(checkout.dir.join(bytes_to_path(&links[number].path)));
        if target
            .ok()
            .as_ref()
            .map(|target| target.as_os_str().as_bytes())
            != blob.as_ref().and_then(Blob::bytes)
        {
            altered.push(links[number]);
        }
        Ok(())
    })?;
    Ok(altered)
}

fn stored_index(
    vault: &Vault,
    manifest: &Manifest,
    fact: &SnapshotFact,
) -> Result<Vec<u8>, GitError> {
    let stored = manifest
        .items
        .iter()
        .find(|item| item.kind == Kind::Admin && item.path == b"index");
    let Some(Item {
        source: Source::Raw(number),
        ..
    }) = stored
    else {
        return Ok(Vec::new());
    };
    let path = String::from_utf8_lossy(&raw_path(*number)).into_owned();
    Ok(vault
        .git()
        .args(["cat-file", "blob"])
        .arg(format!("{}:{path}", fact.extra))
        .run()?)
}
