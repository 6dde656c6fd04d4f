//! A kill that is cut off.

use crate::support::{Camp, until};
use crate::world::{MOMENTS, assert_nothing_orphaned, leave_work, next_command, proof};

const REVERSIBLE: [&str; 5] = [
    "save-conversation",
    "save-terminal",
    "stop-agent",
    "snapshot",
    "verify-snapshot",
];
const FORWARD: [&str; 4] = ["close-session", "free-worktree", "delete-branch", "record"];

/// Kills with a crash at these places, one command after another, and holds that the work is there
/// whatever has become of the instance.
fn check(places: &[&str], delete_branch: bool, number: usize) {
    let name = places.join(", then ");
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "crashed", &[]);
    instance.wait_idle(&camp);
    let work = leave_work(&repository, &instance);
    let head = repository.git(&["rev-parse", "biv/crashed"]);
    for (at, place) in places.iter().enumerate() {
        let arguments = match (at, delete_branch) {
            (0, true) => vec!["kill", "-y", "--delete-branch", "crashed"],
            (0, false) => vec!["kill", "-y", "crashed"],
            _ => vec!["list"],
        };
        drop(camp.biv(arguments).crash_at(place).run().crashed());
    }
    next_command(&camp, number);
    assert_nothing_orphaned(&camp, &repository, &name);

    // It is either as before, or killed. Asking again kills it in any case.
    if camp.show(&instance)["state"] != "killed" {
        assert_eq!(proof(&repository, &instance), work, "{name}");
        drop(camp.biv(["kill", "-y", "crashed"]).run().ok());
    }
    assert_nothing_orphaned(&camp, &repository, &name);
    until("nothing of it runs", || instance.processes().is_empty());
    assert!(!instance.worktree.exists(), "{name}");
    if !delete_branch {
        assert_eq!(
            repository.git(&["rev-parse", "biv/crashed"]),
            head,
            "{name}"
        );
    }

    // And the work comes back to the byte.
    drop(camp.biv(["undo-kill", "crashed"]).run().ok());
    drop(camp.biv(["resume", "crashed"]).run().ok());
    assert_eq!(proof(&repository, &instance), work, "{name}");
    assert_eq!(instance.processes().len(), 1, "{name}: one agent");
}

#[test]
fn before_the_line_at_every_step() {
    for (number, step) in REVERSIBLE.iter().enumerate() {
        for moment in MOMENTS {
            check(&[&format!("kill:{step}:{moment}")], false, number);
        }
    }
}

#[test]
fn behind_the_line_at_every_step() {
    for (number, step) in FORWARD.iter().enumerate() {
        for moment in MOMENTS {
            check(&[&format!("kill:{step}:{moment}")], false, number);
        }
    }
}

#[test]
fn with_the_branch_to_be_deleted() {
    for place in ["kill:delete-branch:before", "kill:delete-branch:after"] {
        check(&[place], true, 0);
    }
}

#[test]
fn a_recovery_that_crashes_too_is_recovered() {
    for places in [
        ["kill:snapshot:after", "kill:snapshot:undo"],
        ["kill:verify-snapshot:after", "kill:stop-agent:undo"],
        ["kill:stop-agent:after", "kill:save-terminal:undo"],
        ["kill:close-session:before", "kill:close-session:after"],
        ["kill:close-session:after", "kill:free-worktree:before"],
        ["kill:free-worktree:before", "kill:free-worktree:after"],
        ["kill:free-worktree:after", "kill:record:before"],
        ["kill:record:before", "kill:record:after"],
    ] {
        check(&places, false, 0);
    }
}
