//! Freeing the disk of a parked worktree. Everything that git cannot reproduce is stored as objects
//! under a second ref, each file is compared with what git gives back for it, and only then it is
//! deleted. Refilling writes plain bytes: no filter, no checkout, so nothing can come out different.
//!
//! A file whose bytes equal the blob that the index names needs no copy. Git's record of the
//! worktree (index, operation in progress, repositories of submodules) stays on disk as it is, and
//! so does what no object can hold: special files, access lists, mounts.

use super::ParkingPlace;
use super::closure::complete;
use super::delete::{ThinReport, Unfinished, delete};
use super::fact::SnapshotFact;
use super::import::{Commit, Content, Edit, Import, Object};
use super::inventory::{ThinPolicy, forget_differing, inventory};
use super::manifest::{Kind, Manifest, Source, raw_path, stamp_of};
use super::refs::{instance_of, thinned_name};
use super::repository::Vault;
use super::settle::settle_refill;
use super::stale_locks::remove_stale_locks;
use super::survey::Found;
use super::thinned::{Marker, Phase};
use crate::git::call::bytes_to_path;
use crate::git::disk::{sync_filesystem, sync_filesystems};
use crate::git::{GitError, Repo};
use crate::model::Timestamp;
use crate::process::crash;

/// Thins a parked worktree. Run again after a crash, or where something could not be deleted, it
/// completes what is missing. What cannot be deleted, and what has changed since it was stored, stays
/// and is named: an error means that nothing more could be done, never that something was lost.
pub(crate) fn thin(
    repo: &Repo,
    place: &ParkingPlace,
    fact: &SnapshotFact,
    policy: &ThinPolicy,
    at: Timestamp,
) -> Result<ThinReport, GitError> {
    let checkout = place.checkout();
    let found = Marker::read(&checkout)?;
    let marker = match found {
        Some(marker) if is_under_way(&marker, fact) => marker,
        whole => {
            if whole.is_some() {
                settle_refill(repo, &checkout)?;
            }
            let marker = Marker {
                commit: store(repo, place, fact, policy, at)?,
                reference: fact.reference.clone(),
                phase: Phase::Unsaid,
            };
            crash::effect();
            sync_filesystems(&[repo.common_dir(), &place.parked_worktree])?;
            marker.enter(&checkout, Phase::Thinning)?
        }
    };
    let vault = Vault::find(repo)?;
    let manifest = Manifest::load(&vault, &marker.commit)?;
    let ours = match marker.phase {
        Phase::Refilling { .. } | Phase::Unsaid => Unfinished::Possible,
        Phase::Thinning | Phase::Thinned | Phase::Refilled { .. } => Unfinished::Impossible,
    };
    let marker = match marker.phase {
        Phase::Thinned => marker,
        _ => marker.enter(&checkout, Phase::Thinning)?,
    };
    let report = delete(&vault, place, &marker.commit, &manifest, ours)?;
    sync_filesystem(&place.parked_worktree)?;
    if report.left.is_empty() && marker.phase != Phase::Thinned {
        marker.enter(&checkout, Phase::Thinned)?;
    }
    Ok(report)
}

/// What [`thin`] would do, as far as looking can tell; nothing is written.
pub(crate) fn preview_thin(
    repo: &Repo,
    place: &ParkingPlace,
    fact: &SnapshotFact,
    policy: &ThinPolicy,
) -> Result<ThinReport, GitError> {
    let checkout = place.checkout();
    let manifest = match Marker::read(&checkout)? {
        Some(marker) if is_under_way(&marker, fact) => {
            Manifest::load(&Vault::find(repo)?, &marker.commit)?
        }
        _ => Manifest {
            items: inventory(repo, &checkout, policy)?
                .into_iter()
                .map(|(item, _)| item)
                .collect(),
        },
    };
    let mut report = ThinReport::default();
    for item in &manifest.items {
        let there = matches!(stamp_of(&place.parked_worktree, item), Ok(Some(_)));
        let path = bytes_to_path(&item.path);
        match (item.kind, &item.source) {
            (Kind::Kept, _) if item.path == b".git" => {}
            (Kind::Kept, _) => report.kept.push(path),
            (Kind::Dropped, _) => {
                report.freed_bytes += if there { item.size } else { 0 };
                report.dropped.push((path, item.size));
            }
            (Kind::File | Kind::Clean | Kind::Symlink, source)
                if there && !matches!(source, Source::SameAs(_)) =>
            {
                report.freed_bytes += item.size;
                report.stored_files += 1;
            }
            _ => {}
        }
    }
    Ok(report)
}

/// Whether the marker tells of files that are stored and perhaps deleted. Else all files are there.
pub(super) fn is_under_way(marker: &Marker, fact: &SnapshotFact) -> bool {
    match marker.phase {
        Phase::Thinning | Phase::Thinned | Phase::Refilling { .. } => true,
        Phase::Refilled { .. } => false,
        // Earlier versions left the marker of an earlier pause behind.
        Phase::Unsaid => marker.reference == fact.reference,
    }
}

/// Decides for each path, stores what has to be stored, and gives the commit that names it all.
fn store(
    repo: &Repo,
    place: &ParkingPlace,
    fact: &SnapshotFact,
    policy: &ThinPolicy,
    at: Timestamp,
) -> Result<String, GitError> {
    let checkout = place.checkout();
    let vault = Vault::find(repo)?;
    let _lock = vault.share()?;
    remove_stale_locks(&vault, instance_of(&fact.reference));
    let mut items = inventory(repo, &checkout, policy)?;
    forget_differing(&vault, &checkout.dir, &mut items)?;

    let mut import = Import::new(&checkout.dir, at);
    let mut edits = Vec::new();
    for (item, stamp) in &mut items {
        let content = matches!(item.kind, Kind::File | Kind::Clean | Kind::Symlink);
        if content && item.source == Source::Nowhere {
            let number = import.blob(Content::OnDisk(Found {
                path: item.path.clone(),
                stamp: *stamp,
            }));
            item.source = Source::Raw(number);
            edits.push(Edit::Put {
                mode: 0o100_644,
                path: raw_path(number),
                object: Object::Blob(number),
            });
        }
    }
    let manifest = Manifest {
        items: items.into_iter().map(|(item, _)| item).collect(),
    };
    let number = import.blob(Content::Bytes(manifest.to_bytes()));
    edits.push(Edit::Put {
        mode: 0o100_644,
        path: b"manifest".to_vec(),
        object: Object::Blob(number),
    });
    import.commit(Commit {
        message: format!("bivouac: content of {}", fact.reference),
        from: None,
        // The snapshot is a parent of this commit: what keeps the commit keeps all that the index names.
        parents: vec![Object::Id(fact.commit.clone())],
        edits,
    });
    let imported = import.run(&vault, &thinned_name(&fact.reference))?;
    if !imported.unsettled.is_empty() {
        return Err(GitError::Unsettled {
            paths: imported.unsettled,
        });
    }
    let commit =
        imported
            .commits
            .into_iter()
            .next_back()
            .ok_or_else(|| GitError::SnapshotMissing {
                reference: thinned_name(&fact.reference),
            })?;
    // The base commits of the snapshot cover this commit too.
    complete(&vault, &[&commit], std::slice::from_ref(&fact.commit))?;
    Ok(commit)
}
