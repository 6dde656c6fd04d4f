//! What goes from the vault, and what must not go with it.

use std::time::Duration;

use super::fingerprint::fingerprint;
use super::states::{Base, Lab, all, raw_git};
use super::{now, saved, scratch};
use crate::git::*;
use crate::model::{InstanceId, Timestamp};
use crate::vault::closure::lacking;
use crate::vault::repository::Vault;
use crate::vault::*;

/// Two instances share content; the snapshots of one go, the other's come back as they were although
/// the user's repository has collected its garbage, too.
#[test]
fn what_one_snapshot_needs_stays_when_another_goes() {
    for state in ["rebase-autostash", "untracked-many", "sha256"] {
        let state = all().into_iter().find(|s| s.name == state).unwrap();
        let home = tempfile::tempdir_in(scratch()).unwrap();
        let lab = state.make(&home.path().canonicalize().unwrap());
        let before = fingerprint(&lab.main, &lab.worktree);
        let repo = Repo::discover(&lab.worktree).unwrap();
        let checkout = Checkout::live(&repo, &lab.worktree).unwrap();
        let (gone, stays) = (InstanceId::random(), InstanceId::random());
        // The first has all that the second has, and more.
        std::fs::write(
            lab.worktree.join("only-in-the-first"),
            "x".repeat(5_000_000),
        )
        .unwrap();
        let first = saved(&repo, &checkout, &gone, 1).unwrap();
        std::fs::remove_file(lab.worktree.join("only-in-the-first")).unwrap();
        let fact = saved(&repo, &checkout, &stays, 1).unwrap();
        let place = choose_parking(&repo, &lab.worktree, &stays, 1).unwrap();
        park(&place).unwrap();
        thin(&repo, &place, &fact, &ThinPolicy::default(), now()).unwrap();

        let vault = Vault::find(&repo).unwrap();
        // Nothing of them is garbage yet.
        collect_vault(&repo, Duration::ZERO).unwrap();
        assert!(vault.resolve(&first.commit).unwrap().is_some());
        release_snapshot(&repo, &first.reference, now()).unwrap();
        let later = Timestamp::from_epoch(now().seconds_since_epoch() + 1).unwrap();
        let dropped = delete_expired(&repo, later, later, |_| true).unwrap();
        assert_eq!(dropped.len(), 1);
        let refs = lab.git_in(repo.common_dir(), &["for-each-ref", "--format=%(refname)"]);
        assert!(
            !refs.contains(gone.as_str()) && refs.contains(stays.as_str()),
            "{refs}"
        );
        assert_eq!(collect_vault(&repo, GRACE).unwrap(), 0, "it is too young");
        let freed = collect_vault(&repo, Duration::ZERO).unwrap();
        assert!(freed > 1_000, "{}: {freed}", state.name);
        assert!(vault.resolve(&first.commit).unwrap().is_none());
        let packs = std::fs::read_dir(vault.objects().join("pack")).unwrap();
        let packs = packs.filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|ending| ending == "pack")
        });
        assert_eq!(packs.count(), 1);

        for args in [&["gc", "-q", "--prune=now"][..], &["prune", "--expire=now"]] {
            assert!(raw_git(repo.common_dir(), args).status.success());
        }
        let kept = crate::vault::keep::kept_commits(&repo, stays.as_str()).unwrap();
        let base_commits: Vec<String> = kept.into_iter().collect();
        assert_eq!(
            lacking(&vault, &fact.commit, &base_commits).unwrap(),
            Vec::<String>::new()
        );
        refill(&repo, &place).unwrap();
        unpark(&place).unwrap();
        bring_objects_back(&repo, &fact).unwrap();
        settle_refill(&repo, &place.live_checkout()).unwrap();
        let after = fingerprint(&lab.main, &lab.worktree);
        let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
        assert!(lost.is_empty(), "{}: {lost:#?}", state.name);
    }
}

/// A collection lists the refs, and believes that each snapshot is under one of its two names.
#[test]
fn a_snapshot_is_not_released_while_refs_are_read() {
    let home = tempfile::tempdir_in(scratch()).unwrap();
    let lab = Lab::new(&home.path().canonicalize().unwrap(), Base::Plain);
    let repo = Repo::discover(&lab.worktree).unwrap();
    let checkout = Checkout::live(&repo, &lab.worktree).unwrap();
    let fact = saved(&repo, &checkout, &InstanceId::random(), 1).unwrap();
    let vault = Vault::find(&repo).unwrap();
    let collecting = vault.exclude().unwrap();
    std::thread::scope(|scope| {
        let release = scope.spawn(|| release_snapshot(&repo, &fact.reference, now()));
        std::thread::sleep(Duration::from_millis(200));
        assert!(!release.is_finished());
        assert!(vault.resolve(&fact.reference).unwrap().is_some());
        drop(collecting);
        release.join().unwrap().unwrap();
    });
    assert_eq!(vault.resolve(&fact.reference).unwrap(), None);
}
