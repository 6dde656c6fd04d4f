//! Every nasty state, parked and brought back, thinned and brought back.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::fingerprint::fingerprint;
use super::states::{Base, Lab, State, all, raw_git};
use super::{now, saved, scratch};
use crate::git::*;
use crate::model::InstanceId;
use crate::vault::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Obstacles {
    Parked,
    Thinned,
}

/// The worst that a user can do to a repository between two operations.
fn meanwhile(lab: &Lab) {
    for args in [
        &["worktree", "prune", "--expire=now"][..],
        &["reflog", "expire", "--all"],
        &[
            "-c",
            "gc.worktreePruneExpire=now",
            "gc",
            "-q",
            "--prune=now",
        ],
    ] {
        let settings = [
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "gc.reflogExpire=now",
            "-c",
            "gc.reflogExpireUnreachable=now",
        ];
        let output = raw_git(&lab.main, &[&settings[..], args].concat());
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Pauses and resumes; what went wrong on the way.
fn there_and_back(lab: &Lab, way: Obstacles) -> Result<Vec<String>, GitError> {
    let repo = Repo::discover(&lab.worktree)?;
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &lab.worktree)?;
    preflight(&repo, &checkout)?;
    let fact = saved(&repo, &checkout, &id, 1)?;
    let mut wrong = Vec::new();
    if verify_snapshot(&repo, &checkout, &fact, None)? != Verification::Equal {
        wrong.push("live: not equal to its snapshot".to_owned());
    }
    let place = choose_parking(&repo, &lab.worktree, &id, 1)?;
    park(&place)?;
    if verify_snapshot(&repo, &place.checkout(), &fact, None)? != Verification::Equal {
        wrong.push("parked: not equal to its snapshot".to_owned());
    }
    if lab.worktree.exists() || repo.worktrees()?.iter().any(|e| e.path == lab.worktree) {
        wrong.push("parked: still to be seen".to_owned());
    }
    if way == Obstacles::Thinned {
        let report = thin(&repo, &place, &fact, &ThinPolicy::default(), now())?;
        let left = std::process::Command::new("find")
            .arg(&place.parked_worktree)
            .args(["-type", "f"])
            .output()
            .unwrap();
        let left = String::from_utf8_lossy(&left.stdout).lines().count();
        if left > 1 + report.kept.len() {
            wrong.push(format!("thinned: {left} files are left, {:?}", report.kept));
        }
    }
    meanwhile(lab);
    let fsck = super::super::repository::Vault::find(&repo)?
        .git()
        .args(["fsck", "--full", "--no-dangling"])
        .output()?;
    if !fsck.success() {
        wrong.push(format!("vault: {}", fsck.stderr_text()));
    }
    if way == Obstacles::Thinned {
        refill(&repo, &place)?;
    }
    unpark(&place)?;
    bring_objects_back(&repo, &fact)?;
    settle_refill(&repo, &place.live_checkout())?;
    let verified = verify_snapshot(&repo, &place.live_checkout(), &fact, None)?;
    if verified != Verification::Equal {
        wrong.push(format!("restored: {verified:?}"));
    }
    release_snapshot(&repo, &fact.reference, now())?;
    Ok(wrong)
}

/// For each way what did not come back, empty where all did.
fn round_trips(state: &State) -> Vec<(Obstacles, Vec<String>)> {
    let home = tempfile::tempdir_in(scratch()).unwrap();
    let lab = state.make(&home.path().canonicalize().unwrap());
    let mut before = fingerprint(&lab.main, &lab.worktree);
    let mut results = Vec::new();
    for way in [Obstacles::Parked, Obstacles::Thinned] {
        let mut wrong = match there_and_back(&lab, way) {
            Ok(wrong) => wrong,
            Err(error) => vec![format!("error: {error} ({error:?})")],
        };
        let after = fingerprint(&lab.main, &lab.worktree);
        let lacks = |lines: &[String], line: &String| !lines.contains(line);
        wrong.extend(
            before
                .iter()
                .filter(|l| lacks(&after, l))
                .map(|l| format!("- {l}")),
        );
        wrong.extend(
            after
                .iter()
                .filter(|l| lacks(&before, l))
                .map(|l| format!("+ {l}")),
        );
        results.push((way, wrong));
        before = after;
    }
    results
}

#[test]
fn every_state_comes_back_parked_and_thinned() {
    let only = std::env::var("STATE").ok();
    let states: Vec<State> = all()
        .into_iter()
        .filter(|state| only.as_ref().is_none_or(|only| state.name == only))
        .collect();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(state) = states.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let results = std::panic::catch_unwind(|| round_trips(state))
                        .unwrap_or_else(|_| vec![(Obstacles::Parked, vec!["panicked".to_owned()])]);
                    for (way, wrong) in results {
                        if !wrong.is_empty() {
                            failures.lock().unwrap().push((state.name, way, wrong));
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    for (name, way, wrong) in &failures {
        println!("{name} {way:?}:");
        for line in wrong.iter().take(12) {
            println!("    {}", line.chars().take(300).collect::<String>());
        }
    }
    for way in [Obstacles::Parked, Obstacles::Thinned] {
        let failed = failures
            .iter()
            .filter(|(_, other, _)| *other == way)
            .count();
        println!(
            "{way:?}: {} of {} states came back exactly",
            states.len() - failed,
            states.len()
        );
    }
    assert!(failures.is_empty());
    assert!(only.is_some() || states.len() >= 60);
}

/// On a full disk one of the two parts of a snapshot may be written and the other not.
#[test]
fn a_snapshot_that_fails_leaves_no_ref_and_takes_none() {
    let home = tempfile::tempdir_in(scratch()).unwrap();
    let lab = Lab::new(&home.path().canonicalize().unwrap(), Base::Plain);
    let repo = Repo::discover(&lab.worktree).unwrap();
    let checkout = Checkout::live(&repo, &lab.worktree).unwrap();
    let id = InstanceId::random();
    let keeps = repo.common_dir().join("refs/bivouac-keep");
    std::fs::create_dir_all(&keeps).unwrap();
    let lock = keeps.join(format!("{id}.lock"));
    std::fs::write(&lock, "").unwrap();
    std::fs::write(lab.worktree.join("work"), "of hours\n").unwrap();
    saved(&repo, &checkout, &id, 1).unwrap_err();
    assert_eq!(list_snapshots(&repo, Some(&id)).unwrap(), []);

    std::fs::remove_file(&lock).unwrap();
    let fact = saved(&repo, &checkout, &id, 1).unwrap();
    lab.git(&["commit", "-q", "--allow-empty", "-m", "another base"]);
    std::fs::write(&lock, "").unwrap();
    saved(&repo, &checkout, &id, 1).unwrap_err();
    // It may be another snapshot under that name by now, but there is one.
    assert_eq!(list_snapshots(&repo, Some(&id)).unwrap().len(), 1);
    assert!(fact.reference.ends_with("/1"));
}
