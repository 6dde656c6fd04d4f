//! Beside the command line, another UI and the daemon.

use super::journeys::ui;
use crate::support::Camp;

#[test]
fn two_at_once_see_the_same() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "shared", &[]);
    instance.wait_idle(&camp);
    let first = ui(&camp, &repository);
    first.wait_for("1 ready");
    let second = ui(&camp, &repository);
    second.wait_for("1 ready");
    first.press(&["s"]);
    first.wait_for("Send to");
    first.write("seen by both");
    first.press(&["Enter"]);
    first.wait_for("I hear you: “seen by both”");
    second.wait_for("I hear you: “seen by both”");
    second.press(&["c"]);
    second.wait_for("⏸ PAUSED");
    first.wait_for("⏸ PAUSED");
    for terminal in [first, second] {
        terminal.press(&["q"]);
        terminal.wait_for("ended with 0");
    }
}

#[test]
fn what_the_command_line_does_appears_by_itself() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let terminal = ui(&camp, &repository);
    terminal.wait_for("No instances yet.");
    let instance = camp.start(&repository, "from outside", &["-p", "knock knock"]);
    terminal.wait_for("from outside");
    terminal.wait_for("I hear you: “knock knock”");
    drop(camp.biv(["pause", &instance.id]).run().ok());
    terminal.wait_for("⏸ PAUSED");
    camp.kill(&instance);
    terminal.wait_for("No instances yet.");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn with_a_daemon_it_hears_what_the_daemon_hears() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "heard", &[]);
    instance.wait_idle(&camp);
    drop(camp.biv(["daemon", "start"]).run().ok());
    let terminal = ui(&camp, &repository);
    terminal.wait_for("1 ready");
    drop(camp.biv(["send", &instance.id, "/busy 600"]).run().ok());
    terminal.wait_for("1 busy");
    let session = format!("=biv-{}:", instance.id);
    assert!(
        camp.tmux(&["send-keys", "-t", &session, "Escape"])
            .status
            .success()
    );
    terminal.wait_for("1 ready");
    // And goes on when the daemon does not.
    drop(camp.biv(["daemon", "stop"]).run().ok());
    drop(camp.biv(["send", &instance.id, "still there?"]).run().ok());
    terminal.wait_for("“still there?”");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}
