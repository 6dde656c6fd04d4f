//! Ways out, and what they leave behind: a clean terminal, and agents that go on.

use super::journeys::{line, ui};
use crate::support::terminal::Terminal;
use crate::support::{Camp, until};

#[test]
fn ctrl_c_pauses_stays_and_then_quits() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "interrupted", &[]);
    instance.wait_idle(&camp);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("1 ready");
    terminal.press(&["C-c"]);
    terminal.wait_for("Paused. Ctrl+C again to quit.");
    assert_eq!(camp.show(&instance)["pause"]["reason"], "user_interrupt");
    terminal.press(&["C-c"]);
    terminal.wait_for("ended with 0");
    assert_eq!(camp.show(&instance)["state"], "paused");
}

#[test]
fn what_is_under_way_is_finished_after_the_screen_is_gone() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "slow", &["-p", "/busy 600"]);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("1 busy");
    terminal.press(&["c"]);
    terminal.wait_for("PAUSING…");
    terminal.press(&["q"]);
    terminal.wait_for("Still pausing slow");
    // Its turn ends.
    let session = format!("=biv-{}:", instance.id);
    assert!(
        camp.tmux(&["send-keys", "-t", &session, "Escape"])
            .status
            .success()
    );
    terminal.wait_for("ended with 0");
    assert_eq!(camp.show(&instance)["state"], "paused");
}

#[test]
fn a_signal_leaves_a_clean_terminal() {
    for signal in ["TERM", "HUP", "INT"] {
        let camp = Camp::new();
        let repository = camp.repository("app");
        let instance = camp.start(&repository, "survivor", &[]);
        let terminal = Terminal::running(
            &camp,
            &format!("{}; s=$?; stty -a; (exit $s)", line(&repository)),
        );
        terminal.wait_for("biv/survivor");
        let pid = terminal.program().to_string();
        let killed = std::process::Command::new("kill")
            .args([&format!("-{signal}"), &pid])
            .status();
        assert!(killed.unwrap().success());
        terminal.wait_for("ended with 1");
        let screen = terminal.screen();
        assert!(!screen.contains("biv/survivor"), "{screen}");
        assert!(
            screen.contains(" icanon") && screen.contains(" echo "),
            "{screen}"
        );
        assert_eq!(camp.show(&instance)["state"], "running");
    }
}

/// In the middle of a frame, and in a thread that is not joined.
#[test]
fn a_panic_leaves_a_clean_terminal() {
    for (place, key) in [("draw", "?"), ("work", "c")] {
        let camp = Camp::new();
        let repository = camp.repository("app");
        let instance = camp.start(&repository, "survivor", &[]);
        let line = line(&repository);
        let script = format!("export BIV_PANIC_AT={place}; {line}; s=$?; stty -a; (exit $s)");
        let terminal = Terminal::running(&camp, &script);
        terminal.wait_for("biv/survivor");
        terminal.press(&[key]);
        terminal.wait_for("ended with 101");
        let screen = terminal.screen();
        assert!(screen.contains("panicked"), "{screen}");
        assert!(!screen.contains("biv/survivor"), "{screen}");
        assert!(
            screen.contains(" icanon") && screen.contains(" echo "),
            "{screen}"
        );
        let modes = terminal.modes();
        assert_eq!(modes, "alternate 0, mouse 0, cursor 1", "{place}");
        assert_eq!(camp.show(&instance)["state"], "running");
        // The next one clears away what this one could not.
        let next = ui(&camp, &repository);
        next.wait_for("1 ready");
        next.press(&["q"]);
        next.wait_for("ended with 0");
    }
}

#[test]
fn any_size_is_a_screen() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "sized", &["-p", "hello"]);
    let terminal = Terminal::sized(&camp, &line(&repository), (40, 10));
    terminal.wait_for("Prev Diff Conv Runs Sh");
    terminal.wait_for("sized");
    for (columns, rows) in [(200, 50), (20, 4), (7, 2), (300, 100), (80, 24)] {
        terminal.resize(columns, rows);
        if columns > 60 {
            terminal.wait_for("asks: edit");
            terminal.wait_for("q quit");
        }
    }
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn outside_of_a_repository_it_says_what_to_do() {
    let camp = Camp::new();
    let terminal = Terminal::running(&camp, "cd /; biv");
    terminal.wait_for("is not inside a git repository");
    terminal.press(&["n"]);
    terminal.wait_for("There is no repository to work in");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn keys_are_the_users_to_choose() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "chosen", &[]);
    instance.wait_idle(&camp);
    let config = camp.home().join("config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(
        config.join("config.toml"),
        "[keys]\npause = [\"z\"]\nquit = [\"ctrl+g\"]\n",
    )
    .unwrap();
    let terminal = ui(&camp, &repository);
    terminal.wait_for("z pause");
    terminal.press(&["z"]);
    terminal.wait_for("⏸ PAUSED");
    terminal.press(&["q"]);
    terminal.press(&["C-g"]);
    terminal.wait_for("ended with 0");
    drop(terminal);
    std::fs::write(config.join("config.toml"), "[keys]\npause = [\"r\"]\n").unwrap();
    let terminal = Terminal::running(&camp, "biv");
    terminal.wait_for("`keys.pause` and `keys.resume` both want r");
    terminal.wait_for("ended with 1");
    until("nothing is left", || {
        !terminal.screen().contains("bivouac ·")
    });
}
