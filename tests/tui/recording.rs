//! `biv agents record`: a program that is not known becomes an agent.

use crate::support::terminal::Terminal;
use crate::support::{Camp, Instance, until};

/// The demo agent under another name, of which nothing is known.
#[test]
fn a_program_that_is_recorded_is_an_agent() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let program = env!("CARGO_BIN_EXE_biv");
    let sessions = camp.root().join("sessions");
    let line = format!(
        "biv agents record mine -- '{program}' __demo-agent --sessions '{}'",
        sessions.display()
    );
    let terminal = Terminal::running(&camp, &line);
    for (asked, answer) in [
        ("Is this its empty prompt?", ""),
        ("A prompt for that", "/busy 5"),
        ("Is its turn over", ""),
        ("A prompt that makes it ask", "/run touch x"),
        ("Is this its question?", ""),
        ("The key that stops its work", "e"),
        ("Arguments that resume", ""),
    ] {
        terminal.wait_for(asked);
        terminal.write(answer);
        terminal.press(&["Enter"]);
    }
    terminal.wait_for("ended with 0");
    terminal.wait_for("3 of 3 screens at its prompt are read as such");
    terminal.wait_for("its question is read as such");

    let listed = camp.biv(["agents"]).run().ok().stdout;
    assert!(
        listed.lines().any(|line| line.starts_with("mine ")),
        "{listed}"
    );
    let new = camp.biv(["new", "--json", "x", "-a", "mine", "--repo"]);
    let made = new.arg(&repository.path).run().ok().json();
    let instance = Instance::from_json(&made);
    let is = |activity: &str| camp.show(&instance)["activity"] == activity;
    until("it is idle", || is("idle"));
    drop(camp.biv(["send", "x", "/busy 3600"]).run().ok());
    until("it is busy", || is("busy"));

    // A file that is there is never written over.
    let file = camp.home().join("config/agents/mine.toml");
    let before = std::fs::read(&file).unwrap();
    let again = Terminal::running(&camp, &line);
    again.wait_for("there is an agent named `mine` already");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn without_a_terminal_nothing_is_recorded() {
    let camp = Camp::new();
    let refused = camp.biv(["agents", "record", "mine", "--", "true"]).run();
    let refused = refused.fails(2);
    assert!(
        refused.stderr.contains("needs a terminal"),
        "{}",
        refused.stderr
    );
    assert!(!camp.home().join("config/agents/mine.toml").exists());
}
