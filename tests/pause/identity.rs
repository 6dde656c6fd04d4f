//! A repository is known by its id, not by its place.

use std::path::{Path, PathBuf};

use crate::ground::{Ground, state};
use crate::support::Answer;

impl Ground {
    fn marker(&self) -> String {
        std::fs::read_to_string(self.parking().join("id")).expect("the marker")
    }

    /// The repository gets another place; the laboratory follows.
    fn moves_to(&mut self, name: &str) -> (PathBuf, PathBuf) {
        let old = self.lab.main.clone();
        let new = self.lab.home.join(name);
        std::fs::rename(&old, &new).unwrap();
        self.lab.main.clone_from(&new);
        (old, new)
    }

    fn repo_moved(&self, old: &Path, new: &Path) -> Answer {
        self.camp
            .biv([
                "repo",
                "moved",
                old.to_str().unwrap(),
                new.to_str().unwrap(),
            ])
            .run()
    }

    /// What differs in the worktree, apart from the places that it names.
    fn losses_of_work(&self) -> Vec<String> {
        self.differences()
            .into_iter()
            .filter(|line| {
                // Another instance of the same repository has a branch.
                if line.contains("refs/heads/biv/") {
                    return false;
                }
                // `.git` and git's record of the worktree hold the place of the repository.
                let of_place = ["path .git: ", "admin gitdir: ", "worktrees: "];
                !of_place.iter().any(|what| line[2..].starts_with(what))
            })
            .collect()
    }

    fn repository_shown(&self) -> String {
        self.show()["repo"].as_str().unwrap_or_default().to_owned()
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([from, to])
        .status()
        .unwrap();
    assert!(copied.success());
}

#[test]
fn a_moved_repository_is_found_where_the_command_is_run() {
    for way in [&["pause"][..], &["pause", "--remove-worktree"]] {
        let mut ground = Ground::made(&state("mixed"));
        let marker = ground.marker();
        drop(ground.biv(way).ok());
        let (old, new) = ground.moves_to("moved");
        // From anywhere else it is missed by name, with the command that helps.
        let refused = ground.call(&["resume"]).run().fails(1);
        let said = &refused.stderr;
        assert!(said.contains(old.to_str().unwrap()), "{said}");
        assert!(said.contains("biv repo moved "), "{said}");
        assert_eq!(ground.state(), "paused");

        let resumed = ground.call(&["resume"]).within(&new).run().ok();
        let said = &resumed.stderr;
        assert!(said.contains(new.to_str().unwrap()), "{said}");
        assert_eq!(ground.repository_shown(), new.to_str().unwrap());
        assert_eq!(ground.losses_of_work(), Vec::<String>::new());
        assert_eq!(ground.unrest(), Vec::<String>::new());
        assert_eq!(ground.marker(), marker);
        // And it goes on like any other, from anywhere.
        drop(ground.biv(&["pause"]).ok());
        drop(ground.biv(&["resume"]).ok());
        assert_eq!(ground.losses_of_work(), Vec::<String>::new());
    }
}

#[test]
fn instances_follow_a_repository_that_was_moved() {
    let mut ground = Ground::made(&state("mixed"));
    let running = crate::ground::start(&ground.camp, &ground.lab, "runs on");
    drop(ground.biv(&["pause"]).ok());
    let (old, new) = ground.moves_to("moved");
    let answer = ground
        .camp
        .biv(["repo", "moved", "--json"])
        .args([&old, &new])
        .run()
        .ok()
        .json();
    assert_eq!(answer["repository"]["from"], old.to_str().unwrap());
    assert_eq!(answer["repository"]["to"], new.to_str().unwrap());
    assert_eq!(
        answer["repository"]["id"].as_str(),
        Some(ground.marker().trim_end())
    );
    assert_eq!(answer["instances"].as_array().map(Vec::len), Some(2));
    // Git finds its way in the worktree of the one that runs.
    let status = ground
        .lab
        .git_in(&running.worktree, &["status", "--porcelain"]);
    assert_eq!(status, "");
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.losses_of_work(), Vec::<String>::new());
    assert_eq!(ground.unrest(), Vec::<String>::new());
    // Said again there is nothing there any more.
    let again = ground.repo_moved(&old, &new).fails(1);
    assert!(
        again.stderr.contains(old.to_str().unwrap()),
        "{}",
        again.stderr
    );
}

#[test]
fn a_worktree_inside_the_repository_moves_with_it() {
    let state = state("mixed");
    let mut ground = Ground::made(&state);
    let inside = ground.lab.main.join(".worktrees/own");
    let path = inside.to_str().unwrap().to_owned();
    ground.lab.git_in(
        &ground.lab.main,
        &["worktree", "add", "-q", "-b", "own", &path, "work"],
    );
    let adopt = ["adopt", "--json", &path, "own", "-a", "still", "--"];
    let call = ground.camp.biv(adopt).args(["sh", "-c", "exec cat"]);
    drop(call.run().ok());
    std::fs::write(inside.join("mine"), "mine\n").unwrap();
    drop(ground.camp.biv(["pause", "own"]).run().ok());
    drop(ground.biv(&["pause"]).ok());
    let (old, new) = ground.moves_to("moved");
    drop(ground.repo_moved(&old, &new).ok());
    drop(ground.camp.biv(["resume", "own"]).run().ok());
    let there = new.join(".worktrees/own");
    assert_eq!(
        std::fs::read_to_string(there.join("mine")).unwrap(),
        "mine\n"
    );
    assert_eq!(
        ground.lab.git_in(&there, &["status", "--porcelain"]),
        "?? mine"
    );
}

#[test]
fn a_link_in_the_old_place_leads_to_it() {
    let mut ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["pause"]).ok());
    let (old, new) = ground.moves_to("moved");
    std::os::unix::fs::symlink(&new, &old).unwrap();
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.repository_shown(), new.to_str().unwrap());
    assert_eq!(ground.losses_of_work(), Vec::<String>::new());

    // The one that was reached by a link from the start is the same, too.
    let link = ground.lab.home.join("link");
    std::os::unix::fs::symlink(&new, &link).unwrap();
    let repo = link.to_str().unwrap();
    let listed = ground.camp.biv(["list", "--json", "--repo", repo]).run();
    assert_eq!(
        listed.ok().json()["instances"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn a_copy_is_not_taken_for_the_repository() {
    let ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["pause"]).ok());
    let main = ground.lab.main.clone();
    let twin = ground.lab.home.join("copy");
    copy(&main, &twin);
    let refused = ground.repo_moved(&main, &twin).fails(1);
    for place in [&main, &twin] {
        assert!(
            refused.stderr.contains(place.to_str().unwrap()),
            "{}",
            refused.stderr
        );
    }
    // Even from inside the copy the first one stays the one.
    drop(ground.call(&["resume"]).within(&twin).run().ok());
    assert_eq!(ground.repository_shown(), main.to_str().unwrap());
    assert_eq!(ground.losses_of_work(), Vec::<String>::new());

    // An instance in the copy makes it a repository of its own.
    let marker = ground.marker();
    let repo = twin.to_str().unwrap();
    let new = ["new", "t2", "-a", "still", "--repo", repo, "--"];
    let call = ground.camp.biv(new).args(["sh", "-c", "exec cat"]);
    drop(call.run().ok());
    assert_eq!(ground.marker(), marker);
    let other = std::fs::read_to_string(twin.join(".git/bivouac/id")).unwrap();
    assert_ne!(other, marker);
}

#[test]
fn another_repository_in_its_place_is_named_with_it() {
    let mut ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["pause"]).ok());
    let (old, new) = ground.moves_to("moved");
    std::fs::create_dir(&old).unwrap();
    ground.lab.git_in(&old, &["init", "-q"]);
    let refused = ground.call(&["resume"]).run().fails(1);
    assert!(
        refused.stderr.contains(old.to_str().unwrap()),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("another one"), "{}", refused.stderr);
    // Nor is another one taken for it where it is said to be.
    let foreign = ground.lab.home.join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    ground.lab.git_in(&foreign, &["init", "-q"]);
    let refused = ground.repo_moved(&old, &foreign).fails(1);
    for place in [&old, &foreign] {
        assert!(
            refused.stderr.contains(place.to_str().unwrap()),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(ground.state(), "paused");
    drop(ground.repo_moved(&old, &new).ok());
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.losses_of_work(), Vec::<String>::new());
}

#[test]
fn a_record_of_before_there_were_ids_takes_the_marker_at_its_first_use() {
    use std::os::unix::fs::PermissionsExt;
    let mut ground = Ground::made(&state("mixed"));
    drop(ground.biv(&["pause"]).ok());
    let forget = |ground: &Ground| {
        let path = ground
            .camp
            .instances_dir()
            .join(&ground.instance.id)
            .join("record.json");
        let mut record = ground.record();
        record["repository"].as_object_mut().unwrap().remove("id");
        std::fs::write(&path, record.to_string()).unwrap();
        std::fs::remove_file(ground.parking().join("id")).unwrap();
    };
    forget(&ground);
    drop(ground.biv(&["resume"]).ok());
    let marker = ground.marker();
    assert_eq!(
        ground.record()["repository"]["id"].as_str(),
        Some(marker.trim_end())
    );
    let mode = std::fs::metadata(ground.parking().join("id")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);

    // Moved before that, it is known by what it holds of the instance.
    drop(ground.biv(&["pause"]).ok());
    forget(&ground);
    let (old, new) = ground.moves_to("moved");
    drop(ground.repo_moved(&old, &new).ok());
    drop(ground.biv(&["resume"]).ok());
    assert_eq!(ground.losses_of_work(), Vec::<String>::new());
}
