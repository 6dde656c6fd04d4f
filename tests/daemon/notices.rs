//! A person is told once of what they do not see.

use std::path::PathBuf;

use crate::post::{configure, start, wait_activity};
use crate::support::terminal::Terminal;
use crate::support::wait::until_told;
use crate::support::{Camp, until};

/// A camp whose daemon writes what it tells into a file.
fn telling_camp(turn: &str) -> (Camp, PathBuf) {
    let camp = Camp::new();
    let told = camp.root().join("told");
    let command = format!(
        "sh -c 'echo \\\"$BIV_NOTICE: $BIV_TITLE $BIV_MESSAGE\\\" >> {}'",
        told.display()
    );
    configure(
        &camp,
        &format!("[notify]\nturn = \"{turn}\"\ncommand = \"{command}\"\n"),
    );
    start(&camp);
    (camp, told)
}

fn lines(told: &PathBuf) -> Vec<String> {
    std::fs::read_to_string(told)
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_dialog_is_told_of_once() {
    let (camp, told) = telling_camp("1h");
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "asks", &[]);
    wait_activity(&camp, "idle");
    drop(camp.biv(["send", "asks", "/run touch x"]).run().ok());
    until("its person was told", || !lines(&told).is_empty());
    assert_eq!(lines(&told), ["needs-you: asks needs you"]);
    // It moves, and is the same dialog.
    let target = format!("=biv-{}:", instance.id);
    for key in ["Down", "Up"] {
        assert!(
            camp.tmux(&["send-keys", "-t", &target, key])
                .status
                .success()
        );
        camp.show(&instance);
    }
    assert!(
        camp.tmux(&["send-keys", "-t", &target, "Escape"])
            .status
            .success()
    );
    instance.wait_idle(&camp);
    drop(camp.biv(["send", "asks", "/run touch y"]).run().ok());
    until("of the next one too", || lines(&told).len() == 2);
    assert_eq!(lines(&told)[1], "needs-you: asks needs you");
}

#[test]
fn turns_and_ends_are_told_of() {
    let (camp, told) = telling_camp("1s");
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "works", &[]);
    wait_activity(&camp, "idle");
    drop(camp.biv(["send", "works", "/busy 3"]).run().ok());
    until("the end of a turn", || {
        lines(&told) == ["finished: works has finished"]
    });
    instance.wait_idle(&camp);
    let sent = camp.biv(["send", "works", "/exit 2"]).run();
    let failure = || {
        let events = camp.biv(["events", "--since", "1h", "--json"]).run().stdout;
        format!(
            "its failure is told:\n{sent:?}\n{}\n{events}",
            camp.show(&instance)
        )
    };
    until_told(failure, || {
        let last = lines(&told).last().cloned();
        (last.as_deref() == Some("failed: works has failed")).then_some(())
    });
    assert_eq!(lines(&told).len(), 2);
}

#[test]
fn an_attached_user_is_not_told_and_one_elsewhere_hears_a_bell() {
    let (camp, told) = telling_camp("1h");
    let repository = camp.repository("app");
    camp.start(&repository, "watched", &[]);
    let other = camp.start(&repository, "other", &[]);
    let person = Terminal::running(&camp, "biv attach watched");
    person.wait_for("ctrl-q detach");
    drop(camp.biv(["send", "watched", "/run touch x"]).run().ok());
    wait_activity(&camp, "approval");
    assert!(!person.has_rung());
    drop(camp.biv(["send", &other.id, "/run touch y"]).run().ok());
    until("the other one is told of", || !lines(&told).is_empty());
    assert_eq!(lines(&told), ["needs-you: other needs you"]);
    until("the terminal has rung", || person.has_rung());
    person.press(&["C-q"]);
    person.wait_for("ended with 0");
}
