//! A person's terminal in the session of an agent.

use crate::support::terminal::Terminal;
use crate::support::{Camp, Instance, until};

/// An agent at its prompt, and a person who is attached to it.
fn visited(camp: &Camp, title: &str) -> (Instance, Terminal) {
    let repository = camp.repository("app");
    let instance = camp.start(&repository, title, &[]);
    instance.wait_idle(camp);
    let terminal = Terminal::running(camp, &format!("biv attach {title}"));
    terminal.wait_for("ctrl-q detach");
    (instance, terminal)
}

#[test]
fn a_person_attaches_types_and_leaves_the_agent_running() {
    let camp = Camp::new();
    let (instance, terminal) = visited(&camp, "visited");
    terminal.wait_for("biv/visited");
    terminal.write("what a nice place");
    terminal.press(&["Enter"]);
    until("the prompt has arrived", || {
        instance.prompts(&camp) == ["what a nice place"]
    });
    terminal.press(&["C-q"]);
    terminal.wait_for("Detached from `visited`; the agent keeps running.");
    terminal.wait_for("ended with 0");
    let screen = terminal.screen();
    assert!(!screen.contains("[detached"), "{screen}");
    assert_eq!(camp.show(&instance)["state"], "running");
    // Nobody is there any more: dialogs need the room that the visitor's terminal had not.
    let format = "#{window_width}x#{window_height} #{window-size}";
    let target = format!("=biv-{}:", instance.id);
    let size = camp.tmux(&["display-message", "-p", "-t", &target, format]);
    assert_eq!(
        String::from_utf8_lossy(&size.stdout).trim(),
        "220x60 latest"
    );
}

#[test]
fn an_agent_that_ends_under_a_visitor_is_told_of() {
    let camp = Camp::new();
    let (instance, terminal) = visited(&camp, "short");
    camp.kill(&instance);
    terminal.wait_for("`short` has ended.");
}

/// Its last screen stays, and takes no keys.
#[test]
fn an_agent_that_exits_under_a_visitor_is_told_of_below_its_screen() {
    let camp = Camp::new();
    let (_, terminal) = visited(&camp, "short");
    assert!(terminal.screen().contains("short biv/short"));
    terminal.write("/exit");
    terminal.press(&["Enter"]);
    terminal.wait_for("short the agent has ended with exit status 0");
    terminal.press(&["C-q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn a_pause_under_a_visitor_is_told_of_as_a_pause() {
    let camp = Camp::new();
    let (_, terminal) = visited(&camp, "rested");
    drop(camp.biv(["pause", "rested"]).run().ok());
    terminal.wait_for("`rested` was paused.");
}

#[test]
fn a_terminal_that_tmux_does_not_know_is_said() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "unseen", &[]);
    let terminal = Terminal::running(&camp, "TERM=no-such-terminal biv attach unseen");
    terminal.wait_for("error: this terminal could not be attached to `unseen`");
    terminal.wait_for("ended with 1");
}

#[test]
fn without_a_terminal_there_is_nothing_to_attach() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "lonely", &[]);
    let answer = camp.biv(["attach", "lonely"]).run().fails(1);
    insta::assert_snapshot!(answer.said(), @r"
    error: this needs a terminal
      hint: run it from a terminal; `biv peek` shows the screen without one
    ");
}

#[test]
fn a_title_on_the_status_line_is_shown_and_never_executed() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let title = "#(touch pwned) #{pane_id} #[fg=red] %H end";
    camp.start(&repository, title, &[]);
    let terminal = Terminal::running(&camp, "biv attach '#(touch'");
    terminal.wait_for("ctrl-q detach");
    terminal.wait_for("#(touch pwned)");
    terminal.press(&["C-q"]);
    terminal.wait_for("ended with 0");
    for place in ["run", "", "terminal"] {
        assert!(!camp.home().join(place).join("pwned").exists());
    }
}

#[test]
fn a_person_is_asked_before_a_kill_and_before_a_command_of_a_repository() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "asked", &[]);
    let terminal = Terminal::running(&camp, "biv kill asked && biv kill asked");
    terminal.wait_for("Kill `asked`? [y/N]");
    terminal.press(&["Enter"]);
    terminal.wait_for("Nothing was changed.");
    assert_eq!(camp.list().len(), 1);
    terminal.write("yes");
    terminal.press(&["Enter"]);
    terminal.wait_for("Killed `asked`.");
    assert_eq!(camp.list().len(), 0);
    drop(terminal);

    repository.write(".bivouac.toml", "[setup]\nrun = \"touch set-up\"\n");
    let line = format!(
        "cd '{}'; biv new trusting -a demo",
        repository.path.display()
    );
    let terminal = Terminal::running(&camp, &line);
    terminal.wait_for("touch set-up");
    terminal.wait_for("[y/N]");
    terminal.write("y");
    terminal.press(&["Enter"]);
    terminal.wait_for("trusting is running with demo");
    assert!(camp.list()[0].worktree.join("set-up").is_file());
}

#[test]
fn nothing_that_an_agent_prints_reaches_the_clipboard() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start_shell(&repository, "printer", "PS1='> ' exec sh -i");
    // The terminal itself would take it; that is tried first.
    let line = "until [ -f ready ]; do sleep 0.05; done; printf '\\033]52;c;b3Blbg==\\007'; \
                TERM=xterm-256color biv attach printer";
    let terminal = Terminal::running(&camp, line);
    terminal.accept_clipboard();
    std::fs::write(camp.root().join("terminal/ready"), "").unwrap();
    terminal.wait_for("ctrl-q detach");
    assert_eq!(terminal.clipboard(), "open");
    for sequence in [
        r"\033]52;c;Z290Y2hh\007",
        r"\033Ptmux;\033\033]52;c;Z290Y2hh\007\033\\",
    ] {
        terminal.write(&format!(
            "clear; printf '{sequence}'; printf 'prin''ted\\n'"
        ));
        terminal.press(&["Enter"]);
        terminal.wait_for("printed");
        assert_eq!(terminal.clipboard(), "open", "{sequence}");
    }
}

#[test]
fn a_key_goes_on_to_the_next_one_that_needs_you() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let first = camp.start(&repository, "first", &[]);
    let second = camp.start(&repository, "second", &[]);
    let third = camp.start(&repository, "third", &[]);
    for instance in [&first, &second, &third] {
        instance.wait_idle(&camp);
    }
    for (asking, title) in [(&first, "first"), (&third, "third")] {
        drop(camp.biv(["send", title, "/run touch made"]).run().ok());
        asking.wait_for(&camp, "activity", "approval");
    }
    let terminal = Terminal::running(&camp, "biv attach second");
    terminal.wait_for("alt-! next  ctrl-q detach");
    terminal.wait_for("biv/second");
    // In the order in which they were made, and round.
    terminal.press(&["M-!"]);
    terminal.wait_for("biv/third");
    terminal.press(&["M-!"]);
    terminal.wait_for("biv/first");
    terminal.press(&["M-!"]);
    terminal.wait_for("biv/third");
    drop(camp.biv(["answer", "first", "yes"]).run().ok());
    first.wait_for(&camp, "activity", "idle");
    terminal.press(&["M-!"]);
    terminal.wait_for("No other instance needs you.");
    terminal.wait_for("biv/third");
    terminal.press(&["C-q"]);
    terminal.wait_for("Detached from `third`; the agent keeps running.");
    terminal.wait_for("ended with 0");
}

#[test]
fn of_two_visitors_only_the_one_who_pressed_the_key_goes_on() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let calm = camp.start(&repository, "calm", &[]);
    let asking = camp.start(&repository, "asking", &[]);
    for instance in [&calm, &asking] {
        instance.wait_idle(&camp);
    }
    drop(camp.biv(["send", "asking", "/run touch made"]).run().ok());
    asking.wait_for(&camp, "activity", "approval");
    let one = Terminal::named(&camp, "one", "biv attach calm");
    one.wait_for("biv/calm");
    let other = Terminal::named(&camp, "other", "biv attach calm");
    other.wait_for("biv/calm");
    one.press(&["M-!"]);
    one.wait_for("biv/asking");
    other.press(&["C-q"]);
    other.wait_for("Detached from `calm`; the agent keeps running.");
    one.press(&["C-q"]);
    one.wait_for("Detached from `asking`; the agent keeps running.");
}
