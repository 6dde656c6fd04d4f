//! Landings that are refused before anything is changed, each with a code of its own; and work that needs no
//! landing.

use crate::land::{commit, main_of, with_commit};
use crate::land_cases::read;
use crate::support::{Camp, Repository};

/// Lands `feature`, expects this code, and that nothing has changed.
#[track_caller]
fn refused(camp: &Camp, repository: &Repository, more: &[&str], exit: i32, code: &str) {
    let before = (main_of(repository), repository.branches());
    let land = camp.biv([&["land", "--json", "feature"], more].concat());
    let error = land.run().fails(exit).error();
    assert_eq!(error["code"], code, "{error:#}");
    assert!(!error["hint"].as_str().unwrap_or_default().is_empty());
    assert_eq!((main_of(repository), repository.branches()), before);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn merge_ff_is_as_in_the_users_git() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let _instance = with_commit(&camp, &repository, "feature", "new.txt");
    repository.git(&["config", "merge.ff", "false"]);
    drop(camp.biv(["land", "--keep", "feature"]).run().ok());
    let parents = repository.git(&["log", "-1", "--format=%P", "main"]);
    assert_eq!(parents.split(' ').count(), 2);

    let _second = with_commit(&camp, &repository, "second", "two.txt");
    repository.write("other.txt", "other\n");
    repository.commit("other");
    repository.git(&["config", "merge.ff", "only"]);
    let before = main_of(&repository);
    let error = camp
        .biv(["land", "--json", "second"])
        .run()
        .fails(6)
        .error();
    assert_eq!(error["code"], "fast_forward_only");
    assert_eq!(main_of(&repository), before);
    // Then it is a fast-forward.
    drop(camp.biv(["land", "--rebase", "second"]).run().ok());
    assert!(repository.path.join("two.txt").exists());
}

#[test]
fn work_in_the_middle_of_a_merge_is_refused() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    commit(&repository, &instance, "README.md", "theirs\n");
    repository.write("README.md", "ours\n");
    repository.commit("ours");
    let checkout = repository.seen_from(&instance.worktree);
    assert!(!checkout.try_git(&["merge", "main"]).status.success());
    refused(&camp, &repository, &[], 4, "in_progress");
    refused(&camp, &repository, &["--commit"], 4, "in_progress");
    // Conflicts without an operation, as after `git stash pop`.
    std::fs::remove_file(
        repository
            .path
            .join(".git/worktrees")
            .join(instance.worktree.file_name().unwrap())
            .join("MERGE_HEAD"),
    )
    .unwrap();
    refused(&camp, &repository, &["--commit"], 4, "unmerged");
    assert!(read(&instance.worktree.join("README.md")).contains("<<<<<<<"));
}

#[test]
fn a_repository_inside_the_worktree_is_not_landed_as_a_link() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    let inner = instance.worktree.join("inner");
    std::fs::create_dir(&inner).unwrap();
    let inside = repository.seen_from(&inner);
    inside.git(&["init", "-q"]);
    inside.write("file.txt", "only here\n");
    inside.commit("inside");
    refused(&camp, &repository, &["--commit"], 4, "nested_repository");
    refused(&camp, &repository, &[], 4, "uncommitted");
    assert_eq!(read(&inner.join("file.txt")), "only here\n");
}

#[test]
fn uncommitted_work_whose_files_were_freed_has_to_be_resumed_first() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    repository
        .seen_from(&instance.worktree)
        .write("more.txt", "more\n");
    let pause = ["pause", "--remove-worktree", "feature"];
    drop(camp.biv(pause).run().ok());
    refused(&camp, &repository, &["--commit"], 4, "put_away");
    drop(camp.biv(["resume", "feature"]).run().ok());
    instance.wait_idle(&camp);
    assert_eq!(read(&instance.worktree.join("more.txt")), "more\n");
    drop(camp.biv(["land", "--commit", "feature"]).run().ok());
    assert_eq!(repository.git(&["show", "main:more.txt"]), "more");
}

#[test]
fn a_branch_lands_neither_on_itself_nor_on_what_is_no_branch() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    repository.git(&["tag", "v1"]);
    let instance = camp.start(&repository, "feature", &["--base", "v1"]);
    instance.wait_idle(&camp);
    commit(&repository, &instance, "new.txt", "new\n");
    refused(&camp, &repository, &[], 2, "no_target");
    refused(
        &camp,
        &repository,
        &["--into", "biv/feature"],
        2,
        "own_branch",
    );
    refused(&camp, &repository, &["--into", "nowhere"], 1, "git");
    drop(camp.biv(["land", "--into", "main", "feature"]).run().ok());
    assert!(repository.path.join("new.txt").exists());
}

#[test]
fn work_that_the_target_has_already_ends_the_instance_and_moves_nothing() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = with_commit(&camp, &repository, "feature", "new.txt");
    repository.git(&["merge", "-q", "--ff-only", "biv/feature"]);
    let before = main_of(&repository);
    let check = ["--check", "false"];
    let land = camp.biv([&["land", "--json", "feature"], &check[..]].concat());
    let landed = land.run().ok().json();
    assert_eq!(landed["landed"][0]["by"], "already-there");
    assert_eq!(main_of(&repository), before);
    assert_eq!(camp.show(&instance)["state"], "killed");
}

/// Git LFS itself: the content comes into the checkout that follows, and a check sees it.
#[test]
fn lfs_files_land_with_their_content() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let installed = repository.try_git(&["lfs", "install", "--local"]);
    assert!(
        installed.status.success(),
        "git-lfs is needed: scripts/setup installs it: {installed:?}"
    );
    repository.git(&["lfs", "track", "*.bin"]);
    repository.commit("track");
    let instance = camp.start(&repository, "feature", &[]);
    instance.wait_idle(&camp);
    commit(&repository, &instance, "large.bin", "large content\n");
    let pointer = repository.git(&["show", "biv/feature:large.bin"]);
    assert!(pointer.contains("git-lfs"), "{pointer}");
    repository.write("other.txt", "other\n");
    repository.commit("other");
    let check = "grep -qx 'large content' large.bin && test -z \"$(git status --porcelain)\"";
    drop(
        camp.biv(["land", "--keep", "--check", check, "feature"])
            .run()
            .ok(),
    );
    assert_eq!(read(&repository.path.join("large.bin")), "large content\n");
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    // And the checkout of the check goes from one version to the next.
    commit(&repository, &instance, "large.bin", "larger content\n");
    let check = "grep -qx 'larger content' large.bin && test -z \"$(git status --porcelain)\"";
    drop(camp.biv(["land", "--check", check, "feature"]).run().ok());
    assert_eq!(read(&repository.path.join("large.bin")), "larger content\n");
}
