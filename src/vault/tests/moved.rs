//! What happens to the branch while its worktree is parked.

use std::path::{Path, PathBuf};

use super::fingerprint::files as list_files;
use super::saved;
use super::states::{Base, Lab};
use crate::git::*;
use crate::model::InstanceId;
use crate::vault::*;

mod obstacles;

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

/// Every path below a directory (or itself) with its content, type, mode and time.
fn fingerprint_files(dir: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    if dir.is_dir() && !dir.is_symlink() {
        list_files(dir, &mut lines);
    } else if let Ok(content) = std::fs::read(dir) {
        lines.push(format!("{content:?}"));
    }
    lines
}

/// Puts a commit on `work` from another checkout.
fn commit_elsewhere(lab: &Lab, path: &str, content: &str) {
    work_elsewhere(lab, |dir| put(dir, path, content));
}

fn work_elsewhere(lab: &Lab, work: impl Fn(&Path)) {
    let other = lab.home.join("elsewhere");
    lab.git_in(
        &lab.main,
        &["worktree", "add", "-q", other.to_str().unwrap(), "work"],
    );
    work(&other);
    lab.git_in(&other, &["add", "-A", "--force"]);
    lab.git_in(&other, &["commit", "-qm", "elsewhere"]);
    lab.git_in(
        &lab.main,
        &["worktree", "remove", "--force", other.to_str().unwrap()],
    );
}

fn put(dir: &Path, path: &str, content: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
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
        branch_position(&p.repo, &p.fact).unwrap(),
        BranchPosition::Same
    );
    let unborn = parked(Base::Unborn, |_| {});
    assert_eq!(
        branch_position(&unborn.repo, &unborn.fact).unwrap(),
        BranchPosition::Same
    );
}

/// Where the branch stands now; it must have been moved.
fn tip(p: &Parked) -> String {
    match branch_position(&p.repo, &p.fact).unwrap() {
        BranchPosition::Moved { to, .. } => to,
        other => panic!("{other:?}"),
    }
}

fn clean_plan(p: &Parked) -> MergeFact {
    match plan_merge(&p.repo, &p.fact, &tip(p)).unwrap() {
        MergePlan::Clean(merge) => merge,
        MergePlan::Conflict { files, .. } => panic!("conflict in {files:?}"),
    }
}

/// Every path below the parked worktree with its content, type, mode and time.
fn look(p: &Parked) -> Vec<String> {
    fingerprint_files(&p.place.parked_worktree)
}

#[test]
fn work_is_carried_to_a_branch_that_went_on() {
    let p = parked(Base::Plain, edits);
    let before = look(&p);
    commit_elsewhere(&p.lab, "a.txt", "rewritten elsewhere\n");
    let merge = clean_plan(&p);
    assert!(
        find_obstacles(&p.repo, &p.place.checkout(), &p.fact, &merge)
            .unwrap()
            .is_empty()
    );
    carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
    carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
    unpark(&p.place).unwrap();
    let checkout = p.place.live_checkout();
    let proof = verify_carried(&p.repo, &checkout, &p.fact, &merge).unwrap();
    assert_eq!(proof, Carried::default());
    let status = "M  b.txt\n D bin.dat\n M dir/c.txt\n?? untracked";
    assert_eq!(p.lab.git(&["status", "--porcelain"]), status);
    assert_eq!(
        std::fs::read(p.lab.at("a.txt")).unwrap(),
        b"rewritten elsewhere\n"
    );
    assert!(p.lab.git(&["ls-files", "-v", "empty"]).starts_with('h'));
    // And back again, for a resume that is taken back: the very files return.
    park(&p.place).unwrap();
    assert_eq!(take_back_carry(&p.repo, &p.place).unwrap(), []);
    assert_eq!(take_back_carry(&p.repo, &p.place).unwrap(), []);
    assert_eq!(look(&p), before);
    assert_eq!(parked_names(&p), 2, "nothing of the merge is left");
}

/// How many things of the instance are in the parking place.
fn parked_names(p: &Parked) -> usize {
    let dir = p.place.parked_worktree.parent().unwrap();
    std::fs::read_dir(dir)
        .unwrap()
        .filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            let name = name.to_string_lossy();
            ["worktree-", "admin-", "merge-"]
                .iter()
                .any(|kind| name.starts_with(kind))
        })
        .count()
}

#[test]
fn settled_work_leaves_nothing_behind() {
    let p = parked(Base::Plain, edits);
    commit_elsewhere(&p.lab, "a.txt", "rewritten elsewhere\n");
    let merge = clean_plan(&p);
    carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
    unpark(&p.place).unwrap();
    assert_eq!(parked_names(&p), 1);
    assert_eq!(
        settle_carry(&p.place, &p.place.live_checkout()).unwrap(),
        []
    );
    assert_eq!(parked_names(&p), 0);
}

#[test]
fn a_conflict_changes_nothing() {
    let p = parked(Base::Plain, edits);
    commit_elsewhere(&p.lab, "dir/c.txt", "theirs\n");
    let plan = plan_merge(&p.repo, &p.fact, &tip(&p)).unwrap();
    let MergePlan::Conflict {
        files,
        with_markers,
        replaced,
    } = plan
    else {
        panic!("{plan:?}");
    };
    assert_eq!(files, [PathBuf::from("dir/c.txt")]);
    assert_eq!(replaced, Vec::<PathBuf>::new());
    assert_eq!(park_state(&p.place).unwrap(), ParkState::Parked);
    // The branch has moved; that alone may be said to differ.
    match verify_snapshot(&p.repo, &p.place.checkout(), &p.fact, None).unwrap() {
        Verification::Equal => {}
        Verification::Differs { paths } => assert_eq!(paths, [PathBuf::from("HEAD")]),
    }
    // With markers, on request.
    carry_over(&p.repo, &p.place, &p.fact, &with_markers).unwrap();
    unpark(&p.place).unwrap();
    let text = std::fs::read_to_string(p.lab.at("dir/c.txt")).unwrap();
    assert!(
        text.contains("<<<<<<<") && text.contains("mine") && text.contains("theirs"),
        "{text}"
    );
}

#[test]
fn a_binary_file_in_conflict_has_both_versions() {
    let p = parked(Base::Plain, |lab| lab.write("bin.dat", [0, 9, 9]));
    commit_elsewhere(&p.lab, "bin.dat", "\0theirs");
    let MergePlan::Conflict {
        with_markers,
        replaced,
        ..
    } = plan_merge(&p.repo, &p.fact, &tip(&p)).unwrap()
    else {
        panic!("both sides changed it");
    };
    assert_eq!(replaced, [PathBuf::from("bin.dat")]);
    let checkout = p.place.checkout();
    let merge = clear_obstacles(&p.repo, &checkout, &p.fact, with_markers, &replaced).unwrap();
    carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
    unpark(&p.place).unwrap();
    assert_eq!(std::fs::read(p.lab.at("bin.dat")).unwrap(), b"\0theirs");
    assert_eq!(std::fs::read(p.lab.at("bin.dat.saved")).unwrap(), [0, 9, 9]);
    let live = p.place.live_checkout();
    let proof = verify_carried(&p.repo, &live, &p.fact, &merge).unwrap();
    assert_eq!(proof, Carried::default());
}

#[test]
fn files_directories_and_links_change_places() {
    let p = parked(Base::Plain, |lab| lab.write("own.txt", "changed\n"));
    let before = look(&p);
    work_elsewhere(&p.lab, |dir| {
        std::fs::remove_dir_all(dir.join("dir")).unwrap();
        put(dir, "dir", "a file now\n");
        std::fs::remove_file(dir.join("a.txt")).unwrap();
        put(dir, "a.txt/deep/er", "a directory now\n");
        std::fs::remove_file(dir.join("link")).unwrap();
        put(dir, "link/x", "a directory now\n");
        std::fs::remove_file(dir.join("b.txt")).unwrap();
        std::os::unix::fs::symlink("empty", dir.join("b.txt")).unwrap();
    });
    let merge = clean_plan(&p);
    carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
    unpark(&p.place).unwrap();
    assert_eq!(p.lab.git(&["status", "--porcelain"]), " M own.txt");
    let live = p.place.live_checkout();
    let proof = verify_carried(&p.repo, &live, &p.fact, &merge).unwrap();
    assert_eq!(proof, Carried::default());
    park(&p.place).unwrap();
    take_back_carry(&p.repo, &p.place).unwrap();
    assert_eq!(look(&p), before);
}

/// A crash between any two moves, forward and back, leads back to what was there.
#[test]
fn a_merge_that_is_cut_off_anywhere_is_taken_back() {
    use crate::vault::moved::{carry_part, take_back_part};
    const MOST: usize = 40;
    let p = parked(Base::Plain, |lab| {
        lab.write("own.txt", "changed\n");
        lab.write("build/x", "ignored\n");
        lab.write("dir/x.log", "ignored\n");
        std::os::unix::fs::symlink("../outside", lab.at("new")).unwrap();
    });
    let before = look(&p);
    let index = std::fs::read(p.place.parked_admin.join("index")).unwrap();
    work_elsewhere(&p.lab, |dir| {
        std::fs::remove_dir_all(dir.join("dir")).unwrap();
        put(dir, "dir", "a file now\n");
        std::fs::remove_file(dir.join("a.txt")).unwrap();
        put(dir, "a.txt/deep/er", "a directory now\n");
        put(dir, "build", "a file\n");
        put(dir, "new/sub/a", "theirs\n");
        put(dir, "b.txt", "theirs\n");
    });
    let merge = clean_plan(&p);
    let merge = clear_obstacles(&p.repo, &p.place.checkout(), &p.fact, merge, &[]).unwrap();
    assert_eq!(merge.aside.len(), 3);
    for cut in 0..MOST {
        carry_part(&p.repo, &p.place, &p.fact, &merge, cut).unwrap();
        for again in [cut / 2, cut, 0] {
            take_back_part(&p.repo, &p.place, again).unwrap();
        }
        assert_eq!(take_back_carry(&p.repo, &p.place).unwrap(), []);
        assert_eq!(look(&p), before, "cut off after {cut} moves");
        let now = std::fs::read(p.place.parked_admin.join("index")).unwrap();
        assert!(now == index, "cut off after {cut} moves: the index");
        assert_eq!(parked_names(&p), 2);
    }
    // And forward from anywhere.
    for cut in 0..MOST {
        carry_part(&p.repo, &p.place, &p.fact, &merge, cut).unwrap();
    }
    carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
    unpark(&p.place).unwrap();
    let live = p.place.live_checkout();
    let proof = verify_carried(&p.repo, &live, &p.fact, &merge).unwrap();
    assert_eq!(proof, Carried::default());
}

#[test]
fn a_file_that_was_written_to_meanwhile_keeps_its_bytes() {
    let p = parked(Base::Plain, |_| {});
    commit_elsewhere(&p.lab, "a.txt", "theirs\n");
    let merge = clean_plan(&p);
    carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
    unpark(&p.place).unwrap();
    p.lab.write("a.txt", "an edit after the merge\n");
    park(&p.place).unwrap();
    let changed = take_back_carry(&p.repo, &p.place).unwrap();
    let [aside] = &changed[..] else {
        panic!("{changed:?}");
    };
    let at = |path: PathBuf| std::fs::read(p.place.parked_worktree.join(path)).unwrap();
    assert_eq!(at(aside.to()), b"an edit after the merge\n");
    assert!(at(PathBuf::from("a.txt")).starts_with(b"line 1\n"));
}

#[test]
fn a_rebased_deleted_or_busy_branch_is_told_apart() {
    let p = parked(Base::Plain, edits);
    let (lab, repo) = (&p.lab, &p.repo);
    let was = p.fact.head.clone().unwrap();
    lab.git_in(&lab.main, &["checkout", "-q", "work"]);
    assert_eq!(
        branch_position(repo, &p.fact).unwrap(),
        BranchPosition::Elsewhere {
            branch: "work".to_owned(),
            path: lab.main.clone()
        }
    );
    lab.git_in(&lab.main, &["rebase", "-q", "other"]);
    lab.git_in(&lab.main, &["checkout", "-q", "main"]);
    let BranchPosition::Moved { to, forward, .. } = branch_position(repo, &p.fact).unwrap() else {
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
        branch_position(repo, &p.fact).unwrap(),
        BranchPosition::Deleted {
            branch: "work".to_owned(),
            was: was.clone()
        }
    );
    // The snapshot kept the commit alive.
    repo.create_branch("work", &was).unwrap();
    assert_eq!(
        branch_position(repo, &p.fact).unwrap(),
        BranchPosition::Same
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
    let BranchPosition::Moved { to, .. } = branch_position(&p.repo, &p.fact).unwrap() else {
        panic!("the branch was born");
    };
    let merge = match plan_merge(&p.repo, &p.fact, &to).unwrap() {
        MergePlan::Clean(merge) => merge,
        MergePlan::Conflict { files, .. } => panic!("{files:?}"),
    };
    carry_over(&p.repo, &p.place, &p.fact, &merge).unwrap();
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

/// `keep` is for all that cannot be merged.
#[test]
fn kept_work_stands_on_its_own_branch_whatever_is_in_progress() {
    let states: [fn(&Lab); 3] = [
        edits,
        |lab| drop(lab.git(&["merge", "-q", "--no-commit", "--no-ff", "other"])),
        |lab| {
            lab.write("a.txt", "clash\n");
            lab.git(&["commit", "-qam", "clash"]);
            lab.git_fails(&["merge", "-q", "other"]);
        },
    ];
    for build in states {
        let p = parked(Base::Plain, build);
        let was = p.fact.head.clone().unwrap();
        commit_elsewhere(&p.lab, "b.txt", "x\n");
        let to = tip(&p);
        let before = look(&p);
        p.lab.git_in(&p.lab.main, &["branch", "work-kept", "main"]);
        let kept = Kept::choose(&p.repo, &p.fact, "work").unwrap();
        assert_eq!(kept.branch, "work-kept-2");
        let checkout = p.place.checkout();
        for _ in 0..2 {
            keep_on_branch(&p.repo, &checkout, &kept).unwrap();
        }
        unpark(&p.place).unwrap();
        assert_eq!(p.lab.git(&["symbolic-ref", "--short", "HEAD"]), kept.branch);
        assert_eq!(p.lab.git(&["rev-parse", "HEAD"]), was);
        assert_eq!(p.lab.git(&["rev-parse", "work"]), to);
        let expected = SnapshotFact {
            branch: Some(kept.branch.clone()),
            ..p.fact.clone()
        };
        assert_eq!(
            verify_snapshot(&p.repo, &p.place.live_checkout(), &expected, None).unwrap(),
            Verification::Equal
        );
        park(&p.place).unwrap();
        for _ in 0..2 {
            take_back_kept(&p.repo, &checkout, &kept).unwrap();
        }
        assert_eq!(look(&p), before);
        assert_eq!(p.repo.branch_commit(&kept.branch).unwrap(), None);
        assert_eq!(
            verify_snapshot(&p.repo, &checkout, &p.fact, None).unwrap(),
            Verification::Differs {
                paths: vec!["HEAD".into()]
            },
            "HEAD names the moved branch again, and nothing else differs"
        );
    }
}
