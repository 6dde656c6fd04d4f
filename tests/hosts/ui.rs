//! Instances of another machine in the terminal UI.

use crate::pair::{Pair, Words};
use crate::support::terminal::Terminal;
use crate::support::until;

const DOWN: &str = "if [ -f \"$0.down\" ]; then echo 'no route to host' >&2; exit 255; fi";

#[test]
fn they_are_seen_paused_resumed_told_and_attached_to_from_here() {
    let pair = Pair::strangers();
    pair.add("far", Words::Joined, DOWN);
    // It never answers, and delays nobody.
    pair.add_script("mute", "exec sleep 600");
    let here = pair.here.repository("app");
    drop(pair.here.start(&here, "home", &[]));
    let away = pair.there.start(&pair.there.repository("api"), "away", &[]);
    let terminal = Terminal::running(&pair.here, &format!("cd '{}'; biv", here.path.display()));
    terminal.wait_for("home");
    terminal.wait_for("far:away");
    terminal.press(&["Down"]);
    terminal.wait_for("far:away ·");

    terminal.press(&["s"]);
    terminal.wait_for("Send to `far:away`");
    terminal.write("what is over there");
    terminal.press(&["Enter"]);
    terminal.wait_for("Sent on far.");
    terminal.wait_for("I hear you: “what is over there”");
    assert_eq!(away.prompts(&pair.there), ["what is over there"]);

    terminal.press(&["c"]);
    terminal.wait_for("Paused on far.");
    terminal.wait_for("⏸ PAUSED");
    assert_eq!(pair.there.show(&away)["state"], "paused");
    terminal.press(&["r"]);
    terminal.wait_for("Resumed on far.");
    until("it runs again", || {
        pair.there.show(&away)["state"] == "running"
    });

    terminal.press(&["Enter"]);
    terminal.wait_for("ctrl-q detach");
    terminal.write("attached from here");
    terminal.press(&["Enter"]);
    terminal.wait_for("“attached from here”, noted");
    terminal.press(&["C-q"]);
    terminal.wait_for("bivouac");

    // Down, it stays in the list as it was last known.
    std::fs::write(pair.here.root().join("to-far.down"), "").unwrap();
    terminal.wait_for("far down");
    terminal.wait_for("no route to host");
    terminal.wait_for("far:away");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

/// The camp sees to it that no process is left behind.
#[test]
fn a_question_under_way_ends_with_the_ui() {
    let pair = Pair::strangers();
    let asked = pair.here.root().join("asked");
    pair.add_script(
        "mute",
        &format!("echo >>'{}'; exec sleep 600", asked.display()),
    );
    let here = pair.here.repository("app");
    let terminal = Terminal::running(&pair.here, &format!("cd '{}'; biv", here.path.display()));
    until("it is asked", || asked.exists());
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn they_are_renamed_and_land_over_there() {
    let pair = Pair::strangers();
    pair.add("far", Words::Joined, "");
    let here = pair.here.repository("app");
    let there = pair.there.repository("api");
    let away = pair.there.start(&there, "away", &[]);
    away.wait_idle(&pair.there);
    std::fs::write(away.worktree.join("new.txt"), "new\n").unwrap();
    let terminal = Terminal::running(&pair.here, &format!("cd '{}'; biv", here.path.display()));
    terminal.wait_for("far:away ·");
    terminal.press(&["T"]);
    terminal.wait_for("Another title");
    terminal.write("-2");
    terminal.press(&["Enter"]);
    terminal.wait_for("Renamed on far.");
    terminal.wait_for("far:away-2 ·");
    terminal.press(&["L"]);
    terminal.wait_for("Land `far:away-2`?");
    terminal.press(&["y"]);
    terminal.wait_for("has uncommitted work: new.txt");
    terminal.press(&["L"]);
    terminal.wait_for("Land `far:away-2`?");
    terminal.press(&["b", "y"]);
    terminal.wait_for("Landed on far.");
    assert!(there.path.join("new.txt").exists());
    assert_eq!(pair.there.show(&away)["state"], "killed");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}
