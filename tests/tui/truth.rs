//! What the screen says is so, also where nobody reports it.

use super::journeys::ui;
use crate::support::{Camp, until};

#[test]
fn an_answered_dialog_is_gone_without_a_daemon_and_after_its_death() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "asks", &["-p", "/run touch one"]);
    // The first UI has the output of the pane, the second has to find out by itself.
    let first = ui(&camp, &repository);
    first.wait_for("asks: shell · touch one");
    let second = ui(&camp, &repository);
    second.wait_for("asks: shell · touch one");
    drop(camp.biv(["answer", &instance.id, "yes"]).run().ok());
    for terminal in [&first, &second] {
        terminal.wait_until_gone("asks: shell");
        terminal.wait_until_gone("Do you want");
        terminal.wait_for("1 ready");
    }
    // A daemon takes the output over and is killed: nobody tells the UIs anything any more.
    drop(camp.biv(["daemon", "start"]).run().ok());
    drop(
        camp.biv(["send", &instance.id, "/run touch two"])
            .run()
            .ok(),
    );
    for terminal in [&first, &second] {
        terminal.wait_for("asks: shell · touch two");
    }
    let status = camp.biv(["daemon", "status", "--json"]).run().ok().json();
    let pid = status["pid"]
        .as_i64()
        .expect("the daemon has a pid")
        .to_string();
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid])
        .status();
    assert!(killed.unwrap().success());
    drop(camp.biv(["answer", &instance.id, "yes"]).run().ok());
    for terminal in [&first, &second] {
        terminal.wait_until_gone("asks: shell");
        terminal.wait_for("1 ready");
    }
    for terminal in [first, second] {
        terminal.press(&["q"]);
        terminal.wait_for("ended with 0");
    }
    // The next one clears away what the killed one has left.
    drop(camp.biv(["daemon", "start"]).run().ok());
    drop(camp.biv(["daemon", "stop"]).run().ok());
}

#[test]
fn an_edit_is_in_the_diff_tab_and_list_and_tab_count_the_same() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let text: String = (0..40).map(|n| format!("line {n}\n")).collect();
    repository.write("deep/down/old.txt", &text);
    repository.commit("a file");
    let instance = camp.start(&repository, "edited", &[]);
    instance.wait_idle(&camp);
    let terminal = ui(&camp, &repository);
    terminal.press(&["Tab"]);
    terminal.wait_for("Nothing was changed against main.");
    // No agent has said anything, and neither git nor the top of the worktree was touched.
    let down = instance.worktree.join("deep/down");
    std::fs::write(down.join("old.txt"), format!("{text}more\n")).unwrap();
    terminal.wait_for("+ more");
    terminal.wait_for("1 file  +1 −0");
    until("the list counts the same", || {
        terminal.screen().matches("+1 −0").count() >= 3
    });
    // A file that was moved counts as one, in the row, the list of files and below it.
    std::fs::rename(down.join("old.txt"), down.join("new.txt")).unwrap();
    terminal.wait_for("deep/down/old.txt → deep/down/new.txt");
    terminal.wait_for("[renamed]");
    until("both count a moved file as one", || {
        let screen = terminal.screen();
        !screen.contains("−40") && screen.matches("+1 −0").count() >= 3
    });
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn the_card_says_where_the_files_are_and_autoyes_whether_anybody_answers() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "kept", &[]);
    instance.wait_idle(&camp);
    drop(camp.biv(["autoyes", &instance.id, "on"]).run().ok());
    let terminal = ui(&camp, &repository);
    terminal.wait_for("autoyes");
    terminal.wait_until_gone("autoyes: no daemon");
    drop(camp.biv(["daemon", "stop"]).run().ok());
    terminal.wait_for("autoyes: no daemon");
    drop(
        camp.biv(["pause", "--keep-worktree", &instance.id])
            .run()
            .ok(),
    );
    terminal.wait_for("where it was");
    std::fs::remove_dir_all(&instance.worktree).unwrap();
    terminal.wait_for("not on the disk; saved in git's objects");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}
