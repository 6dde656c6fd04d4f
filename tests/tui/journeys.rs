//! What a person does with it, from the first key to the last.

use crate::support::terminal::Terminal;
use crate::support::{Camp, Repository, until};

/// The UI in a repository.
pub(crate) fn ui(camp: &Camp, repository: &Repository) -> Terminal {
    let terminal = Terminal::running(camp, &line(repository));
    terminal.wait_for("bivouac");
    terminal
}

pub(crate) fn line(repository: &Repository) -> String {
    format!("cd '{}'; biv", repository.path.display())
}

#[test]
fn new_watch_pause_resume_attach_detach_kill() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let terminal = ui(&camp, &repository);
    terminal.wait_for("No instances yet.");
    // The first-run screen has looked around before the form is opened.
    terminal.wait_for("starts one here");

    terminal.press(&["N"]);
    terminal.wait_for("New instance, with a prompt");
    terminal.write("Tell me about this place");
    terminal.press(&["BTab"]);
    terminal.write("milk");
    terminal.press(&["Enter"]);
    terminal.wait_for("I hear you: “Tell me about this place”");
    terminal.wait_for("ready");
    let instance = camp.list().remove(0);
    assert_eq!(instance.title, "milk");
    assert_eq!(instance.prompts(&camp), ["Tell me about this place"]);

    terminal.press(&["c"]);
    terminal.wait_for("⏸ PAUSED");
    terminal.wait_for("put away, whole");
    assert!(!instance.worktree.exists());

    terminal.press(&["r"]);
    terminal.wait_for("Resumed `milk`.");
    terminal.wait_for("ready");
    assert!(instance.worktree.is_dir());

    // What is typed behind the key that attaches is the agent's.
    terminal.press(&["Enter", "h", "i", "Enter"]);
    terminal.wait_for("ctrl-q detach");
    until("the agent was told", || {
        instance
            .prompts(&camp)
            .last()
            .is_some_and(|last| last == "hi")
    });
    terminal.press(&["C-q"]);
    terminal.wait_for("bivouac");
    terminal.wait_for("“hi”");

    terminal.press(&["D"]);
    terminal.wait_for("Kill `milk`?");
    terminal.press(&["y"]);
    terminal.wait_for("Killed `milk`.");
    terminal.wait_for("No instances yet.");
    assert!(camp.list().is_empty());

    terminal.press(&["U"]);
    terminal.wait_for("⏸ PAUSED");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn the_toggle_waits_for_the_turn_and_can_be_taken_back() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "toggled", &["-p", "/busy 600"]);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("1 busy");
    terminal.press(&["C-x", "p"]);
    terminal.wait_for("PAUSING…");
    until("the pause has begun", || {
        camp.show(&instance)["state"] == "pausing"
    });
    terminal.press(&["C-x", "p"]);
    terminal.wait_for("The pause of `toggled` was cancelled.");
    terminal.wait_until_gone("PAUSING…");
    assert_eq!(camp.show(&instance)["state"], "running");
    // A turn that ends by itself ends the wait.
    terminal.press(&["Enter"]);
    terminal.wait_for("ctrl-q detach");
    terminal.press(&["Escape"]);
    terminal.wait_for("Interrupted");
    terminal.write("/busy 3");
    terminal.press(&["Enter"]);
    terminal.wait_for("(1s");
    terminal.press(&["C-q"]);
    terminal.wait_for("1 busy");
    terminal.press(&["C-x", "p"]);
    terminal.wait_for("PAUSING…");
    terminal.wait_for("⏸ PAUSED");
    terminal.press(&["C-x", "p"]);
    terminal.wait_for("Resumed `toggled`.");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn what_an_agent_changes_and_says_is_in_its_tabs() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "tabs", &["-p", "/allow"]);
    let terminal = ui(&camp, &repository);
    terminal.press(&["Tab"]);
    terminal.wait_for("Nothing was changed against main.");
    // Sent from here, seen here: by the doorbell, not by a key.
    terminal.press(&["s"]);
    terminal.wait_for("Send to `tabs`");
    terminal.write("/write src/notes.txt Remember the milk");
    terminal.press(&["Enter"]);
    terminal.wait_for("+ Remember the milk");
    terminal.wait_for("src/notes.txt");
    terminal.wait_for("+1 −0");
    terminal.press(&["Tab"]);
    terminal.wait_for("Wrote 1 line to src/notes.txt");
    terminal.press(&["Tab"]);
    terminal.wait_for("running · current");
    terminal.press(&["Tab"]);
    terminal.wait_for("enter opens a shell of your own");
    terminal.press(&["Tab"]);
    terminal.wait_for("❯");
    assert_eq!(instance.prompts(&camp).len(), 2);
    terminal.press(&["?"]);
    terminal.wait_for("pause, take that back, resume");
    terminal.press(&["Escape"]);
    terminal.press(&["/"]);
    terminal.write("zzz");
    terminal.wait_for("nothing matches");
    terminal.press(&["Escape"]);
    terminal.wait_for("biv/tabs");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn a_turn_during_a_visit_is_in_the_row_afterwards() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "visited", &[]);
    instance.wait_idle(&camp);
    let terminal = ui(&camp, &repository);
    // So that only the row can show what the agent has said.
    terminal.press(&["Tab"]);
    terminal.wait_for("Nothing was changed against main.");
    terminal.press(&["Enter"]);
    terminal.wait_for("ctrl-q detach");
    terminal.write("hi");
    terminal.press(&["Enter"]);
    terminal.wait_for("I hear you: “hi”");
    instance.wait_idle(&camp);
    terminal.press(&["C-q"]);
    terminal.wait_for("Nothing was changed against main.");
    terminal.wait_for("I hear you: “hi”");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

/// Typed by hand, in one that is not selected, without a daemon.
#[test]
fn what_was_said_unseen_is_in_the_row() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let quiet = camp.start(&repository, "a quiet one", &[]);
    quiet.wait_idle(&camp);
    let talking = camp.start(&repository, "a talking one", &[]);
    talking.wait_idle(&camp);
    let session = format!("=biv-{}:", talking.id);
    let say = |words: &str| {
        camp.tmux(&["send-keys", "-t", &session, words, "Enter"]);
    };
    say("before");
    let has_said = |words: &str| {
        let peeked = camp.biv(["peek", &talking.id]).run().ok();
        peeked.stdout.contains(words)
    };
    until("it has answered", || has_said("I hear you: “before”"));
    talking.wait_idle(&camp);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("2 ready");
    terminal.wait_for("I hear you: “before”");
    say("meanwhile");
    until("it has answered again", || has_said("“meanwhile”, noted"));
    terminal.wait_for("“meanwhile”, noted");
    assert!(
        terminal.screen().contains("no daemon"),
        "{}",
        terminal.screen()
    );
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn many_are_marked_and_paused_together() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    for title in ["one", "two", "three"] {
        camp.start(&repository, title, &[]).wait_idle(&camp);
    }
    let terminal = ui(&camp, &repository);
    terminal.wait_for("3 ready");
    terminal.press(&["Space", "Space", "c"]);
    terminal.wait_for("⏸ 2 PAUSED");
    terminal.wait_for("1 ready");
    terminal.press(&["Home", "Space", "Space", "Space", "r"]);
    terminal.wait_for("3 ready");
    terminal.press(&["P"]);
    terminal.wait_for("Pause all 3");
    terminal.press(&["y"]);
    terminal.wait_for("The camp is paused");
    terminal.wait_for("⏸ 3 PAUSED");
    terminal.press(&["u"]);
    terminal.wait_for("The camp is running");
    terminal.wait_for("3 ready");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn five_that_ask_are_answered_without_attaching() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let mut asking = Vec::new();
    for number in 1..=5 {
        let prompt = format!("/run touch made-{number}");
        let title = format!("asks-{number}");
        asking.push(camp.start(&repository, &title, &["-p", &prompt]));
    }
    camp.start(&repository, "calm", &[]);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("5 need you");
    terminal.wait_for("asks: shell · touch made-1");
    terminal.press(&["Home", "a"]);
    terminal.wait_for("Pressed 1 (Yes) in `asks-1`.");
    terminal.wait_for("4 need you");
    terminal.press(&["!", "d"]);
    terminal.wait_for("Pressed 3 (No)");
    for left in [3, 2, 1] {
        let needs = if left == 1 { "needs" } else { "need" };
        terminal.wait_for(&format!("{left} {needs} you"));
        // What is asked is in the row before it can be answered.
        terminal.press(&["!"]);
        terminal.wait_for("a allow");
        terminal.press(&["1"]);
    }
    until("all have gone on", || {
        camp.list()
            .iter()
            .all(|instance| camp.show(instance)["activity"] == "idle")
    });
    let made = asking
        .iter()
        .zip(1..)
        .filter(|(instance, number)| instance.worktree.join(format!("made-{number}")).exists());
    assert_eq!(made.count(), 4);
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn a_branch_is_pushed_after_a_yes() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "pushed", &[]);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("biv/pushed");
    terminal.press(&["p"]);
    terminal.wait_for("Push the branch of `pushed`?");
    terminal.press(&["y"]);
    terminal.wait_for("has no remote");
    terminal.wait_for("hint: add one");
    let remote = camp.empty_repository("remote");
    repository.git(&["remote", "add", "origin", remote.path.to_str().unwrap()]);
    terminal.press(&["p"]);
    terminal.wait_for("Push the branch of `pushed`?");
    terminal.press(&["y"]);
    terminal.wait_for("Pushed biv/pushed to origin.");
    let branch = instance.branch.as_deref().unwrap();
    remote.git(&["rev-parse", "--verify", branch]);
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn an_instance_is_renamed_and_lands() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "draft", &[]);
    instance.wait_idle(&camp);
    std::fs::write(instance.worktree.join("new.txt"), "new\n").unwrap();
    let terminal = ui(&camp, &repository);
    terminal.wait_for("+1 −0");
    terminal.press(&["T"]);
    terminal.wait_for("Another title");
    terminal.write("-2");
    terminal.press(&["Enter"]);
    terminal.wait_for("`draft` is `draft-2` now.");
    terminal.wait_for("▌● draft-2");
    // By name, as one finds it who does not know its key. What is uncommitted is refused, and nothing happens.
    terminal.press(&[":"]);
    terminal.write("land");
    terminal.press(&["Enter"]);
    terminal.wait_for("Land `draft-2`?");
    terminal.press(&["y"]);
    terminal.wait_for("has uncommitted work: new.txt");
    assert!(!repository.path.join("new.txt").exists());
    terminal.press(&["L"]);
    terminal.wait_for("Land `draft-2`?");
    terminal.press(&["b"]);
    terminal.wait_for("[x] uncommitted work too, as a commit");
    terminal.press(&["y"]);
    terminal.wait_for("Landed `draft-2` on `main`");
    terminal.wait_for("No instances yet.");
    assert!(repository.path.join("new.txt").exists());
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn a_prompt_to_a_busy_agent_is_not_lost_by_leaving() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "works", &["-p", "/busy 600"]);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("1 busy");
    terminal.press(&["s"]);
    terminal.wait_for("Send to `works`");
    terminal.write("after that");
    terminal.press(&["Enter"]);
    terminal.wait_until_gone("Send to `works`");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
    let queue = || camp.biv(["queue", "--json", "works"]).run().ok().json();
    assert_eq!(queue()["entries"][0]["prompt"], "after that");
    let session = format!("=biv-{}:", instance.id);
    assert!(
        camp.tmux(&["send-keys", "-t", &session, "Escape"])
            .status
            .success()
    );
    until("it has arrived", || {
        instance.prompts(&camp) == ["/busy 600", "after that"]
    });
}

#[test]
fn a_new_instance_that_is_refused_gives_its_prompt_back() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let terminal = ui(&camp, &repository);
    terminal.wait_for("starts one here");
    terminal.press(&["N"]);
    terminal.wait_for("New instance, with a prompt");
    terminal.write("a prompt that took an hour");
    terminal.press(&["Tab", "Tab"]);
    terminal.write("-nope");
    terminal.press(&["Enter"]);
    terminal.wait_for("names no commit");
    terminal.wait_for("a prompt that took an hour");
    for _ in 0.."-nope".len() {
        terminal.press(&["BSpace"]);
    }
    terminal.press(&["Enter"]);
    terminal.wait_for("I hear you: “a prompt that took an hour”");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}

#[test]
fn a_shell_stands_beside_the_agent_in_a_tab() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "shelled", &[]);
    let terminal = ui(&camp, &repository);
    terminal.wait_for("ready");
    terminal.press(&["BTab"]);
    terminal.wait_for("opens a shell of your own");
    terminal.press(&["Enter"]);
    terminal.wait_for("ctrl-q detach");
    terminal.write("echo from the shell > made-by-hand; cat made-by-hand");
    terminal.press(&["Enter"]);
    until("the shell has written", || {
        instance.worktree.join("made-by-hand").exists()
    });
    terminal.press(&["C-q"]);
    terminal.wait_for("bivouac");
    // The tab shows it, and the agent has heard nothing of it.
    terminal.wait_for("from the shell");
    assert!(instance.prompts(&camp).is_empty());
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}
