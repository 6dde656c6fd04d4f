//! What others do to the repository while an instance is paused.

use std::path::{Path, PathBuf};

use crate::ground::{Ground, state};

impl Ground {
    fn branch(&self) -> &str {
        self.instance.branch.as_deref().expect("it has a branch")
    }

    /// Another user works on the branch in another worktree, which is removed afterwards.
    fn another_on_the_branch(&self, work: impl Fn(&Path)) {
        let elsewhere = self.lab.home.join("elsewhere");
        let path = elsewhere.to_str().unwrap();
        let git = |args: &[&str]| self.lab.git_in(&self.lab.main, args);
        git(&["worktree", "add", "-q", path, self.branch()]);
        work(&elsewhere);
        git(&["worktree", "remove", "--force", path]);
    }

    fn commit_in(&self, directory: &Path, name: &str, text: &str) {
        std::fs::write(directory.join(name), text).unwrap();
        self.lab.git_in(directory, &["add", "-A"]);
        self.lab.git_in(directory, &["commit", "-qm", name]);
    }

    /// What is different in the worktree itself, whatever became of branches and other checkouts.
    fn work_differences(&self) -> Vec<String> {
        let elsewhere = ["main ", "refs:", "worktrees:", "fsck:", "configuration:"];
        self.differences()
            .into_iter()
            .filter(|line| !elsewhere.iter().any(|what| line[2..].starts_with(what)))
            .collect()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.lab.worktree.join(name)).unwrap_or_default()
    }

    /// The resume is refused with this status and these words; the instance stays paused, whole.
    #[track_caller]
    fn refuses_to_resume(&self, status: i32, words: &[&str]) {
        let answer = self.biv(&["resume"]).fails(status);
        for word in words {
            assert!(answer.stderr.contains(word), "{word} in {}", answer.stderr);
        }
        assert!(answer.stderr.contains("hint: "), "{}", answer.stderr);
        assert_eq!(self.state(), "paused");
        assert_eq!(
            crate::rest::unrest(&self.camp, &self.instance),
            Vec::<String>::new()
        );
        assert!(!self.record()["vault"].is_null(), "the vault is whole");
    }
}

fn paused(name: &str) -> Ground {
    let ground = Ground::made(&state(name));
    drop(ground.biv(&["pause"]).ok());
    ground
}

/// Every path below a directory, with all that can be seen of it.
fn listed(dir: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    crate::fingerprint::files(dir, &mut lines);
    lines
}

#[test]
fn changes_are_carried_to_a_branch_that_moved() {
    for way in [&["pause"][..], &["pause", "--remove-worktree"]] {
        let ground = Ground::made(&state("mixed"));
        drop(ground.biv(way).ok());
        ground.another_on_the_branch(|dir| ground.commit_in(dir, "theirs", "theirs\n"));
        let tip = ground
            .lab
            .git_in(&ground.lab.main, &["rev-parse", ground.branch()]);
        drop(ground.biv(&["resume"]).ok());
        assert_eq!(ground.lab.git(&["rev-parse", "HEAD"]), tip);
        assert_eq!(ground.read("theirs"), "theirs\n");
        assert_eq!(ground.read("a.txt"), "on disk\n");
        assert_eq!(ground.lab.git(&["show", ":a.txt"]), "staged");
        assert_eq!(ground.read("new/untracked"), "u\n");
        assert_eq!(ground.read("x.log"), "ignored\n");
        assert!(!ground.lab.at("dir/c.txt").exists());
        let status = ground.lab.git(&["status", "--porcelain"]);
        assert_eq!(status, "MM a.txt\nA  added\n D dir/c.txt\n?? new/");
        assert_eq!(ground.unrest(), Vec::<String>::new());
    }
}

#[test]
fn a_conflict_stops_the_resume_and_changes_nothing() {
    let ground = paused("mixed");
    let was = ground
        .lab
        .git_in(&ground.lab.main, &["rev-parse", ground.branch()]);
    ground.another_on_the_branch(|dir| ground.commit_in(dir, "a.txt", "theirs\n"));
    ground.refuses_to_resume(6, &["a.txt", "--on-conflict"]);
    let json = ground.call(&["resume", "--json"]).run().fails(6);
    assert_eq!(
        json.error()["details"]["files"][0],
        "a.txt",
        "{}",
        json.stdout
    );
    assert!(!ground.lab.worktree.exists());

    // Moved back, all is as it was.
    let reference = format!("refs/heads/{}", ground.branch());
    ground
        .lab
        .git_in(&ground.lab.main, &["update-ref", &reference, &was]);
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.work_differences(), Vec::<String>::new());
}

#[test]
fn a_conflict_can_be_decided() {
    let ground = paused("modified");
    ground.another_on_the_branch(|dir| ground.commit_in(dir, "a.txt", "theirs\n"));
    drop(ground.biv(&["resume", "--on-conflict", "markers"]).ok());
    let text = ground.read("a.txt");
    for part in ["<<<<<<<", "changed", "=======", "theirs", ">>>>>>>"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn what_is_in_the_way_of_a_moved_branch_is_never_touched() {
    for way in [&["pause"][..], &["pause", "--remove-worktree"]] {
        let ground = Ground::made(&state("mixed"));
        ground.lab.write("build/x", "mine, ignored\n");
        ground.lab.write("keep.log", "mine, ignored\n");
        drop(ground.biv(way).ok());
        ground.another_on_the_branch(|dir| {
            std::fs::write(dir.join("build"), "a file").unwrap();
            std::fs::create_dir(dir.join("keep.log")).unwrap();
            std::fs::write(dir.join("keep.log/x"), "in a directory").unwrap();
            ground
                .lab
                .git_in(dir, &["add", "-f", "build", "keep.log/x"]);
            ground.lab.git_in(dir, &["commit", "-qm", "in the way"]);
        });
        ground.refuses_to_resume(6, &["build", "keep.log", "--on-conflict"]);
        let refused = ground.call(&["resume", "--json"]).run().fails(6);
        let files = &refused.error()["details"]["files"];
        assert_eq!(*files, serde_json::json!(["build", "keep.log"]));

        // Moved aside on request, under names that are said.
        let answer = ground.biv(&["resume", "--on-conflict", "markers"]).ok();
        for said in ["build.saved", "keep.log.saved"] {
            assert!(answer.stderr.contains(said), "{said} in {}", answer.stderr);
        }
        assert_eq!(ground.read("build"), "a file");
        assert_eq!(ground.read("keep.log/x"), "in a directory");
        assert_eq!(ground.read("build.saved/x"), "mine, ignored\n");
        assert_eq!(ground.read("keep.log.saved"), "mine, ignored\n");
        assert_eq!(ground.read("a.txt"), "on disk\n");
        assert_eq!(ground.unrest(), Vec::<String>::new());
    }
}

#[test]
fn a_resume_that_fails_after_a_merge_is_taken_back_whole() {
    for point in ["before", "after"] {
        let ground = paused("mixed");
        let was = ground
            .lab
            .git_in(&ground.lab.main, &["rev-parse", ground.branch()]);
        ground.another_on_the_branch(|dir| ground.commit_in(dir, "theirs", "theirs\n"));
        // Killed while it opens the session; the merge was made by then.
        let crashed = ground
            .call(&["resume"])
            .crash_at(&format!("resume:open-session:{point}"))
            .run();
        assert_ne!(crashed.status, Some(0));
        assert_eq!(ground.state(), "paused");
        let reference = format!("refs/heads/{}", ground.branch());
        ground
            .lab
            .git_in(&ground.lab.main, &["update-ref", &reference, &was]);
        drop(ground.biv(&["resume"]).ok());
        assert_eq!(ground.work_differences(), Vec::<String>::new());
        assert_eq!(ground.unrest(), Vec::<String>::new());
    }
}

#[test]
fn a_merge_that_is_killed_inside_is_taken_back_whole() {
    for way in [&["pause"][..], &["pause", "--remove-worktree"]] {
        let ground = Ground::made(&state("mixed"));
        ground.lab.write("build/x", "mine, ignored\n");
        let before = listed(&ground.lab.worktree);
        drop(ground.biv(way).ok());
        ground.another_on_the_branch(|dir| {
            std::fs::write(dir.join("build"), "a file").unwrap();
            ground.lab.git_in(dir, &["add", "-f", "build"]);
            ground.commit_in(dir, "a.txt", "theirs\n");
            ground.commit_in(dir, "own.txt", "theirs\n");
        });
        let place = ground.record()["vault"]["parking"]["parked_worktree"].clone();
        let place = PathBuf::from(place.as_str().unwrap());
        let mut whole = way.len() == 1;
        let mut cut = 0;
        loop {
            cut += 1;
            let crashed = ground
                .call(&["resume", "--on-conflict", "markers"])
                .crash_at(&format!("resume:bring-worktree:inside:{cut}"))
                .run();
            if crashed.status.is_some() {
                drop(crashed.ok());
                break;
            }
            // Every other time what takes it back is killed as well.
            if cut % 2 == 0 {
                let again = ground.call(&["show"]);
                drop(again.crash_at("resume:bring-worktree:inside:1").run());
            }
            assert_eq!(ground.state(), "paused", "killed behind effect {cut}");
            assert_eq!(
                crate::rest::unrest(&ground.camp, &ground.instance),
                Vec::<String>::new()
            );
            // What was thinned is whole at some point; from then on nothing changes any more.
            let lines = listed(&place);
            whole = whole || lines == before;
            if whole {
                assert_eq!(lines, before, "killed behind effect {cut}");
            }
        }
        assert!(cut > 8, "only {cut} effects");
        assert!(whole);
        assert_eq!(ground.read("build"), "a file");
        assert_eq!(ground.read("build.saved/x"), "mine, ignored\n");
        assert_eq!(ground.read("own.txt"), "theirs\n");
        assert_eq!(ground.unrest(), Vec::<String>::new());
    }
}

#[test]
fn kept_work_is_as_it_was_on_a_branch_of_its_own() {
    for (name, way) in [
        ("mixed", &["pause"][..]),
        ("mixed", &["pause", "--remove-worktree"]),
        ("merge-conflict", &["pause"]),
    ] {
        let ground = Ground::made(&state(name));
        drop(ground.biv(way).ok());
        let was = ground
            .lab
            .git_in(&ground.lab.main, &["rev-parse", ground.branch()]);
        ground.another_on_the_branch(|dir| ground.commit_in(dir, "a.txt", "theirs\n"));
        let tip = ground
            .lab
            .git_in(&ground.lab.main, &["rev-parse", ground.branch()]);
        ground.refuses_to_resume(6, &["--on-conflict keep"]);
        let kept = format!("{}-kept", ground.branch());
        let answer = ground.biv(&["resume", "--on-conflict", "keep"]).ok();
        assert!(answer.stderr.contains(&kept), "{}", answer.stderr);
        assert_eq!(ground.show()["branch"], kept.as_str());
        assert_eq!(ground.lab.git(&["rev-parse", "HEAD"]), was);
        assert_eq!(ground.lab.git(&["rev-parse", ground.branch()]), tip);
        assert_eq!(ground.lab.git(&["symbolic-ref", "--short", "HEAD"]), kept);
        // Only the name of the branch is another.
        let differing: Vec<String> = ground
            .work_differences()
            .into_iter()
            .filter(|line| !line.contains("refs/heads/") && !line.contains("branch.head"))
            .filter(|line| !line.contains(" admin HEAD: "))
            .collect();
        assert_eq!(differing, Vec::<String>::new(), "{name}");
        // Committing it does not take back what is on the moved branch.
        assert_eq!(ground.unrest(), Vec::<String>::new());

        // The next one finds another name.
        drop(ground.biv(&["pause"]).ok());
        ground
            .lab
            .git_in(&ground.lab.main, &["branch", "-f", &kept, &tip]);
        let again = ground.biv(&["resume", "--on-conflict", "keep"]).ok();
        let next = format!("{kept}-kept");
        assert!(again.stderr.contains(&next), "{}", again.stderr);
        assert_eq!(ground.show()["branch"], next.as_str());
    }
}

#[test]
fn without_a_conflict_keep_follows_the_branch() {
    let ground = paused("modified");
    ground.another_on_the_branch(|dir| ground.commit_in(dir, "theirs", "theirs\n"));
    drop(ground.biv(&["resume", "--on-conflict", "keep"]).ok());
    assert_eq!(ground.show()["branch"], ground.branch());
    assert_eq!(ground.read("theirs"), "theirs\n");
    assert_eq!(ground.read("a.txt"), "changed\n");
}

#[test]
fn a_deleted_branch_comes_back_with_its_work() {
    let ground = paused("mixed");
    ground
        .lab
        .git_in(&ground.lab.main, &["branch", "-q", "-D", ground.branch()]);
    ground
        .lab
        .git_in(&ground.lab.main, &["gc", "-q", "--prune=now"]);
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.work_differences(), Vec::<String>::new());
    assert_eq!(ground.unrest(), Vec::<String>::new());
}

#[test]
fn a_rebased_branch_is_followed() {
    let ground = paused("untracked");
    ground.another_on_the_branch(|dir| drop(ground.lab.git_in(dir, &["rebase", "-q", "third"])));
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.read("new"), "x");
    assert_eq!(ground.read("third.txt"), "third");
    assert_eq!(ground.lab.git(&["status", "--porcelain"]), "?? new");
}

#[test]
fn a_merged_branch_is_still_its_own() {
    let ground = paused("mixed");
    ground.lab.git_in(
        &ground.lab.main,
        &["merge", "-q", "--no-edit", ground.branch()],
    );
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.work_differences(), Vec::<String>::new());
}

#[test]
fn a_branch_that_is_checked_out_elsewhere_is_left_there() {
    let ground = paused("mixed");
    ground
        .lab
        .git_in(&ground.lab.main, &["checkout", "-q", ground.branch()]);
    let main = ground.lab.main.display().to_string();
    ground.refuses_to_resume(1, &[ground.branch(), &main]);
    assert!(!ground.lab.worktree.exists());
    ground
        .lab
        .git_in(&ground.lab.main, &["checkout", "-q", "main"]);
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.work_differences(), Vec::<String>::new());
}

#[test]
fn what_stands_at_its_path_is_never_touched() {
    let ground = paused("mixed");
    let path = ground.lab.worktree.clone();
    let shown = path.display().to_string();
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join("theirs"), "theirs").unwrap();
    ground.refuses_to_resume(1, &[&shown]);
    assert_eq!(
        std::fs::read_to_string(path.join("theirs")).unwrap(),
        "theirs"
    );
    std::fs::remove_dir_all(&path).unwrap();

    std::fs::write(&path, "a file").unwrap();
    ground.refuses_to_resume(1, &[&shown]);
    std::fs::remove_file(&path).unwrap();

    std::os::unix::fs::symlink("/nowhere", &path).unwrap();
    ground.refuses_to_resume(1, &[&shown]);
    std::fs::remove_file(&path).unwrap();

    // An empty directory may belong to another program.
    std::fs::create_dir(&path).unwrap();
    ground.refuses_to_resume(1, &[&shown]);
    assert!(path.is_dir());
    std::fs::remove_dir(&path).unwrap();
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.work_differences(), Vec::<String>::new());
}

#[test]
fn the_directory_above_it_may_be_gone() {
    let ground = paused("mixed");
    std::fs::remove_dir_all(ground.camp.home().join("worktrees")).unwrap();
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.work_differences(), Vec::<String>::new());
}

#[test]
fn a_repository_that_was_moved_is_named() {
    let ground = paused("mixed");
    let main = &ground.lab.main;
    let shown = main.display().to_string();
    let away = ground.lab.home.join("moved");
    std::fs::rename(main, &away).unwrap();
    let answer = ground.biv(&["resume"]).fails(1);
    assert!(answer.stderr.contains(&shown), "{}", answer.stderr);
    assert_eq!(ground.state(), "paused");

    // Another repository at its place is not it.
    std::fs::create_dir(main).unwrap();
    ground.lab.git_in(main, &["init", "-q"]);
    let answer = ground.biv(&["resume"]);
    assert_ne!(
        answer.status,
        Some(0),
        "another repository was taken for it"
    );
    assert_eq!(ground.state(), "paused");
    std::fs::remove_dir_all(main).unwrap();

    std::fs::rename(&away, main).unwrap();
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.work_differences(), Vec::<String>::new());
}

#[test]
fn a_worktree_that_was_moved_aside_by_hand_is_missed_by_name() {
    let ground = paused("mixed");
    let parking = ground.parking();
    let away = ground.lab.home.join("away");
    std::fs::rename(&parking, &away).unwrap();
    let answer = ground.biv(&["resume"]);
    assert_ne!(answer.status, Some(0));
    assert_eq!(ground.state(), "paused");
    std::fs::rename(&away, &parking).unwrap();
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.work_differences(), Vec::<String>::new());
}
