//! The refs under which snapshots live: listed, released into a trash namespace, deleted when old.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::fact::SnapshotFact;
use super::keep::{keep_exactly, kept_commits, wanted};
use super::owner::owner;
use super::refs::{HELD, TRASH, instance_of, thinned_name};
use super::repository::Vault;
use super::stale_locks::remove_stale_locks;
use crate::git::{GitError, Repo};
use crate::model::{InstanceId, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredSnapshot {
    pub reference: String,
    pub commit: String,
    /// When it was released, in seconds since the epoch; None while it is in use, and for one that
    /// an earlier version has released.
    pub released: Option<i64>,
    /// The home that saved it; None where an earlier version did.
    pub home: Option<PathBuf>,
    /// What the ref itself names: the commit, or the tag that says when it was released.
    object: String,
}

impl StoredSnapshot {
    /// The instance that it belongs to, if its name is one of ours.
    pub(crate) fn instance(&self) -> Option<InstanceId> {
        let rest = self
            .reference
            .strip_prefix(HELD)
            .or_else(|| self.reference.strip_prefix(TRASH))?;
        InstanceId::parse(rest.split('/').next()?)
    }
}

/// The snapshots of one instance, or of all, that are in use.
pub(crate) fn list_snapshots(
    repo: &Repo,
    id: Option<&InstanceId>,
) -> Result<Vec<StoredSnapshot>, GitError> {
    list(repo, HELD, id)
}

/// The snapshots that were released and are kept for a while.
pub(crate) fn list_trashed(
    repo: &Repo,
    id: Option<&InstanceId>,
) -> Result<Vec<StoredSnapshot>, GitError> {
    list(repo, TRASH, id)
}

fn list(
    repo: &Repo,
    namespace: &str,
    id: Option<&InstanceId>,
) -> Result<Vec<StoredSnapshot>, GitError> {
    let prefix = match id {
        Some(id) => format!("{namespace}{id}/"),
        None => namespace.to_owned(),
    };
    let Some(vault) = Vault::existing(repo)? else {
        return Ok(Vec::new());
    };
    let mut stored = stored_under(&vault, [prefix])?;
    for snapshot in &mut stored {
        snapshot.home = snapshot.instance().and_then(|id| owner(&vault, &id));
    }
    Ok(stored)
}

/// The snapshots that the vault has under these refs or namespaces, without their homes.
fn stored_under(
    vault: &Vault,
    patterns: impl IntoIterator<Item = String>,
) -> Result<Vec<StoredSnapshot>, GitError> {
    let listing = vault
        .git()
        .args([
            "for-each-ref",
            "--format=%(objectname)|%(*objectname)|%(taggerdate:unix)|%(refname)",
        ])
        .args(patterns)
        .text()?;
    let stored = listing.lines().filter_map(|line| {
        let mut words = line.splitn(4, '|');
        let (object, tagged) = (words.next()?, words.next()?);
        Some(StoredSnapshot {
            commit: if tagged.is_empty() { object } else { tagged }.to_owned(),
            object: object.to_owned(),
            released: words.next()?.parse().ok(),
            reference: words.next()?.to_owned(),
            home: None,
        })
    });
    Ok(stored.collect())
}

/// Moves the ref (and that of its thinned content) into the trash namespace, where it keeps the
/// work alive until it expires. It expires by when it was released, not by when it was taken: the ref
/// names a tag with that time. Doing it twice is fine, and changes no time.
pub(crate) fn release_snapshot(
    repo: &Repo,
    reference: &str,
    at: Timestamp,
) -> Result<(), GitError> {
    let name = reference
        .strip_prefix(HELD)
        .or_else(|| reference.strip_prefix(TRASH))
        .ok_or_else(|| GitError::SnapshotMissing {
            reference: reference.to_owned(),
        })?;
    let vault = Vault::find(repo)?;
    // A collection that lists the refs meanwhile could find the snapshot under neither name.
    let _lock = vault.share()?;
    remove_stale_locks(&vault, instance_of(reference));
    let names = [name.to_owned(), thinned_name(name)];
    let held = match held_on_disk(&vault, &names) {
        Some(held) => held,
        None => {
            let references = names
                .iter()
                .flat_map(|name| [HELD, TRASH].map(|namespace| format!("{namespace}{name}")));
            let stored = stored_under(&vault, references)?;
            if stored.is_empty() {
                return Err(GitError::SnapshotMissing {
                    reference: reference.to_owned(),
                });
            }
            let named = stored.into_iter().map(|it| (it.reference, it.commit));
            named.collect()
        }
    };
    let mut changes: Vec<String> = Vec::new();
    let mut released: Vec<String> = Vec::new();
    for (reference, commit) in &held {
        if let Some(name) = reference.strip_prefix(HELD) {
            let tag = released_tag(&vault, commit, at)?;
            changes.push(format!(
                "update {TRASH}{name} {tag}\ndelete {reference} {commit}\n"
            ));
            released.push(format!("{TRASH}{name}"));
        }
    }
    if !changes.is_empty() {
        change_refs(&vault, changes.concat())?;
    }
    // A new name without its content is no ref. git itself would write the content first, and a power cut
    // would then leave its lock file, too.
    released
        .iter()
        .try_for_each(|reference| vault.sync_ref(reference))
}

/// Which of these snapshots are in use, with their commits, read without git: in a vault where no ref is packed,
/// each has a file. None if there is none of them, or git has to say.
fn held_on_disk(vault: &Vault, names: &[String]) -> Option<Vec<(String, String)>> {
    if vault.dir().join("packed-refs").exists() || vault.dir().join("reftable").exists() {
        return None;
    }
    let mut held = Vec::new();
    for name in names {
        let reference = format!("{HELD}{name}");
        match std::fs::read_to_string(vault.dir().join(&reference)) {
            Ok(text) => {
                let id = text.strip_suffix('\n')?;
                let whole = id.len() == vault.repo().id_length()
                    && id.bytes().all(|byte| byte.is_ascii_hexdigit());
                held.push((reference, whole.then(|| id.to_owned())?));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    (!held.is_empty()).then_some(held)
}

/// The same for a snapshot whose commit is known. A power cut can leave it without any name: it is named
/// again as released.
pub(crate) fn release_known(
    repo: &Repo,
    snapshot: &SnapshotFact,
    at: Timestamp,
) -> Result<(), GitError> {
    match release_snapshot(repo, &snapshot.reference, at) {
        Err(missing @ GitError::SnapshotMissing { .. }) => match name_again(repo, snapshot, at)? {
            true => Ok(()),
            false => Err(missing),
        },
        released => released,
    }
}

/// Whether the commit was still there, and has a name in the trash namespace now.
fn name_again(repo: &Repo, snapshot: &SnapshotFact, at: Timestamp) -> Result<bool, GitError> {
    let Some(name) = snapshot.reference.strip_prefix(HELD) else {
        return Ok(false);
    };
    let vault = Vault::find(repo)?;
    let _lock = vault.share()?;
    let commit = format!("{}^{{commit}}", snapshot.commit);
    let there = vault.git().args(["cat-file", "-e", &commit]).output()?;
    if !there.success() {
        return Ok(false);
    }
    vault.forget_empty_ref(&format!("{TRASH}{name}"))?;
    let tag = released_tag(&vault, &snapshot.commit, at)?;
    let released = format!("{TRASH}{name}");
    change_refs(&vault, format!("create {released} {tag}\n"))?;
    vault.sync_ref(&released)?;
    Ok(true)
}

fn change_refs(vault: &Vault, changes: String) -> Result<(), GitError> {
    let update = vault.git().args(["update-ref", "--stdin"]);
    update.stdin(changes).run()?;
    Ok(())
}

/// A tag that says when a commit was released; on the disk when it returns, because the ref that
/// names it will be.
fn released_tag(vault: &Vault, commit: &str, at: Timestamp) -> Result<String, GitError> {
    let text = format!(
        "object {commit}\ntype commit\ntag released\n\
         tagger bivouac <bivouac@localhost> {} +0000\n\nreleased\n",
        at.seconds_since_epoch()
    );
    Ok(vault
        .git()
        .args(["-c", "core.fsync=all", "mktag"])
        .stdin(text)
        .text()?)
}

/// Those of our released snapshots whose time is over: released before this moment. One that an earlier
/// version has released without a time is not among them.
pub(crate) fn list_expired(
    repo: &Repo,
    before: Timestamp,
    ours: impl Fn(&StoredSnapshot) -> bool,
) -> Result<Vec<StoredSnapshot>, GitError> {
    let mut trashed = list_trashed(repo, None)?;
    let before = before.seconds_since_epoch();
    trashed
        .retain(|stored| stored.released.is_some_and(|released| released < before) && ours(stored));
    Ok(trashed)
}

/// Deletes those of our released snapshots whose time is over, and gives back what was deleted; the time of
/// those that have none begins now.
pub(crate) fn delete_expired(
    repo: &Repo,
    before: Timestamp,
    now: Timestamp,
    ours: impl Fn(&StoredSnapshot) -> bool,
) -> Result<Vec<StoredSnapshot>, GitError> {
    begin_times(repo, now, &ours)?;
    let expired = list_expired(repo, before, ours)?;
    if expired.is_empty() {
        return Ok(expired);
    }
    let changes: String = expired
        .iter()
        .map(|stored| format!("delete {} {}\n", stored.reference, stored.object))
        .collect();
    let vault = Vault::find(repo)?;
    let _lock = vault.exclude()?;
    remove_stale_locks(&vault, None);
    vault
        .git()
        .args(["update-ref", "--stdin"])
        .stdin(changes)
        .run()?;
    let instances: BTreeSet<InstanceId> = expired
        .iter()
        .filter_map(StoredSnapshot::instance)
        .collect();
    for id in &instances {
        keep_exactly(&vault, id, before)?;
    }
    Ok(expired)
}

fn begin_times(
    repo: &Repo,
    now: Timestamp,
    ours: impl Fn(&StoredSnapshot) -> bool,
) -> Result<(), GitError> {
    let Some(vault) = Vault::existing(repo)? else {
        return Ok(());
    };
    let _lock = vault.share()?;
    let mut changes: Vec<String> = Vec::new();
    for stored in list_trashed(repo, None)? {
        if stored.released.is_none() && ours(&stored) {
            let tag = released_tag(&vault, &stored.commit, now)?;
            changes.push(format!(
                "update {} {tag} {}\n",
                stored.reference, stored.object
            ));
        }
    }
    if !changes.is_empty() {
        change_refs(&vault, changes.concat())?;
    }
    Ok(())
}

/// Whether all base commits of an instance's snapshots are protected. A fetch that mirrors another
/// repository, or the user, may have deleted the ref.
pub(crate) fn is_kept(repo: &Repo, id: &InstanceId) -> Result<bool, GitError> {
    let Some(vault) = Vault::existing(repo)? else {
        return Ok(true);
    };
    let _lock = vault.share()?;
    let wanted = wanted(&vault, id)?.0;
    Ok(wanted.is_subset(&kept_commits(repo, id.as_str())?))
}

/// Protects them again, as far as they are still there.
pub(crate) fn restore_keep(repo: &Repo, id: &InstanceId, at: Timestamp) -> Result<(), GitError> {
    let vault = Vault::find(repo)?;
    let _lock = vault.exclude()?;
    keep_exactly(&vault, id, at)
}
