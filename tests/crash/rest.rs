//! A pause or a resume that is cut off.

use crate::support::Camp;
use crate::world::{MOMENTS, assert_nothing_orphaned, leave_work, next_command, proof};

const PAUSE: [&str; 10] = [
    "quiesce",
    "save-conversation",
    "save-terminal",
    "stop-agent",
    "snapshot",
    "verify-snapshot",
    "close-session",
    "free-worktree",
    "thin-worktree",
    "record",
];
const RESUME: [&str; 7] = [
    "bring-worktree",
    "verify-restore",
    "open-session",
    "start-agent",
    "await-ready",
    "record",
    "release-snapshot",
];

/// Crashes in an operation, lets another command bring the instance to rest, and holds that it then
/// runs or is paused, with its conversation and its work to the byte.
fn check(operation: &str, places: &[&str], number: usize) {
    let name = places.join(", then ");
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "crashed", &[]);
    drop(camp.biv(["send", "crashed", "remember me"]).run().ok());
    instance.wait_idle(&camp);
    let work = leave_work(&repository, &instance);
    if operation == "resume" {
        drop(camp.biv(["pause", "crashed"]).run().ok());
    }
    for (at, place) in places.iter().enumerate() {
        let arguments = if at == 0 {
            vec![operation, "crashed"]
        } else {
            vec!["list"]
        };
        drop(camp.biv(arguments).crash_at(place).run().crashed());
    }
    next_command(&camp, number);
    assert_nothing_orphaned(&camp, &repository, &name);

    let state = camp.show(&instance)["state"].as_str().unwrap().to_owned();
    assert!(
        matches!(state.as_str(), "running" | "paused"),
        "{name}: {state}"
    );
    if state == "paused" {
        assert!(instance.processes().is_empty(), "{name}");
        drop(camp.biv(["resume", "crashed"]).run().ok());
    }
    assert_eq!(proof(&repository, &instance), work, "{name}");
    assert_eq!(instance.processes().len(), 1, "{name}: one agent");
    // The conversation goes on where it was.
    drop(camp.biv(["send", "crashed", "still there?"]).run().ok());
    instance.wait_idle(&camp);
    assert_eq!(
        instance.prompts(&camp),
        ["remember me", "still there?"],
        "{name}"
    );
}

#[test]
fn a_pause_at_every_step() {
    for (number, step) in PAUSE.iter().enumerate() {
        for moment in MOMENTS {
            check("pause", &[&format!("pause:{step}:{moment}")], number);
        }
    }
}

#[test]
fn a_resume_at_every_step() {
    for (number, step) in RESUME.iter().enumerate() {
        for moment in MOMENTS {
            check("resume", &[&format!("resume:{step}:{moment}")], number);
        }
    }
}

#[test]
fn a_recovery_that_crashes_too_is_recovered() {
    for (operation, places) in [
        ("pause", ["pause:snapshot:after", "pause:stop-agent:undo"]),
        ("pause", ["pause:stop-agent:after", "pause:stop-agent:undo"]),
        (
            "pause",
            ["pause:close-session:after", "pause:free-worktree:before"],
        ),
        (
            "pause",
            ["pause:free-worktree:after", "pause:record:before"],
        ),
        (
            "resume",
            ["resume:open-session:after", "resume:open-session:undo"],
        ),
        (
            "resume",
            ["resume:open-session:after", "resume:bring-worktree:undo"],
        ),
        (
            "resume",
            ["resume:start-agent:before", "resume:start-agent:before"],
        ),
        (
            "resume",
            ["resume:start-agent:after", "resume:record:before"],
        ),
    ] {
        check(operation, &places, 0);
    }
}
