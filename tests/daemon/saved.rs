//! What stood on the screen of an agent survives its tmux server, where a daemon has watched it.

use crate::post::{camp_with_daemon, process, start};
use crate::support::{Camp, Instance, Process, until};

/// What was saved of a running agent so far.
fn saved(camp: &Camp, instance: &Instance) -> String {
    let terminal = camp.instances_dir().join(&instance.id).join("terminal");
    ["live", "live-busy"]
        .iter()
        .filter_map(|name| std::fs::read_to_string(terminal.join(name)).ok())
        .collect()
}

/// As by a power cut: no process has the time to react.
pub(crate) fn cut_the_power(camp: &Camp) {
    let answer = camp.tmux(&["display-message", "-p", "#{pid}"]);
    let pid = String::from_utf8_lossy(&answer.stdout).trim().parse();
    let server = Process {
        pid: pid.expect("a server runs"),
        command: "tmux".to_owned(),
    };
    process(camp).kill();
    server.kill();
    until("the server is gone", || !server.is_alive());
}

#[test]
fn the_scrollback_of_an_interrupted_agent_comes_back() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "one", &["-p", "/lines 200"]);
    instance.wait_screen(&camp, "line 200 of 200");
    until("its screen is saved", || {
        saved(&camp, &instance).contains("line 200 of 200")
    });
    cut_the_power(&camp);

    let peek = camp.biv(["peek", "one", "-n", "400"]).run().ok().stdout;
    assert!(peek.contains("line 001 of 200\n"), "{peek}");
    assert!(peek.contains("line 200 of 200"), "{peek}");
    drop(camp.biv(["resume", "--all"]).run().ok());
    let pane = format!("=biv-{}:", instance.id);
    let shown = camp.tmux(&["capture-pane", "-p", "-S", "-", "-t", &pane]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let at = |text: &str| {
        shown
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {shown}"))
    };
    assert!(at("line 001 of 200\n") < at("line 200 of 200"));
    assert!(at("line 200 of 200") < at("── resumed "));
    assert!(shown.contains(" · interrupted "), "{shown}");
    assert_eq!(
        shown.matches("line 117 of 200\n").count(),
        1,
        "once, not twice"
    );
    assert_eq!(
        saved(&camp, &instance),
        "",
        "nothing of the last life is left"
    );
    // The next one clears away what the one that was killed has left.
    start(&camp);
}

/// What an agent has shown is saved while it goes on, too; and a pause takes its place.
#[test]
fn a_pause_saves_more_than_what_was_saved_before() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "one", &["-p", "/lines 20"]);
    until("its screen is saved", || {
        saved(&camp, &instance).contains("line 20 of 20")
    });
    drop(camp.biv(["send", "one", "/print the last word"]).run().ok());
    instance.wait_idle(&camp);
    drop(camp.biv(["pause", "one"]).run().ok());
    assert_eq!(saved(&camp, &instance), "");
    let peek = camp.biv(["peek", "one", "-n", "100"]).run().ok().stdout;
    assert!(peek.contains("the last word"), "{peek}");
    assert_eq!(peek.matches("line 07 of 20\n").count(), 1, "{peek}");
}
