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

/// Ctrl+C while a question waits: the program and its place are gone.
#[test]
fn an_interrupted_recording_leaves_nothing() {
    let camp = Camp::new();
    let program = env!("CARGO_BIN_EXE_biv");
    let sessions = camp.root().join("sessions");
    let places = camp.root().join("places");
    std::fs::create_dir(&places).unwrap();
    let line = format!(
        // The shell stays, to tell how it ended.
        "trap : INT; TMPDIR='{}' biv agents record mine -- '{program}' __demo-agent --sessions '{}'",
        places.display(),
        sessions.display()
    );
    let terminal = Terminal::running(&camp, &line);
    terminal.wait_for("Is this its empty prompt?");
    let sessions = sessions.display().to_string();
    let running = || {
        let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.any(|process| {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            // Not the shell, which has it in its script.
            line.starts_with(&format!("{program} __demo-agent")) && line.contains(&sessions)
        })
    };
    let place = || std::fs::read_dir(&places).unwrap().count();
    assert_eq!(place(), 1);
    assert!(running(), "it is recorded");
    terminal.press(&["C-c"]);
    terminal.wait_for("ended with 130");
    assert_eq!(place(), 0);
    until("the program has ended", || !running());
    assert!(!camp.home().join("config/agents/mine.toml").exists());
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
