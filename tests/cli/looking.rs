//! Commands that only look.

use crate::support::{Camp, until};

#[test]
fn the_list_begins_with_the_newest_activity_and_can_be_narrowed() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let first = camp.start(&repository, "first", &[]);
    let second = camp.start(&repository, "second", &[]);
    first.wait_idle(&camp);
    second.wait_idle(&camp);
    until("the one that spoke last stands first", || {
        drop(camp.biv(["send", "first", "anything new?"]).run().ok());
        camp.list()[0].title == "first"
    });
    drop(camp.biv(["send", "second", "/exit 0"]).run().ok());
    second.wait_for(&camp, "state", "completed");
    let in_state = |state: &str| {
        let answer = camp.biv(["list", "--json", "--state", state]).run().ok();
        answer.json()["instances"].as_array().unwrap().len()
    };
    assert_eq!(in_state("completed"), 1);
    assert_eq!(in_state("running"), 1);
    assert_eq!(in_state("paused"), 0);
}

#[test]
fn a_peek_shows_as_much_as_was_asked_for() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "chatty", &[]);
    instance.wait_idle(&camp);
    drop(camp.biv(["send", "chatty", "/lines 200"]).run().ok());
    instance.wait_idle(&camp);
    let peek = |arguments: &[&str]| {
        let arguments = [&["peek", "chatty"], arguments].concat();
        camp.biv(arguments).run().ok().stdout
    };
    assert_eq!(peek(&["-n", "3"]).lines().count(), 3);
    // Further back than the screen reaches.
    assert_eq!(peek(&["-n", "150"]).lines().count(), 150);
    assert!(!peek(&[]).contains('\x1b'));
    assert!(peek(&["--ansi", "-n", "150"]).contains("\x1b["));
}

#[test]
fn a_diff_is_coloured_on_request_and_says_nothing_where_nothing_changed() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "painter", &[]);
    assert_eq!(camp.biv(["diff", "painter"]).run().ok().stdout, "");
    std::fs::write(instance.worktree.join("README.md"), "# Painted\n").unwrap();
    let plain = camp.biv(["diff", "painter"]).run().ok().stdout;
    assert!(plain.contains("\n+# Painted\n"), "{plain}");
    let coloured = camp.biv(["diff", "painter", "--color", "always"]).run();
    assert!(coloured.ok().stdout.contains("\x1b["));
    // Nothing that only looks takes the index lock or writes the index.
    let index = repository.seen_from(&instance.worktree).git(&[
        "rev-parse",
        "--path-format=absolute",
        "--git-path",
        "index",
    ]);
    let written = || std::fs::metadata(&index).unwrap().modified().unwrap();
    let before = written();
    for arguments in [
        vec!["list"],
        vec!["show", "painter"],
        vec!["diff", "painter"],
    ] {
        drop(camp.biv(arguments).run().ok());
    }
    assert_eq!(written(), before);
}
