//! What happens to the branch while its worktree is parked.

use super::saved;
use super::states::{Base, Lab};
use crate::git::*;
use crate::model::InstanceId;

struct Parked {
    _home: tempfile::TempDir,
    lab: Lab,
    repo: Repo,
    fact: SnapshotFact,
    place: ParkingPlace,
}

fn parked(base: Base, build: impl Fn(&Lab)) -> Parked {
    let home = tempfile::tempdir().unwrap();
    let lab = Lab::new(&home.path().canonicalize().unwrap(), base);
    build(&lab);
    let repo = Repo::discover(&lab.worktree).unwrap();
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &lab.worktree).unwrap();
    let fact = saved(&repo, &checkout, &id, 1).unwrap();
    let place = choose_parking(&repo, &lab.worktree, &id, 1).unwrap();
    park(&place).unwrap();
    Parked {
        _home: home,
        lab,
        repo,
        fact,
        place,
    }
}

/// Puts a commit on `work` from another checkout.
fn commit_elsewhere(lab: &Lab, path: &str, content: &str) {
    let other = lab.home.join("elsewhere");
    lab.git_in(
        &lab.main,
        &["worktree", "add", "-q", other.to_str().unwrap(), "work"],
    );
    std::fs::write(other.join(path), content).unwrap();
    lab.git_in(&other, &["add", "-A"]);
    lab.git_in(&other, &["commit", "-qm", "elsewhere"]);
    lab.git_in(&lab.main, &["worktree", "remove", other.to_str().unwrap()]);
}

fn edits(lab: &Lab) {
    lab.write("b.txt", "b\nmain\nstaged\n");
    lab.git(&["add", "b.txt"]);
    lab.write("dir/c.txt", "mine\n");
    lab.write("untracked", "u\n");
    lab.remove("bin.dat");
    lab.git(&["update-index", "--assume-unchanged", "empty"]);
}

#[test]
fn a_branch_that_stands_fits() {
    let p = parked(Base::Plain, edits);
    assert_eq!(
        branch_standing(&p.repo, &p.fact).unwrap(),
        BranchStanding::Same
    );
    let unborn = parked(Base::Unborn, |_| {});
    assert_eq!(
        branch_standing(&unborn.repo, &unborn.fact).unwrap(),
        BranchStanding::Same
    );
}

#[test]
fn work_is_carried_to_a_branch_that_went_on() {
    let p = parked(Base::Plain, edits);
    commit_elsewhere(&p.lab, "a.txt", "rewritten elsewhere\n");
    let standing = branch_standing(&p.repo, &p.fact).unwrap();
    let BranchStanding::Moved { to, forward, .. } = standing else {
        panic!("{standing:?}");
    };
    assert!(forward);
    let MergePlan::Clean(plan) = plan_merge(&p.repo, &p.fact, &to).unwrap() else {
        panic!("no conflict was expected");
    };
    unpark(&p.place).unwrap();
    let checkout = p.place.live_checkout();
    apply_merge(&p.repo, &checkout, &plan).unwrap();
    apply_merge(&p.repo, &checkout, &plan).unwrap();
    let status = "M  b.txt\n D bin.dat\n M dir/c.txt\n?? untracked";
    assert_eq!(p.lab.git(&["status", "--porcelain"]), status);
    assert_eq!(
        std::fs::read(p.lab.at("a.txt")).unwrap(),
        b"rewritten elsewhere\n"
    );
    assert!(p.lab.git(&["ls-files", "-v", "empty"]).starts_with('h'));
    // And back again, for a resume that is taken back.
    apply_merge(&p.repo, &checkout, &plan.reversed()).unwrap();
    assert_ne!(
        std::fs::read(p.lab.at("a.txt")).unwrap(),
        b"rewritten elsewhere\n"
    );
}

#[test]
fn a_conflict_changes_nothing() {
    let p = parked(Base::Plain, edits);
    commit_elsewhere(&p.lab, "dir/c.txt", "theirs\n");
    let BranchStanding::Moved { to, .. } = branch_standing(&p.repo, &p.fact).unwrap() else {
        panic!("the branch was moved");
    };
    let plan = plan_merge(&p.repo, &p.fact, &to).unwrap();
    let MergePlan::Conflict {
        files,
        with_markers,
    } = plan
    else {
        panic!("{plan:?}");
    };
    assert_eq!(files, [std::path::PathBuf::from("dir/c.txt")]);
    assert_eq!(park_state(&p.place).unwrap(), ParkState::Parked);
    assert_eq!(
        verify_snapshot(&p.repo, &p.place.checkout(), &p.fact, None).unwrap(),
        Verification::Equal
    );
    // With markers, on request.
    unpark(&p.place).unwrap();
    apply_merge(&p.repo, &p.place.live_checkout(), &with_markers).unwrap();
    let text = std::fs::read_to_string(p.lab.at("dir/c.txt")).unwrap();
    assert!(
        text.contains("<<<<<<<") && text.contains("mine") && text.contains("theirs"),
        "{text}"
    );
}

#[test]
fn an_untracked_file_in_the_way_is_not_overwritten() {
    let p = parked(Base::Plain, edits);
    commit_elsewhere(&p.lab, "untracked", "tracked now\n");
    let BranchStanding::Moved { to, .. } = branch_standing(&p.repo, &p.fact).unwrap() else {
        panic!("the branch was moved");
    };
    let MergePlan::Clean(plan) = plan_merge(&p.repo, &p.fact, &to).unwrap() else {
        panic!("trees do not conflict");
    };
    let result = apply_merge(&p.repo, &p.place.checkout(), &plan);
    assert!(
        matches!(result, Err(GitError::Conflict { .. })),
        "{result:?}"
    );
    assert_eq!(
        std::fs::read(p.place.parked_worktree.join("untracked")).unwrap(),
        b"u\n"
    );
}

#[test]
fn a_rebased_deleted_or_busy_branch_is_told_apart() {
    let p = parked(Base::Plain, edits);
    let (lab, repo) = (&p.lab, &p.repo);
    let was = p.fact.head.clone().unwrap();
    lab.git_in(&lab.main, &["checkout", "-q", "work"]);
    assert_eq!(
        branch_standing(repo, &p.fact).unwrap(),
        BranchStanding::Elsewhere {
            branch: "work".to_owned(),
            path: lab.main.clone()
        }
    );
    lab.git_in(&lab.main, &["rebase", "-q", "other"]);
    lab.git_in(&lab.main, &["checkout", "-q", "main"]);
    let BranchStanding::Moved { to, forward, .. } = branch_standing(repo, &p.fact).unwrap() else {
        panic!("the branch was rebased");
    };
    assert!(!forward);
    let MergePlan::Clean(plan) = plan_merge(repo, &p.fact, &to).unwrap() else {
        panic!("no conflict was expected");
    };
    lab.git_in(&lab.main, &["branch", "-q", "-D", "work"]);
    lab.git_in(&lab.main, &["reflog", "expire", "--expire=now", "--all"]);
    lab.git_in(&lab.main, &["gc", "-q", "--prune=now"]);
    assert_eq!(
        branch_standing(repo, &p.fact).unwrap(),
        BranchStanding::Deleted {
            branch: "work".to_owned(),
            was: was.clone()
        }
    );
    // The snapshot kept the commit alive.
    repo.create_branch("work", &was).unwrap();
    assert_eq!(
        branch_standing(repo, &p.fact).unwrap(),
        BranchStanding::Same
    );
    unpark(&p.place).unwrap();
    let status = "M  b.txt\n D bin.dat\n M dir/c.txt\n?? untracked";
    assert_eq!(lab.git(&["status", "--porcelain"]), status);
    assert_ne!(plan.from_worktree, plan.to_worktree);
}

#[test]
fn an_unborn_branch_that_got_commits_takes_the_work() {
    let p = parked(Base::Unborn, |lab| {
        lab.write("mine", "mine\n");
        lab.git(&["add", "mine"]);
    });
    let lab = &p.lab;
    let other = lab.home.join("elsewhere");
    lab.add_unborn(&other);
    std::fs::write(other.join("theirs"), "theirs\n").unwrap();
    lab.git_in(&other, &["add", "-A"]);
    lab.git_in(&other, &["commit", "-qm", "first"]);
    lab.git_in(&lab.main, &["worktree", "remove", other.to_str().unwrap()]);
    let BranchStanding::Moved { to, .. } = branch_standing(&p.repo, &p.fact).unwrap() else {
        panic!("the branch was born");
    };
    let MergePlan::Clean(plan) = plan_merge(&p.repo, &p.fact, &to).unwrap() else {
        panic!("no conflict was expected");
    };
    apply_merge(&p.repo, &p.place.checkout(), &plan).unwrap();
    unpark(&p.place).unwrap();
    assert_eq!(lab.git(&["status", "--porcelain"]), "A  mine");
    assert_eq!(std::fs::read(lab.at("theirs")).unwrap(), b"theirs\n");
}

#[test]
fn an_operation_in_progress_stays_where_it_began() {
    let p = parked(Base::Plain, |lab| {
        lab.git(&["merge", "-q", "--no-commit", "--no-ff", "other"]);
    });
    commit_elsewhere(&p.lab, "b.txt", "x\n");
    let result = plan_merge(&p.repo, &p.fact, "work");
    assert!(
        matches!(&result, Err(GitError::OperationInProgress { operation }) if operation == "merge"),
        "{result:?}"
    );
}
