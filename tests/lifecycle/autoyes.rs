//! Dialogs that are answered by the policy, on real screens: the right one, once, and not while
//! a person is there.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::terminal::Terminal;
use crate::support::{Camp, Instance, until};

pub(crate) fn asking(camp: &Camp, title: &str, prompt: &str) -> Instance {
    let repository = camp.repository("app");
    let instance = camp.start(&repository, title, &[]);
    instance.wait_idle(camp);
    ask(camp, &instance, prompt);
    instance
}

/// Gives it something to ask about, and waits until it asks.
pub(crate) fn ask(camp: &Camp, instance: &Instance, prompt: &str) {
    drop(camp.biv(["send", &instance.id, prompt]).run().ok());
    instance.wait_for(camp, "activity", "approval");
}

/// Switches it on without a daemon that would be quicker than the test.
pub(crate) fn switch_on(camp: &Camp, instance: &Instance) {
    let switch = camp.instances_dir().join(&instance.id).join("autoyes.json");
    let on = r#"{"format":1,"on":true,"until":null,"changed_at":"2026-11-15T18:02:00Z"}"#;
    std::fs::write(switch, on).unwrap();
}

pub(crate) fn answer(camp: &Camp, instance: &Instance) -> Value {
    camp.biv(["__answer", &instance.id]).run().ok().json()
}

fn audit(camp: &Camp) -> Vec<(String, String)> {
    let audit = camp.biv(["audit", "--json"]).run().ok().json();
    assert_eq!(audit["intact"], true);
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap().to_owned();
    let entries = audit["entries"].as_array().unwrap().iter();
    entries
        .map(|entry| (text(entry, "decision"), text(entry, "outcome")))
        .collect()
}

fn said(decision: &str, outcome: &str) -> (String, String) {
    (decision.to_owned(), outcome.to_owned())
}

#[test]
fn what_is_harmless_runs_what_is_harmful_does_not_and_the_rest_waits() {
    let camp = Camp::new();
    let instance = asking(&camp, "works", "/run touch made.txt");
    assert_eq!(
        answer(&camp, &instance)["outcome"],
        "off",
        "unless it is asked for"
    );
    switch_on(&camp, &instance);
    let answered = answer(&camp, &instance);
    assert_eq!(answered["outcome"], "accepted", "{answered}");
    assert_eq!(answered["keys"], serde_json::json!(["1"]));
    instance.wait_idle(&camp);
    assert!(instance.worktree.join("made.txt").exists());

    ask(&camp, &instance, "/run rm -rf made.txt");
    assert_eq!(answer(&camp, &instance)["outcome"], "rejected");
    instance.wait_idle(&camp);
    assert!(instance.worktree.join("made.txt").exists());

    ask(&camp, &instance, "/write .git/hooks/pre-commit evil");
    assert_eq!(answer(&camp, &instance)["outcome"], "rejected");
    instance.wait_idle(&camp);
    ask(&camp, &instance, "/write notes/plan.md good");
    assert_eq!(answer(&camp, &instance)["outcome"], "accepted");
    instance.wait_idle(&camp);
    assert!(instance.worktree.join("notes/plan.md").exists());

    ask(&camp, &instance, "/run ./unknown");
    for _ in 0..2 {
        assert_eq!(answer(&camp, &instance)["outcome"], "manual");
    }
    instance.wait_for(&camp, "activity", "approval");
    assert_eq!(
        audit(&camp),
        [
            said("accept", "decided"),
            said("accept", "gone"),
            said("reject", "decided"),
            said("reject", "gone"),
            said("reject", "decided"),
            said("reject", "gone"),
            said("accept", "decided"),
            said("accept", "gone"),
            said("manual", "left"),
        ]
    );
    let events = std::fs::read_to_string(camp.home().join("state/events.jsonl")).unwrap();
    for kind in ["autoyes:answered", "autoyes:rejected", "autoyes:manual"] {
        assert!(events.contains(kind), "{kind}\n{events}");
    }
}

#[test]
fn trust_questions_and_limits_are_a_persons_matter() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "asks", &[]);
    instance.wait_idle(&camp);
    switch_on(&camp, &instance);
    for (prompt, activity, outcome) in [
        ("/ask Shall I? | Yes | No", "question", "manual"),
        ("/trust", "blocked", "no_dialog"),
        ("/limit", "blocked", "no_dialog"),
    ] {
        drop(camp.biv(["send", &instance.id, prompt]).run().ok());
        instance.wait_for(&camp, "activity", activity);
        assert_eq!(answer(&camp, &instance)["outcome"], outcome, "{prompt}");
        instance.wait_for(&camp, "activity", activity);
        press(&camp, &instance, &["Escape"]);
        if prompt != "/trust" {
            instance.wait_idle(&camp);
        } else {
            instance.wait_for(&camp, "state", "completed");
            drop(camp.biv(["resume", &instance.id]).run().ok());
            instance.wait_idle(&camp);
        }
    }
}

#[test]
fn a_person_always_wins() {
    let camp = Camp::new();
    let instance = asking(&camp, "watched", "/run ls");
    switch_on(&camp, &instance);
    let terminal = Terminal::running(&camp, "biv attach watched");
    terminal.wait_for("Do you want to proceed?");
    assert_eq!(answer(&camp, &instance)["outcome"], "person_here");
    terminal.press(&["C-q"]);
    terminal.wait_for("ended with 0");
    // A user who scrolls has the keys: they would not reach the agent.
    tmux(&camp, &["copy-mode", "-t", &pane(&camp, &instance)]);
    assert_ne!(answer(&camp, &instance)["outcome"], "accepted");
    tmux(
        &camp,
        &["send-keys", "-t", &pane(&camp, &instance), "-X", "cancel"],
    );
    assert_eq!(answer(&camp, &instance)["outcome"], "accepted");
}

#[test]
fn the_same_again_and_again_stops_it() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "loops", &[]);
    instance.wait_idle(&camp);
    switch_on(&camp, &instance);
    let mut outcomes = Vec::new();
    for _ in 0..5 {
        ask(&camp, &instance, "/run ls");
        let answered = answer(&camp, &instance);
        outcomes.push(answered["outcome"].as_str().unwrap().to_owned());
        if outcomes.last().is_some_and(|last| last == "accepted") {
            instance.wait_idle(&camp);
        }
    }
    assert_eq!(
        outcomes,
        ["accepted", "accepted", "accepted", "accepted", "stopped"]
    );
    assert_eq!(camp.show(&instance)["autoyes"], false);
    let events = std::fs::read_to_string(camp.home().join("state/events.jsonl")).unwrap();
    assert!(events.contains("autoyes:stopped"), "{events}");
    // Told also after the event, until the user switches it.
    let why = "the same dialog comes again and again";
    assert_eq!(camp.show(&instance)["autoyes_stopped"], why);
    for look in ["show", "autoyes"] {
        let said = camp.biv([look, &instance.id]).run().ok().stdout;
        assert!(said.contains(why), "{said}");
    }
    drop(camp.biv(["autoyes", &instance.id, "off"]).run().ok());
    assert!(camp.show(&instance)["autoyes_stopped"].is_null());
}

#[test]
fn a_mistake_in_the_policy_turns_it_off_and_says_so() {
    let camp = Camp::new();
    let instance = asking(&camp, "strict", "/run ls");
    let file = camp.home().join("config/policy.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(
        &file,
        "schema = 1\n[[accept]]\nid = 'x'\nprogram = ['x']\nmatch = ['y']\n",
    )
    .unwrap();
    switch_on(&camp, &instance);
    let answered = answer(&camp, &instance);
    assert_eq!(answered["outcome"], "stopped", "{answered}");
    assert!(
        answered["reason"].as_str().unwrap().contains("`x`"),
        "{answered}"
    );
    assert_eq!(camp.show(&instance)["autoyes"], false);
    drop(camp.biv(["policy", "test"]).run().fails(1));
    std::fs::write(
        &file,
        "schema = 1\n[[manual]]\nid = 'mine'\nprogram = ['ls']\nmatch = ['ls']\n",
    )
    .unwrap();
    drop(camp.biv(["policy", "test"]).run().ok());
    switch_on(&camp, &instance);
    let answered = answer(&camp, &instance);
    assert_eq!(
        (answered["outcome"].as_str(), answered["rule"].as_str()),
        (Some("manual"), Some("mine"))
    );
    // A repository may make it stricter, and nothing else.
    std::fs::write(&file, "schema = 1\n").unwrap();
    let own = instance.worktree.join(".bivouac/policy.toml");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(
        &own,
        "schema = 1\n[[reject]]\nid = 'theirs'\nprogram = ['ls']\nmatch = ['ls']\n",
    )
    .unwrap();
    assert_eq!(answer(&camp, &instance)["rule"], "theirs");
    std::fs::write(
        &own,
        "schema = 1\n[[accept]]\nid = 'theirs'\nprogram = ['rm']\nmatch = ['rm x']\n",
    )
    .unwrap();
    instance.wait_idle(&camp);
    ask(&camp, &instance, "/run ls");
    assert_eq!(answer(&camp, &instance)["outcome"], "stopped");
}

#[test]
fn the_daemon_answers_what_it_sees() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "alone", &[]);
    instance.wait_idle(&camp);
    let on = camp
        .biv(["autoyes", "--json", "alone", "on", "--for", "1h"])
        .run()
        .ok()
        .json();
    assert_eq!(on["autoyes"], true);
    drop(
        camp.biv(["send", "alone", "/run touch made.txt"])
            .run()
            .ok(),
    );
    until("the daemon says yes", || {
        instance.worktree.join("made.txt").exists()
    });
    drop(
        camp.biv(["send", "alone", "/run rm -rf made.txt"])
            .run()
            .ok(),
    );
    until("the daemon says no", || {
        audit(&camp).contains(&said("reject", "gone"))
    });
    assert!(instance.worktree.join("made.txt").exists());
    drop(camp.biv(["daemon", "stop"]).run().ok());
}

#[test]
fn a_hook_is_answered_by_the_same_policy() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "hooked", &[]);
    let asked = |tool: &str, input: Value, directory: &PathBuf| {
        let payload = serde_json::json!({
            "hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": input,
            "cwd": directory,
        });
        let call = camp
            .biv(["hook", "claude", "PermissionRequest"])
            .env("BIV_INSTANCE", &instance.id)
            .stdin(payload.to_string());
        let text = call.run().ok().stdout;
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        answer["hookSpecificOutput"]["decision"]["behavior"]
            .as_str()
            .map(str::to_owned)
    };
    let here = &instance.worktree;
    let run = |command: &str| asked("Bash", serde_json::json!({ "command": command }), here);
    assert_eq!(run("cargo test"), None, "unless it is asked for");
    switch_on(&camp, &instance);
    assert_eq!(run("cargo test").as_deref(), Some("allow"));
    assert_eq!(run("git push --force").as_deref(), Some("deny"));
    assert_eq!(run("npm install"), None);
    let write = |path: &str| asked("Write", serde_json::json!({ "file_path": path }), here);
    assert_eq!(
        write(here.join("a.rs").to_str().unwrap()).as_deref(),
        Some("allow")
    );
    assert_eq!(write("/etc/hosts").as_deref(), Some("deny"));
    assert_eq!(asked("AskUserQuestion", Value::Null, here), None);
    let elsewhere = camp.root();
    assert_eq!(
        asked(
            "Bash",
            serde_json::json!({ "command": "git add -A" }),
            &elsewhere
        ),
        None
    );
    assert_eq!(audit(&camp)[0], said("accept", "told"));
}

#[test]
fn a_turn_in_the_foreground_is_answered_until_it_ends() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let prompt = "/run touch made.txt";
    let call = camp.biv(["run", "works", "-a", "demo", "--autoyes", "-p", prompt]);
    drop(call.within(&repository.path).run().ok());
    let shown = camp.biv(["show", "works", "--json"]).run().ok().json();
    assert_eq!(shown["activity"], "idle", "{shown:#}");
    let worktree = Instance::from_json(&shown).worktree;
    assert!(worktree.join("made.txt").exists());
    assert_eq!(
        audit(&camp),
        [said("accept", "decided"), said("accept", "gone")]
    );
}

#[test]
fn no_agent_switches_it_on() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "works", &[]);
    for call in [
        camp.biv(["autoyes", "works", "on"]),
        camp.biv(["new", "another", "-a", "demo", "--autoyes"]),
        camp.biv(["run", "-a", "demo", "--autoyes", "-p", "anything"]),
    ] {
        let call = call
            .within(&repository.path)
            .env("BIV_INSTANCE", &instance.id);
        let said = call.run().fails(1).said();
        assert!(said.contains("from inside"), "{said}");
    }
    assert_eq!(camp.list().len(), 1);
}

/// 2,000 with `BIV_TEST_LONG` set.
#[test]
fn no_key_ever_goes_into_another_dialog() {
    let long = std::env::var_os("BIV_TEST_LONG").is_some();
    let wanted = if long { 2_000 } else { 25 };
    let camp = Camp::new();
    let config = camp.home().join("config");
    std::fs::create_dir_all(config.join("agents")).unwrap();
    let log = camp.root().join("swapper.log");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lifecycle/swapper.py");
    let command = serde_json::json!(["python3", script, log, "7"]);
    std::fs::write(
        config.join("agents/demo.toml"),
        format!("command = {command}\nargs = []\n[session]\nfresh = []\n"),
    )
    .unwrap();
    std::fs::write(
        config.join("policy.toml"),
        "schema = 1\n[autoyes]\nper_minute = 1000000\nper_hour = 1000000\nrejections = 1000000\n",
    )
    .unwrap();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "swaps", &[]);
    instance.wait_for(&camp, "activity", "approval");
    switch_on(&camp, &instance);
    let mut answered = Vec::new();
    // On a busy machine most dialogs have gone before the key comes. A call has a deadline, so it answers few.
    let in_a_call = 5;
    for _ in 0..wanted / in_a_call {
        let count = in_a_call.to_string();
        let call = camp.biv(["__answer", "--count", &count, &instance.id]);
        answered.push(call.run().ok().json());
    }
    let told = std::fs::read_to_string(&log).unwrap();
    let lines = |what: &str| told.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!(lines("wrong"), 0, "{answered:?}\n{told}");
    assert_eq!(lines("right"), wanted, "{answered:?}\n{told}");
    if long {
        println!("{answered:?}");
    }
    // The rig itself: code that looks first and presses then is caught by it.
    std::fs::write(&log, "").unwrap();
    let pane = pane(&camp, &instance);
    until("a key goes astray", || {
        let screen = tmux(&camp, &["capture-pane", "-p", "-t", &pane]);
        if screen.contains(" ls a") {
            std::thread::sleep(std::time::Duration::from_millis(50));
            tmux(&camp, &["send-keys", "-t", &pane, "1"]);
        }
        std::fs::read_to_string(&log).unwrap().contains("wrong")
    });
}

fn pane(camp: &Camp, instance: &Instance) -> String {
    let session = camp.show(instance)["tmux_session"]
        .as_str()
        .unwrap()
        .to_owned();
    let format = [
        "list-panes",
        "-t",
        &format!("={session}"),
        "-F",
        "#{pane_id}",
    ];
    tmux(camp, &format).trim().to_owned()
}

pub(crate) fn press(camp: &Camp, instance: &Instance, keys: &[&str]) {
    let pane = pane(camp, instance);
    tmux(camp, &[&["send-keys", "-t", &pane], keys].concat());
}

fn tmux(camp: &Camp, arguments: &[&str]) -> String {
    let output = Command::new("tmux")
        .args(["-u", "-N", "-S", "tmux.sock"])
        .args(arguments)
        .current_dir(camp.home().join("run"))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What an agent's hook is answered that asks whether it may run `ls`.
fn hook_says(camp: &Camp, instance: &Instance) -> String {
    let payload = serde_json::json!({
        "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": { "command": "ls" }, "cwd": instance.worktree,
    });
    camp.biv(["hook", "claude", "PermissionRequest"])
        .env("BIV_INSTANCE", &instance.id)
        .stdin(payload.to_string())
        .run()
        .ok()
        .stdout
}

#[test]
fn it_is_switched_off_at_once_while_a_pause_waits() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "busy", &[]);
    instance.wait_idle(&camp);
    switch_on(&camp, &instance);
    drop(camp.biv(["send", "busy", "/busy 600"]).run().ok());
    instance.wait_for(&camp, "activity", "busy");
    let mut pause = camp
        .biv(["pause", "--wait", "forever", "busy"])
        .in_background();
    instance.wait_for(&camp, "state", "pausing");
    assert!(hook_says(&camp, &instance).contains("allow"));
    let off = camp.biv(["autoyes", "--json", "busy", "off"]).run().ok();
    assert_eq!(off.json()["autoyes"], false);
    assert_eq!(hook_says(&camp, &instance), "");
    assert_eq!(answer(&camp, &instance)["outcome"], "off");
    let shown = camp.show(&instance);
    assert_eq!(
        (&shown["state"], &shown["autoyes"]),
        (&"pausing".into(), &false.into())
    );
    drop(camp.biv(["pause", "--cancel", "busy"]).run().ok());
    pause.wait().unwrap();
    assert_eq!(camp.show(&instance)["autoyes"], false);
}

#[test]
fn a_loop_is_broken_while_a_pause_waits() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "busy", &[]);
    instance.wait_idle(&camp);
    switch_on(&camp, &instance);
    drop(camp.biv(["send", "busy", "/busy 600"]).run().ok());
    instance.wait_for(&camp, "activity", "busy");
    let mut pause = camp
        .biv(["pause", "--wait", "forever", "busy"])
        .in_background();
    instance.wait_for(&camp, "state", "pausing");
    until("the same question is answered no more", || {
        hook_says(&camp, &instance).is_empty()
    });
    assert_eq!(camp.show(&instance)["autoyes"], false);
    let events = std::fs::read_to_string(camp.home().join("state/events.jsonl")).unwrap();
    assert!(events.contains("autoyes:stopped"), "{events}");
    drop(camp.biv(["pause", "--cancel", "busy"]).run().ok());
    pause.wait().unwrap();
}

#[test]
fn a_switch_in_an_old_record_is_taken_over_and_a_damaged_one_is_off() {
    let camp = Camp::new();
    let instance = asking(&camp, "old", "/run ls");
    let directory = camp.instances_dir().join(&instance.id);
    let record = directory.join("record.json");
    let mut stored: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    stored["format"] = 1.into();
    stored["autoyes"] = true.into();
    std::fs::write(&record, stored.to_string()).unwrap();
    assert_eq!(camp.show(&instance)["autoyes"], true);
    assert_eq!(answer(&camp, &instance)["outcome"], "accepted");
    instance.wait_idle(&camp);
    drop(camp.biv(["autoyes", "old", "off"]).run().ok());
    assert_eq!(camp.show(&instance)["autoyes"], false);
    // The record says on as before; the switch has the last word.
    let switch = directory.join("autoyes.json");
    for (text, status) in [("{\"form", 0), (r#"{"format":9,"on":true}"#, 1)] {
        std::fs::write(&switch, text).unwrap();
        assert_eq!(camp.show(&instance)["autoyes"], false, "{text}");
        assert_eq!(hook_says(&camp, &instance), "", "{text}");
        let doctor = camp.biv(["doctor"]).run().fails(1).stdout;
        assert!(doctor.contains("autoyes of `old` is off"), "{doctor}");
        let off = camp.biv(["autoyes", "old", "off"]).run();
        assert_eq!(off.status, Some(status), "{}", off.stderr);
    }
}
