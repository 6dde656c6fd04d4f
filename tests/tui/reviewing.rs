//! A review with three comments, a search, and a restart of the machine.

use super::journeys::{line, ui};
use crate::support::terminal::Terminal;
use crate::support::{Camp, until};

#[test]
fn three_comments_go_to_the_agent_as_one_prompt() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let text: String = (1..=9).map(|n| format!("fn f{n}() {{}}\n")).collect();
    repository.write("src/lib.rs", &text);
    repository.commit("functions");
    let instance = camp.start(&repository, "reviewed", &[]);
    instance.wait_idle(&camp);
    let file = instance.worktree.join("src/lib.rs");
    std::fs::write(
        &file,
        text.replace("f2()", "second()").replace("f8()", "eighth()"),
    )
    .unwrap();
    let terminal = ui(&camp, &repository);
    terminal.wait_for("1 ready");
    terminal.press(&["Tab"]);
    terminal.wait_for("+ fn second() {}");
    terminal.press(&["v"]);
    terminal.wait_for("enter comment");
    // Below the name of the file and the hunk: line 1, the old line 2, the new one.
    terminal.press(&["j", "j", "j", "Enter"]);
    terminal.wait_for("src/lib.rs, line 2");
    terminal.write("Why was this name bad?");
    terminal.press(&["Enter"]);
    terminal.wait_for("1 comment");
    terminal.press(&["j", "j", "Enter"]);
    terminal.wait_for("keep it");
    terminal.write("Call it two.");
    terminal.press(&["Enter"]);
    terminal.wait_for("2 comments");
    // They are on disk: another UI has them, and adds the third.
    terminal.press(&["Escape", "q"]);
    terminal.wait_for("ended with 0");
    let line = format!("{} review reviewed", line(&repository));
    let terminal = Terminal::running(&camp, &line);
    terminal.wait_for("2 comments");
    terminal.wait_for("enter comment");
    terminal.press(&["Enter"]);
    terminal.wait_for("keep it");
    terminal.write("Add tests for this file.");
    terminal.press(&["Enter"]);
    terminal.wait_for("3 comments");
    terminal.press(&["s"]);
    terminal.wait_for("The 3 comments went to the agent.");
    until("the agent has the review", || {
        instance.prompts(&camp).last().is_some_and(|prompt| {
            [
                "have 3 comments",
                "1. src/lib.rs\nAdd tests for this file.",
                "src/lib.rs, line 2 before the change\n```diff",
                "-fn f2() {}\n+fn second() {}",
                "Why was this name bad?",
                "src/lib.rs, line 2\n```diff",
                "Call it two.",
            ]
            .iter()
            .all(|part| prompt.contains(part))
        })
    });
    terminal.press(&["Tab", "Tab", "Tab"]);
    terminal.wait_for("I hear you");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn what_was_said_is_found_again_also_of_a_killed_one() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let gone = camp.start(&repository, "gone", &["-p", "look after the walrus"]);
    gone.wait_idle(&camp);
    drop(camp.biv(["log", &gone.id]).run().ok());
    camp.kill(&gone);
    camp.start(&repository, "here", &["-p", "feed the walrus"]);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("1 ready");
    terminal.press(&["S"]);
    terminal.wait_for("Search all conversations");
    terminal.write("walrus look");
    terminal.press(&["Enter"]);
    terminal.wait_for("turn 1");
    terminal.press(&["Enter"]);
    terminal.wait_for("killed · 1");
    terminal.wait_for("look after the walrus");
    terminal.press(&["r"]);
    terminal.wait_for("`gone` is back, paused.");
    terminal.press(&["x"]);
    terminal.wait_for("⏸ PAUSED");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn after_the_server_is_gone_one_key_for_each_brings_it_back() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    for title in ["one", "two"] {
        camp.start(&repository, title, &["-p", "remember me"])
            .wait_idle(&camp);
    }
    assert!(camp.tmux(&["kill-server"]).status.success());
    let terminal = ui(&camp, &repository);
    terminal.wait_for("2 interrupted");
    terminal.wait_for("its tmux server went away");
    terminal.press(&["Space", "Space", "r"]);
    terminal.wait_for("2 instances are resumed.");
    terminal.wait_for("2 ready");
    terminal.wait_for("remember me");
    terminal.press(&["Up", "Space", "Space", "r"]);
    terminal.wait_for("Nothing was resumed: 2 were running already.");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn attaching_leaves_no_litter_behind() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "clean", &[]).wait_idle(&camp);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("1 ready");
    terminal.press(&["Enter"]);
    terminal.wait_for("ctrl-q detach");
    terminal.press(&["C-q"]);
    terminal.wait_for("1 ready");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
    let screen = terminal.screen();
    assert!(!screen.contains("[detached"), "{screen}");
}
