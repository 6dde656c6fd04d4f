//! Dialogs that the user answers from the command line.

use std::path::Path;

use serde_json::Value;

use crate::support::{Camp, Instance};

/// A demo agent that shows this dialog.
fn asking(camp: &Camp, prompt: &str, activity: &str) -> Instance {
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "asks", &["-p", prompt]);
    instance.wait_for(camp, "activity", activity);
    instance
}

fn open(camp: &Camp) -> Value {
    camp.biv(["answer", "asks", "--json"]).run().ok().json()
}

#[test]
fn what_is_asked_is_shown_in_the_list_and_in_full() {
    let camp = Camp::new();
    let instance = asking(&camp, "/run touch made", "approval");
    let dialog = open(&camp);
    assert_eq!(dialog["title"], "asks");
    assert_eq!(dialog["agent"], "demo");
    assert_eq!(dialog["command"], "touch made");
    assert_eq!(dialog["choices"][0]["kind"], "yes_once");
    let said = camp.biv(["answer", "asks"]).run().ok().stdout;
    for part in ["touch made", "1  Yes", "--dialog"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let asks = camp.show(&instance)["asks"]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(asks.ends_with("· touch made"), "{asks}");
    let listed = camp.biv(["list"]).run().ok().stdout;
    assert!(listed.contains(&format!("asks: {asks}")), "{listed}");
    drop(camp.biv(["timeout", "asks", "15m"]).run().ok());
    let shown = camp.biv(["show", "asks"]).run().ok().stdout;
    for row in [
        format!("  asks         {asks}\n"),
        "  idle pause   after 15m\n".to_owned(),
    ] {
        assert!(shown.contains(&row), "{row}{shown}");
    }
    assert!(!shown.contains("autoyes"), "{shown}");
    drop(camp.biv(["autoyes", "asks", "on"]).run().ok());
    let shown = camp.biv(["show", "asks"]).run().ok().stdout;
    assert!(shown.contains("  autoyes      on\n"), "{shown}");
}

#[test]
fn yes_allows_this_once_and_no_carries_a_reason() {
    let camp = Camp::new();
    let instance = asking(&camp, "/run touch made", "approval");
    let answered = camp.biv(["answer", "asks", "yes", "--json"]).run().ok();
    let answered = answered.json();
    assert_eq!(answered["choice"], 1, "{answered}");
    assert_eq!(answered["gone"], true, "{answered}");
    instance.wait_for(&camp, "activity", "idle");
    assert!(instance.worktree.join("made").exists());

    for no in [
        &["no", "--reason", "make a third one"][..],
        &["no", "make a fourth one"],
    ] {
        drop(camp.biv(["send", "asks", "/run touch other"]).run().ok());
        instance.wait_for(&camp, "activity", "approval");
        drop(camp.biv(["answer", "asks"]).args(no).run().ok());
        instance.wait_screen(&camp, no.last().unwrap());
        assert!(!instance.worktree.join("other").exists());
        instance.wait_for(&camp, "activity", "idle");
    }
}

#[test]
fn a_question_without_a_no_is_declined() {
    let camp = Camp::new();
    let instance = asking(&camp, "/ask Tea? | Green | Black", "question");
    let asks = camp.show(&instance)["asks"].clone();
    assert_eq!(asks["takes_yes"], false, "{asks}");
    assert_eq!(asks["takes_no"], true, "{asks}");
    let declined = camp.biv(["answer", "asks", "no", "--json"]).run().ok();
    let declined = declined.json();
    assert!(declined["choice"].is_null(), "{declined}");
    assert_eq!(declined["gone"], true, "{declined}");
    instance.wait_for(&camp, "activity", "idle");
    drop(
        camp.biv(["send", "asks", "/ask Milk? | Yes | No"])
            .run()
            .ok(),
    );
    instance.wait_for(&camp, "activity", "question");
    let said = camp.biv(["answer", "asks", "no", "cold"]).run().ok().stdout;
    assert!(said.contains("Declined what `asks` asked."), "{said}");
    instance.wait_screen(&camp, "cold");
}

#[test]
fn an_answer_is_bound_to_the_dialog_that_was_read() {
    let camp = Camp::new();
    let instance = asking(&camp, "/ask Tea? | Green | Black", "question");
    let first = open(&camp)["dialog"].as_str().unwrap().to_owned();
    drop(camp.biv(["answer", "asks", "bla"]).run().ok());
    instance.wait_screen(&camp, "Black");
    instance.wait_for(&camp, "activity", "idle");

    // It is gone, then another one is open: nothing is pressed.
    let again = ["answer", "asks", "1", "--dialog", &first];
    let said = camp.biv(again).run().fails(4).said();
    assert!(said.contains("`asks` shows no dialog"), "{said}");
    drop(camp.biv(["send", "asks", "/run touch made"]).run().ok());
    instance.wait_for(&camp, "activity", "approval");
    let said = camp.biv(again).run().fails(4).said();
    assert!(said.contains("another dialog"), "{said}");
    assert!(!instance.worktree.join("made").exists());
    instance.wait_for(&camp, "activity", "approval");
}

#[test]
fn what_cannot_be_answered_is_said_and_nothing_is_pressed() {
    let camp = Camp::new();
    let instance = asking(&camp, "/ask Tea? | Green | Black", "question");
    for (choice, exit) in [("3", 2), ("0", 2), ("milk", 2), ("yes", 2)] {
        let said = camp
            .biv(["answer", "asks", choice])
            .run()
            .fails(exit)
            .said();
        assert!(said.contains("1 (Green), 2 (Black)"), "{choice}: {said}");
    }
    let reason = ["answer", "asks", "1", "--reason", "because"];
    drop(camp.biv(reason).run().fails(2));
    instance.wait_for(&camp, "activity", "question");
    drop(camp.biv(["pause", "asks", "--now"]).run().ok());
    let said = camp.biv(["answer", "asks", "1"]).run().fails(4).said();
    assert!(said.contains("it is paused"), "{said}");
}

fn program(file: &Path, script: &str) {
    std::fs::write(file, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(file, mode).unwrap();
}

/// Waits until the first key that it has read is that of `No`, the fourth choice of the recorded dialog.
#[track_caller]
fn wait_for_the_no(instance: &Instance) {
    let keys = instance.worktree.join("keys");
    crate::support::until("the key is read", || {
        std::fs::read_to_string(&keys).is_ok_and(|keys| keys == "4")
    });
}

fn real_tmux() -> std::path::PathBuf {
    let path = std::env::var("PATH").unwrap();
    std::env::split_paths(&path)
        .map(|directory| directory.join("tmux"))
        .find(|program| program.exists())
        .unwrap()
}

/// A camp in which `claude` is this script, and an instance of it at its prompt.
fn with_claude(script: &str) -> (Camp, Instance) {
    let camp = Camp::new();
    let programs = camp.root().join("programs");
    std::fs::create_dir(&programs).unwrap();
    program(&programs.join("claude"), script);
    let path = std::env::var("PATH").unwrap();
    let screens = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/screens/claude");
    let camp = camp
        .with("PATH", &format!("{}:{path}", programs.display()))
        .with("SCREENS", screens)
        .with("BIV", env!("CARGO_BIN_EXE_biv"));
    let repository = camp.repository("app");
    let new = ["new", "--json", "asks", "-a", "claude", "--repo"];
    let started = camp.biv(new).arg(&repository.path).run().ok();
    let instance = Instance::from_json(&started.json());
    instance.wait_for(&camp, "activity", "idle");
    (camp, instance)
}

/// A `claude` whose hook says that it asks when the worktree has a file `ask`, and which draws the question when
/// there is a file `draw`.
const ASKS_BEFORE_IT_DRAWS: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }
cat "$SCREENS/idle/idle-empty.txt"
until [ -e ask ]; do sleep 0.1; done
printf '\033[2J\033[H'
echo '{"tool_name":"AskUserQuestion"}' | "$BIV" hook claude PermissionRequest
until [ -e draw ]; do sleep 0.1; done
cat "$SCREENS/question/ask-question.txt"
sleep 600
"#;

#[test]
fn a_question_that_is_not_drawn_yet_is_waited_for() {
    let (camp, instance) = with_claude(ASKS_BEFORE_IT_DRAWS);
    std::fs::write(instance.worktree.join("ask"), "").unwrap();
    instance.wait_for(&camp, "activity", "question");
    let asked = std::thread::scope(|scope| {
        let asked = scope.spawn(|| open(&camp));
        std::thread::sleep(std::time::Duration::from_millis(500));
        std::fs::write(instance.worktree.join("draw"), "").unwrap();
        asked.join().unwrap()
    });
    assert_eq!(asked["choices"][0]["label"], "Postgres", "{asked:#}");
}

/// A `claude` whose dialog moves by a row again and again for two seconds when the worktree has a file `ask`, as below
/// output that comes in, and then stays. The key that it reads is in a file `keys`.
const ASKS_AND_MOVES: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }
cat "$SCREENS/idle/idle-empty.txt"
until [ -e ask ]; do sleep 0.1; done
stty raw -echo
dialog=$(sed 's/$/\r/' "$SCREENS/approval/perm-bash.txt" | grep -A 99 'Bash command')
for row in 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8; do
    printf '\033[2J\033[%d;1H%s' $row "$dialog"
    sleep 0.03
done
dd bs=1 count=1 of=keys 2>/dev/null
sleep 600
"#;

#[test]
fn a_dialog_that_moves_is_answered_where_it_is() {
    let (camp, instance) = with_claude(ASKS_AND_MOVES);
    std::fs::write(instance.worktree.join("ask"), "").unwrap();
    instance.wait_for(&camp, "activity", "approval");
    let answered = camp.biv(["answer", "asks", "no", "--json"]).run().ok();
    let answered = answered.json();
    assert_eq!(answered["keys"], serde_json::json!(["4"]), "{answered:#}");
    wait_for_the_no(&instance);
}

/// A `claude` that draws a part of its dialog anew, further down, when the worktree has a file `press`, and the rest
/// when there is a file `rest`.
const ASKS_AND_DRAWS_ANEW: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }
cat "$SCREENS/idle/idle-empty.txt"
until [ -e ask ]; do sleep 0.1; done
stty raw -echo
dialog=$(sed 's/$/\r/' "$SCREENS/approval/perm-bash.txt" | grep -A 99 'Bash command')
printf '\033[2J\033[H%s' "$dialog"
until [ -e press ]; do sleep 0.01; done
printf '\033[2J\033[5;1H%s' "$(printf '%s' "$dialog" | head -n 3)"
: >part
until [ -e rest ]; do sleep 0.01; done
printf '\033[2J\033[5;1H%s' "$dialog"
: >whole
dd bs=1 count=1 of=keys 2>/dev/null
sleep 600
"#;

/// A tmux that lets that agent draw the part just before a key would be pressed, and the rest after the next look.
const DRAWS_BETWEEN: &str = r#"#!/bin/sh
at=WORKTREE
wait_for() { until [ -e "$at/$1" ]; do sleep 0.01; done; }
case "$*" in
*if-shell*send-keys*) [ -e $at/press ] || { : >$at/press; wait_for part; } ;;
*capture-pane*)
    if [ -e $at/looked ]; then : >$at/rest; wait_for whole; fi
    [ ! -e $at/part ] || : >$at/looked
    ;;
esac
exec PROGRAM "$@"
"#;

#[test]
fn a_dialog_that_is_drawn_anew_is_answered_when_it_is_whole() {
    let (camp, instance) = with_claude(ASKS_AND_DRAWS_ANEW);
    std::fs::write(instance.worktree.join("ask"), "").unwrap();
    instance.wait_for(&camp, "activity", "approval");
    let path = std::env::var("PATH").unwrap();
    let tmux = real_tmux();
    let between = camp.root().join("between");
    std::fs::create_dir(&between).unwrap();
    let script = DRAWS_BETWEEN
        .replace("WORKTREE", instance.worktree.to_str().unwrap())
        .replace("PROGRAM", tmux.to_str().unwrap());
    program(&between.join("tmux"), &script);
    let answered = camp
        .biv(["answer", "asks", "no", "--json"])
        .env("PATH", format!("{}:{path}", between.display()))
        .run()
        .ok();
    assert_eq!(answered.json()["keys"], serde_json::json!(["4"]));
    assert!(instance.worktree.join("whole").exists());
    wait_for_the_no(&instance);
}

/// A `claude` that draws its dialog while its hook is asked about COMMAND, and that takes the answer of whichever comes
/// first. A tmux that the hook asks waits for a file `decide`. The key that is read is in a file `keys`.
const DRAWS_BEFORE_ITS_HOOK: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }
cat "$SCREENS/idle/idle-empty.txt"
until [ -e ask ]; do sleep 0.1; done
stty raw -echo
dialog=$(sed 's/$/\r/' "$SCREENS/approval/perm-bash.txt" | grep -A 99 'Bash command')
printf '\033[2J\033[H%s' "$dialog"
echo '{"tool_name":"Bash","tool_input":{"command":"COMMAND"},"cwd":"'"$PWD"'"}' |
    PATH="${0%/*}/slow:$PATH" "$BIV" hook claude PermissionRequest >answer
if [ -s answer ]; then
    printf '\033[2J\033[H%s' "$(sed 's/$/\r/' "$SCREENS/idle/idle-empty.txt")"
fi
dd bs=1 count=1 of=keys 2>/dev/null
sleep 600
"#;

/// A tmux that lets the user's answer begin before the hook has decided.
const DECIDES_LATER: &str = r#"#!/bin/sh
case "$*" in *capture-pane*) until [ -e WORKTREE/decide ]; do sleep 0.01; done ;; esac
exec PROGRAM "$@"
"#;

/// An instance that asks about this command on its screen and by its hook, which autoyes answers.
fn asking_by_hook(command: &str) -> (Camp, Instance) {
    let (camp, instance) = with_claude(&DRAWS_BEFORE_ITS_HOOK.replace("COMMAND", command));
    let slow = camp.root().join("programs/slow");
    std::fs::create_dir(&slow).unwrap();
    let decides_later = DECIDES_LATER
        .replace("WORKTREE", instance.worktree.to_str().unwrap())
        .replace("PROGRAM", real_tmux().to_str().unwrap());
    program(&slow.join("tmux"), &decides_later);
    crate::autoyes::switch_on(&camp, &instance);
    std::fs::write(instance.worktree.join("ask"), "").unwrap();
    let report = camp.instances_dir().join(&instance.id).join("hook.json");
    crate::support::until("the hook is asked", || {
        std::fs::read_to_string(&report).is_ok_and(|report| report.contains("PermissionRequest"))
    });
    instance.wait_for(&camp, "activity", "approval");
    (camp, instance)
}

#[test]
fn a_dialog_that_a_hook_answers_gets_no_key() {
    let (camp, instance) = asking_by_hook("touch made");
    let refused = std::thread::scope(|scope| {
        let answer = camp.biv(["answer", "asks", "no"]);
        let answered = scope.spawn(|| answer.run().fails(4).said());
        std::thread::sleep(std::time::Duration::from_millis(500));
        std::fs::write(instance.worktree.join("decide"), "").unwrap();
        answered.join().unwrap()
    });
    assert!(refused.contains("autoyes has answered"), "{refused}");
    assert!(refused.contains("biv audit asks"), "{refused}");
    instance.wait_for(&camp, "activity", "idle");
    // Made when it waits for a key.
    let keys = instance.worktree.join("keys");
    assert_eq!(std::fs::read_to_string(keys).unwrap_or_default(), "");
}

#[test]
fn a_dialog_that_a_hook_leaves_is_answered() {
    let (camp, instance) = asking_by_hook("./unknown");
    drop(camp.biv(["answer", "asks", "no"]).run().ok());
    wait_for_the_no(&instance);
}
