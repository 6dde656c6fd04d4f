//! A landing that is cut off: target, checkout, branch and instance are all before it or all after it.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Camp, Instance, Repository, until};
use crate::world::{MOMENTS, assert_nothing_orphaned, next_command};

const REVERSIBLE: [&str; 6] = [
    "save-conversation",
    "save-terminal",
    "stop-agent",
    "snapshot",
    "verify-snapshot",
    "move-target",
];
const FORWARD: [&str; 4] = ["close-session", "free-worktree", "delete-branch", "record"];

struct Scene {
    camp: Camp,
    repository: Repository,
    instance: Instance,
    before: String,
    tip: String,
}

/// An instance with a commit, and a user with a change of their own in the checkout of `main`.
fn scene() -> Scene {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "crashed", &[]);
    instance.wait_idle(&camp);
    let inside = repository.seen_from(&instance.worktree);
    inside.write("README.md", "# Landed\n");
    inside.write("new.txt", "new\n");
    let tip = inside.commit("work");
    repository.write("src/lib.rs", "mine\n");
    Scene {
        before: repository.git(&["rev-parse", "main"]),
        camp,
        repository,
        instance,
        tip,
    }
}

impl Scene {
    /// Holds that the landing has happened completely or not at all, and says which.
    fn has_landed(&self, name: &str) -> bool {
        let main = self.repository.git(&["rev-parse", "main"]);
        let landed = main == self.tip;
        assert!(landed || main == self.before, "{name}: main is at {main}");
        // The user's change is the only one in their checkout.
        let status = self.repository.git(&["status", "--porcelain"]);
        assert_eq!(status, " M src/lib.rs", "{name}");
        let readme = std::fs::read_to_string(self.repository.path.join("README.md")).unwrap();
        assert_eq!(readme.contains("Landed"), landed, "{name}");
        assert_eq!(
            self.repository.path.join("new.txt").exists(),
            landed,
            "{name}"
        );
        let mine = std::fs::read_to_string(self.repository.path.join("src/lib.rs")).unwrap();
        assert_eq!(mine, "mine\n", "{name}");
        let state = self.camp.show(&self.instance)["state"].clone();
        assert_eq!(state == "killed", landed, "{name}: {state}");
        let branch = self
            .repository
            .branches()
            .contains(&"biv/crashed".to_owned());
        assert_eq!(branch, !landed, "{name}");
        landed
    }
}

/// Lands with a crash at these places, one command after another.
fn check(places: &[&str], expected: bool, number: usize) {
    let scene = scene();
    for (at, place) in places.iter().enumerate() {
        let arguments: &[&str] = if at == 0 {
            &["land", "crashed"]
        } else {
            &["list"]
        };
        drop(scene.camp.biv(arguments).crash_at(place).run().crashed());
    }
    check_recovery(&scene, &places.join(", then "), expected, number);
}

/// What the next command makes of a landing that was cut off.
fn check_recovery(scene: &Scene, name: &str, expected: bool, number: usize) {
    let Scene {
        camp,
        repository,
        instance,
        ..
    } = scene;
    next_command(camp, number);
    assert_nothing_orphaned(camp, repository, name);
    assert_eq!(scene.has_landed(name), expected, "{name}");
    if !expected {
        instance.wait_idle(camp);
        drop(camp.biv(["land", "crashed"]).run().ok());
        assert!(scene.has_landed(name), "{name}");
    }
    until("nothing of it runs", || instance.processes().is_empty());
    assert_nothing_orphaned(camp, repository, name);
}

#[test]
fn before_the_line_at_every_step() {
    for (number, step) in REVERSIBLE.iter().enumerate() {
        for moment in MOMENTS {
            check(&[&format!("land:{step}:{moment}")], false, number);
        }
    }
}

#[test]
fn behind_the_move_of_checkout_and_branch() {
    check(&["land:move-target:inside:1"], false, 0);
}

/// Git moves the files first, and the branch last. It is killed in between, with the caller.
#[test]
fn between_the_checkout_and_the_branch() {
    const KILLED: &str = r#"#!/bin/sh
for last; do :; done
case " $* " in
*" merge "*)
    PATH=${PATH#*:} git read-tree -m -u HEAD "$last" || exit
    kill -KILL $PPID
    exit 1
    ;;
esac
PATH=${PATH#*:} exec git "$@"
"#;
    let scene = scene();
    let directory = tempfile::tempdir().unwrap();
    let git = directory.path().join("git");
    std::fs::write(&git, KILLED).unwrap();
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let land = scene.camp.biv(["land", "crashed"]);
    let land = land.env("PATH", format!("{}:{path}", directory.path().display()));
    drop(land.run().crashed());
    // The landing is there as if it was staged.
    let main = scene.repository.git(&["rev-parse", "main"]);
    assert_eq!(main, scene.before);
    assert!(scene.repository.path.join("new.txt").exists());
    check_recovery(&scene, "git was killed", false, 0);
}

/// Of two checkouts that have the target git moves only one by itself.
#[test]
fn between_two_checkouts() {
    for number in 1..=3 {
        let scene = scene();
        let second = tempfile::tempdir().unwrap();
        let second = second.path().join("second");
        let place = second.to_str().unwrap();
        let add = ["worktree", "add", "-q", "-f", place, "main"];
        drop(scene.repository.git(&add));
        let moment = format!("land:move-target:inside:{number}");
        let land = scene.camp.biv(["land", "crashed"]).crash_at(&moment);
        drop(land.run().crashed());
        next_command(&scene.camp, number);
        assert!(!scene.has_landed(&moment), "{moment}");
        assert!(!second.join("new.txt").exists(), "{moment}");
        scene.instance.wait_idle(&scene.camp);
        drop(scene.camp.biv(["land", "crashed"]).run().ok());
        assert!(scene.has_landed(&moment), "{moment}");
        assert!(second.join("new.txt").exists(), "{moment}");
        let status = scene.repository.seen_from(&second);
        assert_eq!(status.git(&["status", "--porcelain"]), "", "{moment}");
    }
}

#[test]
fn behind_the_line_at_every_step() {
    for (number, step) in FORWARD.iter().enumerate() {
        for moment in MOMENTS {
            check(&[&format!("land:{step}:{moment}")], true, number);
        }
    }
}

#[test]
fn a_recovery_that_crashes_too_is_recovered() {
    for (places, landed) in [
        (["land:move-target:after", "land:move-target:undo"], false),
        (
            ["land:move-target:after", "land:move-target:undo:inside:1"],
            false,
        ),
        (
            ["land:move-target:after", "land:move-target:undo:inside:2"],
            false,
        ),
        (["land:move-target:after", "land:stop-agent:undo"], false),
        (["land:close-session:after", "land:record:before"], true),
        (["land:delete-branch:after", "land:record:after"], true),
    ] {
        check(&places, landed, 0);
    }
}

#[test]
fn undoing_it() {
    for (number, (place, undone)) in [
        ("undo-land:move-target:before", false),
        ("undo-land:move-target:inside:1", false),
        ("undo-land:move-target:after", false),
        ("undo-land:record:before", true),
        ("undo-land:record:after", true),
    ]
    .into_iter()
    .enumerate()
    {
        let scene = scene();
        let Scene {
            camp,
            repository,
            instance,
            ..
        } = &scene;
        drop(camp.biv(["land", "crashed"]).run().ok());
        let undo = camp.biv(["undo-land", "crashed"]).crash_at(place);
        drop(undo.run().crashed());
        next_command(camp, number);
        let main = repository.git(&["rev-parse", "main"]);
        assert_eq!(main == scene.before, undone, "{place}");
        assert_eq!(
            repository.git(&["status", "--porcelain"]),
            " M src/lib.rs",
            "{place}"
        );
        let state = camp.show(instance)["state"].clone();
        assert_eq!(state == "paused", undone, "{place}: {state}");
        if !undone {
            drop(camp.biv(["undo-land", "crashed"]).run().ok());
        }
        assert_eq!(
            repository.git(&["rev-parse", "main"]),
            scene.before,
            "{place}"
        );
        drop(camp.biv(["resume", "crashed"]).run().ok());
        assert!(instance.worktree.join("new.txt").exists(), "{place}");
    }
}
