//! A creation that is cut off.

use crate::support::{Camp, Repository, until};
use crate::world::{MOMENTS, assert_nothing_orphaned, next_command};

/// Before the line a cut-off creation is taken back.
const REVERSIBLE: [&str; 4] = [
    "claim-names",
    "add-worktree",
    "setup-worktree",
    "open-session",
];
/// Behind it, it is carried on.
const FORWARD: [&str; 3] = ["start-agent", "record", "send-prompt"];

const PROMPT: &str = "remember this";

fn crash_at(camp: &Camp, repository: &Repository, place: &str) {
    let created = camp
        .biv(["new", "crashed", "-a", "demo", "-p", PROMPT])
        .within(&repository.path)
        .crash_at(place)
        .run();
    drop(created.crashed());
}

#[test]
fn before_the_line_nothing_remains() {
    let mut number = 0;
    for step in REVERSIBLE {
        for moment in MOMENTS {
            let place = format!("create:{step}:{moment}");
            let camp = Camp::new();
            let repository = camp.repository("app");
            crash_at(&camp, &repository, &place);
            next_command(&camp, number);
            assert_eq!(camp.list().len(), 0, "{place}");
            assert_nothing_orphaned(&camp, &repository, &place);
            assert_eq!(repository.branches(), ["main"], "{place}");
            // The title is free again.
            camp.start(&repository, "crashed", &[]);
            number += 1;
        }
    }
}

#[test]
fn behind_the_line_the_instance_comes_to_be() {
    let mut number = 0;
    for step in FORWARD {
        for moment in MOMENTS {
            let place = format!("create:{step}:{moment}");
            let camp = Camp::new();
            let repository = camp.repository("app");
            crash_at(&camp, &repository, &place);
            next_command(&camp, number);
            let instances = camp.list();
            assert_eq!(instances.len(), 1, "{place}");
            assert_nothing_orphaned(&camp, &repository, &place);
            let instance = camp.list().remove(0);
            assert_eq!(camp.show(&instance)["state"], "running", "{place}");
            assert_eq!(instance.processes().len(), 1, "{place}: one agent");
            instance.wait_idle(&camp);
            // At most once, and surely where its delivery had not begun.
            assert!(instance.prompts(&camp).len() <= 1, "{place}");
            if step != "send-prompt" {
                until("the first prompt has arrived", || {
                    instance.prompts(&camp) == [PROMPT]
                });
            }
            drop(camp.biv(["send", "crashed", "go on"]).run().ok());
            number += 1;
        }
    }
}

#[test]
fn a_recovery_that_crashes_too_is_recovered() {
    for (first, second) in [
        ("create:add-worktree:after", "create:add-worktree:undo"),
        ("create:setup-worktree:after", "create:add-worktree:undo"),
        ("create:open-session:after", "create:open-session:undo"),
        ("create:open-session:after", "create:add-worktree:undo"),
        ("create:open-session:before", "create:claim-names:undo"),
        ("create:start-agent:before", "create:start-agent:before"),
        ("create:start-agent:before", "create:start-agent:after"),
        ("create:start-agent:after", "create:record:before"),
        ("create:record:before", "create:record:after"),
        ("create:record:after", "create:send-prompt:before"),
    ] {
        let place = format!("{first}, then {second}");
        let camp = Camp::new();
        let repository = camp.repository("app");
        crash_at(&camp, &repository, first);
        drop(camp.biv(["list"]).crash_at(second).run().crashed());
        next_command(&camp, 0);
        assert_nothing_orphaned(&camp, &repository, &place);
        let expected = usize::from(!second.ends_with("undo"));
        assert_eq!(camp.list().len(), expected, "{place}");
    }
}

#[test]
fn a_creation_that_fails_and_crashes_while_it_is_taken_back_leaves_nothing() {
    for undo in ["add-worktree", "claim-names"] {
        let camp = Camp::new();
        let repository = camp.repository("app");
        repository.write(".bivouac.toml", "[setup]\nrun = \"exit 1\"\n");
        repository.commit("a set-up that fails");
        let place = format!("create:{undo}:undo");
        let created = camp
            .biv(["new", "crashed", "-a", "demo", "--trust-setup"])
            .within(&repository.path)
            .crash_at(&place)
            .run();
        drop(created.crashed());
        next_command(&camp, 1);
        assert_nothing_orphaned(&camp, &repository, &place);
        assert_eq!(camp.list().len(), 0, "{place}");
        assert_eq!(repository.branches(), ["main"], "{place}");
    }
}

#[test]
fn what_a_user_put_into_an_unfinished_worktree_is_not_deleted() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    crash_at(&camp, &repository, "create:add-worktree:after");
    let worktree = repository.worktrees().remove(0);
    std::fs::write(worktree.join("mine.txt"), "mine\n").unwrap();
    next_command(&camp, 0);
    assert_eq!(camp.list().len(), 0);
    let kept = std::fs::read_dir(worktree.parent().unwrap())
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .any(|path| path.join("mine.txt").is_file());
    assert!(kept, "it was moved aside, not removed");
}
