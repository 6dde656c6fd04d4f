use std::path::{Path, PathBuf};
use std::process::Command;

use super::{now, saved};
use crate::git::*;
use crate::model::{InstanceId, Timestamp};
use crate::vault::*;

fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=T", "-c", "user.email=t@t"])
        .args(args)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with one commit, and the path where a worktree may go.
fn repository() -> (tempfile::TempDir, Repo, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("main");
    std::fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    std::fs::write(root.join("a"), "one\n").unwrap();
    std::fs::create_dir(root.join("d")).unwrap();
    std::fs::write(root.join("d/b"), "two\n").unwrap();
    std::fs::write(root.join(".gitignore"), "*.ign\n").unwrap();
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-qm", "first"]);
    let repo = Repo::discover(&root).unwrap();
    let worktree = home.path().join("wt");
    (home, repo, worktree)
}

fn plan(repo: &Repo, path: &Path) -> AddWorktree {
    AddWorktree {
        path: path.to_owned(),
        branch: BranchPlan::New {
            name: "work".to_owned(),
            start_commit: repo.resolve("HEAD").unwrap().unwrap(),
        },
        resume_partial: false,
        without_files: false,
    }
}

#[test]
fn a_repository_is_found_from_everywhere() {
    let (home, repo, worktree) = repository();
    repo.add_worktree(&plan(&repo, &worktree)).unwrap();
    assert_eq!(
        repo.root(),
        home.path().join("main").canonicalize().unwrap()
    );
    for dir in [
        worktree.clone(),
        worktree.join("d"),
        home.path().join("main/.git"),
    ] {
        assert_eq!(Repo::discover(&dir).unwrap(), repo, "{}", dir.display());
    }
    assert!(matches!(
        Repo::discover(home.path()),
        Err(GitError::NotARepository { .. })
    ));
    assert!(matches!(
        Repo::discover(&home.path().join("none")),
        Err(GitError::NoSuchDirectory { .. })
    ));
    let found = worktree_of(&worktree.join("d")).unwrap();
    assert_eq!(found.kind, WorktreeKind::Linked);
    assert_eq!(found.branch.as_deref(), Some("work"));
    assert_eq!(
        repo.branch_in_use("work").unwrap().as_deref(),
        Some(worktree.as_path())
    );
}

#[test]
fn branch_names_are_checked_before_they_hurt() {
    let (_home, repo, _) = repository();
    for bad in ["", "-x", "a..b", "@{-1}", "a b", "x.lock"] {
        assert!(
            matches!(
                repo.validate_branch_name(bad),
                Err(GitError::BranchName { .. })
            ),
            "{bad}"
        );
    }
    assert!(matches!(
        repo.validate_branch_name("main/x"),
        Err(GitError::BranchPrefix { .. })
    ));
    assert!(matches!(
        repo.validate_branch_name("main"),
        Err(GitError::BranchExists { .. })
    ));
    repo.validate_branch_name("mainly/x").unwrap();
}

#[test]
fn a_worktree_is_made_taken_up_and_taken_back() {
    let (_home, repo, worktree) = repository();
    let mut plan = plan(&repo, &worktree);
    let made = repo.add_worktree(&plan).unwrap();
    assert!(matches!(
        repo.add_worktree(&plan),
        Err(GitError::PathTaken { .. })
    ));
    plan.resume_partial = true;
    assert_eq!(repo.add_worktree(&plan).unwrap(), made);
    assert_eq!(
        repo.undo_add_worktree(&plan, Some(&made)).unwrap(),
        Undone::Removed
    );
    assert!(!worktree.exists());
    assert_eq!(repo.branch_commit("work").unwrap(), None);
    // Again, from what a cut-off attempt leaves at each stage.
    for stage in 0..3 {
        match stage {
            0 => std::fs::create_dir(&worktree).unwrap(),
            1 => drop(git(repo.root(), &["branch", "work"])),
            _ => drop(git(
                repo.root(),
                &[
                    "worktree",
                    "add",
                    "-q",
                    "--no-checkout",
                    "-b",
                    "work",
                    worktree.to_str().unwrap(),
                ],
            )),
        }
        let made = repo.add_worktree(&plan).unwrap();
        assert_eq!(std::fs::read(worktree.join("d/b")).unwrap(), b"two\n");
        // Something was added: it is moved aside, not deleted.
        std::fs::write(worktree.join("new.ign"), "x").unwrap();
        let undone = repo.undo_add_worktree(&plan, Some(&made)).unwrap();
        let Undone::MovedAside { to } = undone else {
            panic!("{undone:?}");
        };
        assert_eq!(std::fs::read(to.join("new.ign")).unwrap(), b"x");
        assert_eq!(repo.branch_commit("work").unwrap(), None);
    }
}

#[test]
fn a_snapshot_holds_what_changed_and_can_be_applied_as_a_stash() {
    let (_home, repo, worktree) = repository();
    repo.add_worktree(&plan(&repo, &worktree)).unwrap();
    std::fs::write(worktree.join("a"), "staged\n").unwrap();
    git(&worktree, &["add", "a"]);
    std::fs::write(worktree.join("a"), "changed\n").unwrap();
    std::fs::write(worktree.join("new"), "untracked\n").unwrap();
    std::fs::remove_file(worktree.join("d/b")).unwrap();
    let base = repo.resolve("HEAD").unwrap();
    let live = diff_stat(&repo, &worktree, base.as_deref()).unwrap();
    assert_eq!((live.files, live.added, live.removed), (3, 2, 2));

    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &worktree).unwrap();
    let flight = preflight(&repo, &checkout).unwrap();
    assert_eq!(flight.unsavable, []);
    let fact = saved(&repo, &checkout, &id, 1).unwrap();
    assert_eq!(
        verify_snapshot(&repo, &checkout, &fact, None).unwrap(),
        Verification::Equal
    );
    assert_eq!(
        snapshot_diff_stat(&repo, &fact, base.as_deref()).unwrap(),
        live
    );
    let text = snapshot_diff_text(&repo, &fact, base.as_deref(), DiffOutput::Patch, false).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("+untracked") && text.contains("+changed"),
        "{text}"
    );
    let text = diff_text(&repo, &worktree, base.as_deref(), DiffOutput::Patch, false).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("+untracked") && text.contains("+changed"),
        "{text}"
    );

    let place = choose_parking(&repo, &worktree, &id, 1).unwrap();
    assert_eq!(park_state(&place).unwrap(), ParkState::InPlace);
    park(&place).unwrap();
    park(&place).unwrap();
    assert_eq!(park_state(&place).unwrap(), ParkState::Parked);
    assert_eq!(repo.worktrees().unwrap().len(), 1);
    assert_eq!(
        verify_snapshot(&repo, &place.checkout(), &fact, None).unwrap(),
        Verification::Equal
    );
    // What is written late is noticed.
    std::fs::write(place.parked_worktree.join("late"), "late").unwrap();
    assert_eq!(
        verify_snapshot(&repo, &place.checkout(), &fact, None).unwrap(),
        Verification::Differs {
            paths: vec![PathBuf::from("late")]
        }
    );
    let late = saved(&repo, &place.checkout(), &id, 2).unwrap();
    assert_eq!(
        verify_snapshot(&repo, &place.checkout(), &late, None).unwrap(),
        Verification::Equal
    );
    std::fs::remove_file(place.parked_worktree.join("late")).unwrap();
    // The branch is free meanwhile, and garbage is collected.
    git(repo.root(), &["gc", "-q", "--prune=now"]);
    git(repo.root(), &["worktree", "prune"]);
    unpark(&place).unwrap();
    unpark(&place).unwrap();
    bring_objects_back(&repo, &fact).unwrap();
    bring_objects_back(&repo, &fact).unwrap();
    assert_eq!(git(&worktree, &["show", ":a"]), "staged");
    assert_eq!(
        git(&worktree, &["status", "--porcelain"]),
        "MM a\n D d/b\n?? new"
    );

    release_known(&repo, &fact, now()).unwrap();
    release_known(&repo, &fact, now()).unwrap();
    assert_eq!(list_snapshots(&repo, Some(&id)).unwrap().len(), 1);
    let next_year = Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
    assert_eq!(list_expired(&repo, next_year, |_| true).unwrap().len(), 1);

    git(&worktree, &["reset", "-q", "--hard"]);
    git(&worktree, &["clean", "-qfd"]);
    let vault = repo.common_dir().join("bivouac/vault");
    let trashed = fact.reference.replace("/bivouac/", "/bivouac-trash/");
    git(
        &worktree,
        &["fetch", "-q", vault.to_str().unwrap(), &trashed],
    );
    git(
        &worktree,
        &["stash", "apply", "--index", "-q", "FETCH_HEAD"],
    );
    assert_eq!(git(&worktree, &["show", ":a"]), "staged");
    assert_eq!(
        git(&worktree, &["status", "--porcelain"]),
        "MM a\n D d/b\n?? new"
    );
}

#[test]
fn what_stands_in_the_way_is_never_replaced() {
    let (_home, repo, worktree) = repository();
    repo.add_worktree(&plan(&repo, &worktree)).unwrap();
    let place = choose_parking(&repo, &worktree, &InstanceId::random(), 1).unwrap();
    park(&place).unwrap();
    std::fs::create_dir(&worktree).unwrap();
    assert!(matches!(unpark(&place), Err(GitError::PathTaken { .. })));
    assert_eq!(park_state(&place).unwrap(), ParkState::Parked);
    std::fs::remove_dir(&worktree).unwrap();
    unpark(&place).unwrap();
    assert_eq!(git(&worktree, &["status", "--porcelain"]), "");
}

#[test]
fn what_expired_is_deleted_and_nothing_else_is() {
    let (_home, repo, worktree) = repository();
    repo.add_worktree(&plan(&repo, &worktree)).unwrap();
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &worktree).unwrap();
    let fact = saved(&repo, &checkout, &id, 1).unwrap();
    let place = choose_parking(&repo, &worktree, &id, 1).unwrap();
    park(&place).unwrap();
    let released = Timestamp::parse("2026-12-31T00:00:00Z").unwrap();
    release_snapshot(&repo, &fact.reference, released).unwrap();
    // Taken in November, released at the end of the year: the time counts from then.
    let between = Timestamp::parse("2026-12-24T00:00:00Z").unwrap();
    let late = Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
    assert_eq!(delete_expired(&repo, between, late, |_| true).unwrap(), []);
    release_snapshot(&repo, &fact.reference, late).unwrap();
    assert_eq!(list_expired(&repo, late, |_| true).unwrap().len(), 1);
    let gone = delete_expired(&repo, late, late, |_| true).unwrap();
    assert_eq!(gone[0].instance().as_ref(), Some(&id));
    discard_parked(&place).unwrap();
    discard_parked(&place).unwrap();
    assert_eq!(park_state(&place).unwrap(), ParkState::Lost);
    assert!(matches!(unpark(&place), Err(GitError::AdminLost { .. })));
    assert!(!place.admin.exists());
    let mut foreign = place;
    foreign.parked_worktree = repo.root().to_owned();
    assert!(matches!(
        discard_parked(&foreign),
        Err(GitError::NotAWorktree { .. })
    ));
    assert!(repo.root().join("a").exists());
}

#[test]
fn one_that_was_released_without_a_time_is_kept_from_when_it_is_first_seen() {
    let (_home, repo, worktree) = repository();
    repo.add_worktree(&plan(&repo, &worktree)).unwrap();
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &worktree).unwrap();
    let fact = saved(&repo, &checkout, &id, 1).unwrap();
    // As an earlier version did.
    let vault = repo.common_dir().join("bivouac/vault");
    let trashed = format!("refs/bivouac-trash/{id}/1");
    git(&vault, &["update-ref", &trashed, &fact.commit]);
    git(&vault, &["update-ref", "-d", &fact.reference]);
    let first = Timestamp::parse("2027-06-01T00:00:00Z").unwrap();
    let later = Timestamp::parse("2027-08-01T00:00:00Z").unwrap();
    assert_eq!(list_expired(&repo, later, |_| true).unwrap(), []);
    assert_eq!(delete_expired(&repo, first, first, |_| true).unwrap(), []);
    assert_eq!(delete_expired(&repo, first, later, |_| true).unwrap(), []);
    assert_eq!(
        delete_expired(&repo, later, later, |_| true).unwrap().len(),
        1
    );
}

#[test]
fn a_snapshot_that_has_lost_its_name_is_named_again_when_released() {
    let (_home, repo, worktree) = repository();
    repo.add_worktree(&plan(&repo, &worktree)).unwrap();
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &worktree).unwrap();
    let fact = saved(&repo, &checkout, &id, 1).unwrap();
    let vault = repo.common_dir().join("bivouac/vault");
    git(&vault, &["update-ref", "-d", &fact.reference]);
    // As a power cut leaves a new file: its name, and nothing of its content.
    let trashed = vault.join(format!("refs/bivouac-trash/{id}/1"));
    std::fs::create_dir_all(trashed.parent().unwrap()).unwrap();
    std::fs::write(&trashed, "").unwrap();
    release_known(&repo, &fact, now()).unwrap();
    release_known(&repo, &fact, now()).unwrap();
    let named = git(
        &vault,
        &[
            "rev-parse",
            &format!("refs/bivouac-trash/{id}/1^{{commit}}"),
        ],
    );
    assert_eq!(named, fact.commit);

    let unknown = SnapshotFact {
        reference: format!("refs/bivouac/{id}/2"),
        commit: "0123456789012345678901234567890123456789".to_owned(),
        ..fact
    };
    assert!(matches!(
        release_known(&repo, &unknown, now()),
        Err(GitError::SnapshotMissing { .. })
    ));
}

#[test]
fn the_main_checkout_can_be_saved_but_not_parked() {
    let (_home, repo, _) = repository();
    std::fs::write(repo.root().join("a"), "changed\n").unwrap();
    let checkout = Checkout::live(&repo, repo.root()).unwrap();
    let id = InstanceId::random();
    let fact = saved(&repo, &checkout, &id, 1).unwrap();
    assert_eq!(
        verify_snapshot(&repo, &checkout, &fact, None).unwrap(),
        Verification::Equal
    );
    assert!(matches!(
        choose_parking(&repo, repo.root(), &id, 1),
        Err(GitError::MainCheckout { .. })
    ));
}

#[test]
fn a_file_that_never_rests_does_not_stop_a_pause() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let (_home, repo, worktree) = repository();
    repo.add_worktree(&plan(&repo, &worktree)).unwrap();
    std::fs::write(worktree.join("calm"), "calm\n").unwrap();
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &worktree).unwrap();
    let over = AtomicBool::new(false);
    let (fact, place) = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Through an open handle: the rename does not stop it.
            let mut log = std::fs::File::create(worktree.join("restless")).unwrap();
            while !over.load(Ordering::Relaxed) {
                std::io::Write::write_all(&mut log, &[b'x'; 5000]).unwrap();
                if log.metadata().unwrap().len() > 20_000_000 {
                    log.set_len(0).unwrap();
                }
            }
        });
        let fact = saved(&repo, &checkout, &id, 1).unwrap();
        let place = choose_parking(&repo, &worktree, &id, 1).unwrap();
        park(&place).unwrap();
        over.store(true, Ordering::Relaxed);
        (fact, place)
    });
    let verified = verify_snapshot(&repo, &place.checkout(), &fact, None).unwrap();
    assert!(
        matches!(verified, Verification::Differs { .. }),
        "{verified:?}"
    );
    let late = saved(&repo, &place.checkout(), &id, 2).unwrap();
    assert_eq!(
        verify_snapshot(&repo, &place.checkout(), &late, None).unwrap(),
        Verification::Equal
    );
    assert_eq!(
        git(
            &repo.common_dir().join("bivouac/vault"),
            &["show", &format!("{}^3:calm", fact.commit)]
        ),
        "calm"
    );
    let size = std::fs::metadata(place.parked_worktree.join("restless"))
        .unwrap()
        .len();
    let stored = git(
        &repo.common_dir().join("bivouac/vault"),
        &["cat-file", "-s", &format!("{}^3:restless", late.commit)],
    );
    assert_eq!(stored, size.to_string());
}

/// As a power cut leaves them in the middle of a change of refs.
#[test]
fn a_lock_that_nobody_holds_any_more_stops_nothing() {
    let (_home, repo, worktree) = repository();
    repo.add_worktree(&plan(&repo, &worktree)).unwrap();
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &worktree).unwrap();
    let first = saved(&repo, &checkout, &id, 1).unwrap();
    let vault = repo.common_dir().join("bivouac/vault");
    let locks = [
        vault.join(format!("refs/bivouac/{id}/1.lock")),
        vault.join(format!("refs/bivouac/{id}/2.lock")),
        vault.join(format!("refs/bivouac-trash/{id}/1.lock")),
        vault.join(format!("refs/bivouac-keep/{id}/2.lock")),
        vault.join("packed-refs.lock"),
        repo.common_dir()
            .join(format!("refs/bivouac-keep/{id}.lock")),
    ];
    let lock = |age: u64| {
        for path in &locks {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = std::fs::File::create(path).unwrap();
            let then = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
            file.set_modified(then).unwrap();
        }
    };
    git(
        &worktree,
        &["commit", "-q", "--allow-empty", "-m", "another base"],
    );
    // Those of a process that runs are respected.
    lock(1);
    saved(&repo, &checkout, &id, 2).unwrap_err();
    release_known(&repo, &first, now()).unwrap_err();
    assert!(locks.iter().all(|lock| lock.exists()));

    lock(600);
    saved(&repo, &checkout, &id, 2).unwrap();
    lock(600);
    release_known(&repo, &first, now()).unwrap();
    lock(600);
    let later = Timestamp::parse("2030-01-01T00:00:00Z").unwrap();
    let expired = delete_expired(&repo, later, later, |_| true).unwrap();
    assert_eq!(expired.len(), 1);
    assert!(!locks.iter().any(|lock| lock.exists()));
}
