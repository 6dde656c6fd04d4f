//! Command lines that are carried out elsewhere.

use crate::pair::{Pair, Words};
use crate::support::terminal::Terminal;
use crate::support::{until, until_told};

const STRANGE: &[&str] = &[
    "two words  and   more",
    "it's \"quoted\" `twice` $HOME $(id) \\ end\\",
    "first line\nsecond line\n\nlast",
    "--json",
    "* ? [a] ~ ; & | > < # ! %s ünïcode",
];

fn prompts_arrive(words: Words) {
    let pair = Pair::new(words);
    let repository = pair.there.repository("r");
    let fix = pair.there.start(&repository, "fix it", &[]);
    for text in STRANGE {
        drop(
            pair.biv(&["send", "far:fix it", "--now", "--", text])
                .run()
                .ok(),
        );
        drop(
            pair.biv(&["wait", "far:fix it", "--for", "idle"])
                .run()
                .ok(),
        );
    }
    drop(
        pair.biv(&["send", "far:fix it", "--now", "-"])
            .stdin("from a pipe")
            .run()
            .ok(),
    );
    until("all prompts have arrived", || {
        fix.prompts(&pair.there).len() == STRANGE.len() + 1
    });
    let mut expected = STRANGE.to_vec();
    expected.push("from a pipe");
    assert_eq!(fix.prompts(&pair.there), expected);
}

#[test]
fn every_text_arrives_as_it_was_typed() {
    prompts_arrive(Words::Exact);
}

#[test]
fn every_text_arrives_through_a_shell_too() {
    prompts_arrive(Words::Joined);
}

#[test]
fn streams_and_exit_status_are_those_of_the_command() {
    let pair = Pair::new(Words::Joined);
    let repository = pair.there.repository("r");
    let fix = pair.there.start(&repository, "fix", &[]);
    let script = "cat; pwd; printf '%s|' \"$@\"; echo problem >&2; exit 41";
    let answer = pair
        .biv(&[
            "exec", "far:fix", "--", "sh", "-c", script, "x", "a b", "", "-c", "it's",
        ])
        .stdin("some\ninput\n")
        .run()
        .fails(41);
    let worktree = fix.worktree.display();
    assert_eq!(
        answer.stdout,
        format!("some\ninput\n{worktree}\na b||-c|it's|")
    );
    assert_eq!(answer.stderr, "problem\n");
    // A command that reads nothing leaves the input to others.
    let shown = pair.biv(&["show", "far:fix", "--json"]).run().ok().json();
    assert_eq!(
        (&shown["id"], &shown["host"]),
        (&fix.id.as_str().into(), &"far".into())
    );
    let missing = pair.biv(&["show", "far:nothing"]).run().fails(3);
    assert!(
        missing.stderr.contains("no instance `nothing`"),
        "{missing:?}"
    );
    let json = pair
        .biv(&["show", "far:nothing", "--json"])
        .run()
        .fails(3)
        .json();
    assert_eq!(json["error"]["code"], "no_such_instance");
    // Nothing of it is here.
    assert_eq!(pair.count_here(), 0);
}

#[test]
fn one_command_acts_here_and_there() {
    let pair = Pair::new(Words::Exact);
    let there = pair.there.start(&pair.there.repository("r"), "same", &[]);
    let here = pair.here.start(&pair.here.repository("r"), "same", &[]);
    let paused = pair.biv(&["pause", "same", "far:same"]).run().ok();
    assert!(paused.stderr.contains("biv resume far:same"), "{paused:?}");
    assert_eq!(pair.here.show(&here)["state"], "paused");
    assert_eq!(pair.there.show(&there)["state"], "paused");
    // A mistake in one place does not stop the other, and is told.
    let some = pair.biv(&["resume", "same", "far:none"]).run().fails(3);
    assert!(some.stderr.contains("no instance `none`"), "{some:?}");
    assert_eq!(pair.here.show(&here)["state"], "running");
    let refused = pair
        .biv(&["pause", "same", "far:same", "--json"])
        .run()
        .fails(2);
    assert!(refused.stdout.contains("on one machine"), "{refused:?}");
    drop(pair.biv(&["kill", "-y", "same", "far:same"]).run().ok());
    assert_eq!(pair.count_here(), 0);
    assert!(pair.there.list().is_empty());
}

#[test]
fn a_title_with_a_colon_is_used_where_it_can_mean_one_thing_only() {
    let pair = Pair::new(Words::Exact);
    let repository = pair.here.repository("r");
    let note = pair.here.start(&repository, "note: this", &[]);
    let shown = pair
        .biv(&["show", "note: this", "--json"])
        .run()
        .ok()
        .json();
    assert_eq!(shown["id"], note.id.as_str());
    let both = pair.here.start(&repository, "far:out", &[]);
    let refused = pair.biv(&["show", "far:out"]).run().fails(3);
    assert!(
        refused.stderr.contains("is an instance here"),
        "{refused:?}"
    );
    drop(pair.biv(&["show", &both.id]).run().ok());
    let nothing = pair.biv(&["show", "other:x"]).run().fails(3);
    assert!(nothing.stderr.contains("biv host list"), "{nothing:?}");
}

#[test]
fn attaching_gives_the_terminal_to_the_other_side() {
    let pair = Pair::new(Words::Exact);
    drop(pair.there.start(&pair.there.repository("r"), "fix", &[]));
    let terminal = Terminal::running(&pair.here, "biv attach far:fix");
    until_told(
        || format!("the agent is shown\n{}", terminal.screen()),
        || {
            terminal
                .screen()
                .contains("/help for commands")
                .then_some(())
        },
    );
    terminal.press(&["C-q"]);
    until_told(
        || format!("it is left\n{}", terminal.screen()),
        || terminal.screen().contains("ended with 0").then_some(()),
    );
    let no_terminal = pair.biv(&["attach", "far:fix"]).run().fails(1);
    assert!(
        no_terminal.stderr.contains("needs a terminal"),
        "{no_terminal:?}"
    );
}
