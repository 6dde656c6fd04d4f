//! The way of a hook out of a seal, by itself: what is passed on, and what is not.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::autoyes::switch_on;
use crate::support::{Camp, Instance, Repository, until, until_told};
use crate::{Kind, left_out};

/// An agent that runs each script that is put into its worktree, several at once.
const RUNNER: &str = "while sleep 0.05; do for script in do-*; do [ -f \"$script\" ] || continue; \
    mv \"$script\" \"now-$script\"; \
    (sh \"now-$script\" >\"part-$script\" 2>&1; mv \"part-$script\" \"done-$script\") & done; done";

/// Sends its standard input to the launcher as it is, and prints the answer.
const RAW: &str = "/usr/bin/python3 -c 'import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ[\"BIV_SEAL\"])
try:
    s.sendall(sys.stdin.buffer.read())
    s.shutdown(socket.SHUT_WR)
    print(s.recv(100000).decode(), end=\"\")
except (BrokenPipeError, ConnectionResetError):
    pass'";

fn start(camp: &Camp, repository: &Repository, title: &str) -> Instance {
    let path = repository.path.to_str().unwrap();
    let arguments = [
        "new", "--json", title, "--seal", "-a", "shell", "--repo", path, "--", "sh", "-c", RUNNER,
    ];
    Instance::from_json(&camp.biv(arguments).run().ok().json())
}

/// Has the agent run a script, without waiting for its end.
fn begin(instance: &Instance, name: &str, script: &str) {
    let part = instance.worktree.join(format!("making-{name}"));
    std::fs::write(&part, script).unwrap();
    std::fs::rename(part, instance.worktree.join(format!("do-{name}"))).unwrap();
}

/// What the script has printed.
fn result(instance: &Instance, name: &str) -> String {
    let done = instance.worktree.join(format!("done-do-{name}"));
    let what = || format!("the script `{name}` ends");
    until_told(what, || std::fs::read_to_string(&done).ok())
}

#[track_caller]
fn run(instance: &Instance, name: &str, script: &str) -> String {
    begin(instance, name, script);
    result(instance, name)
}

/// `biv hook` as an agent calls it.
fn hook(event: &str) -> String {
    format!("'{}' hook shell {event}", env!("CARGO_BIN_EXE_biv"))
}

/// The last report that arrived.
fn report(camp: &Camp, instance: &Instance) -> Option<Value> {
    let file = camp.instances_dir().join(&instance.id).join("hook.json");
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

#[track_caller]
fn assert_reported(camp: &Camp, instance: &Instance, event: &str) -> Value {
    until(&format!("`{event}` is reported"), || {
        report(camp, instance).is_some_and(|report| report["event"] == event)
    });
    report(camp, instance).unwrap()
}

fn socket_of(camp: &Camp, instance: &Instance) -> PathBuf {
    let directory = camp.instances_dir().join(&instance.id);
    let find = std::process::Command::new("find")
        .arg(&directory)
        .args(["-name", ".biv.sock", "-type", "s"])
        .output()
        .unwrap();
    PathBuf::from(String::from_utf8(find.stdout).unwrap().trim_end())
}

/// There is no daemon in these tests: what answers is the launcher alone.
#[test]
fn a_hook_of_a_sealed_agent_is_kept_and_answered() {
    for kind in [Kind::Namespaces, Kind::LandlockAlone] {
        if left_out(kind) {
            continue;
        }
        let camp = kind.camp();
        let repository = camp.repository("app");
        let instance = start(&camp, &repository, "fix");
        let told =
            json!({"session_id": "abc", "tool_name": "Bash", "tool_input": {"command": "x"}});
        let script = format!("echo '{told}' | {}; echo status $?", hook("PreToolUse"));
        assert_eq!(run(&instance, "tell", &script), "status 0\n", "{kind:?}");
        let report = assert_reported(&camp, &instance, "PreToolUse");
        assert_eq!(report["detail"], "Bash", "{report}");
        assert_eq!(report["session"], "abc", "{report}");

        // It asks for permission: without autoyes it is left to the user, with it there is an answer.
        let asked = json!({
            "cwd": &instance.worktree, "hook_event_name": "PermissionRequest",
            "tool_name": "Bash", "tool_input": {"command": "git status"},
        });
        let ask = format!("echo '{asked}' | {}", hook("PermissionRequest"));
        assert_eq!(run(&instance, "off", &ask), "", "{kind:?}");
        switch_on(&camp, &instance);
        let answer: Value = serde_json::from_str(&run(&instance, "on", &ask)).unwrap();
        let decision = &answer["hookSpecificOutput"]["decision"];
        assert_eq!(decision["behavior"], "allow", "{answer}");
        // What it says about who it is does not count: the launcher knows its instance.
        let script = format!("echo '{{}}' | BIV_INSTANCE=bcdfghjkmn {}", hook("Stop"));
        assert_eq!(run(&instance, "other", &script), "");
        assert_reported(&camp, &instance, "Stop");
    }
}

#[test]
fn what_is_no_hook_gets_no_answer_and_changes_nothing() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start(&camp, &repository, "fix");
    switch_on(&camp, &instance);
    let long = "x".repeat(300);
    let junk: [(&str, String); 8] = [
        ("nothing", String::new()),
        ("words", "hello".to_owned()),
        ("half", r#"{"event":"Stop","input":[12"#.to_owned()),
        (
            "a command",
            r#"{"command":"kill","arguments":["fix"]}"#.to_owned(),
        ),
        ("no input", r#"{"event":"Stop"}"#.to_owned()),
        (
            "no bytes",
            r#"{"event":"Stop","input":[256,-1]}"#.to_owned(),
        ),
        ("no event", r#"{"event":"","input":[]}"#.to_owned()),
        (
            "a long event",
            format!(r#"{{"event":"{long}","input":[]}}"#),
        ),
    ];
    for (at, (what, text)) in junk.iter().enumerate() {
        std::fs::write(instance.worktree.join("junk"), text).unwrap();
        let said = run(&instance, &format!("junk{at}"), &format!("{RAW} <junk"));
        assert_eq!(said, "", "{what}");
        assert_eq!(report(&camp, &instance), None, "{what}");
    }
    // More than a call may have is not read to its end, and not kept.
    let script = format!(
        "{{ printf '{{\"event\":\"Stop\",\"input\":[1'; head -c 20000000 /dev/zero | tr '\\0' ' '; \
         printf ']}}'; }} | {RAW}"
    );
    assert_eq!(run(&instance, "endless", &script), "");
    assert_eq!(report(&camp, &instance), None);
    // A hook may be long: what is over a megabyte is cut off, so it is not understood, and left to the user.
    let asked = "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git status\",\"x\":\"";
    let script = format!(
        "{{ printf '%s' '{asked}'; head -c 3000000 /dev/zero | tr '\\0' ' '; printf '\"}}}}'; }} | {}",
        hook("PermissionRequest")
    );
    assert_eq!(run(&instance, "long", &script), "");
    let kept = assert_reported(&camp, &instance, "PermissionRequest");
    assert_eq!(kept["detail"], Value::Null, "{kept}");
    let after = format!("echo '{{}}' | {}", hook("Stop"));
    assert_eq!(run(&instance, "after", &after), "");
    assert_reported(&camp, &instance, "Stop");
}

#[test]
fn several_at_once_are_answered_and_silent_ones_do_not_keep_the_rest_out() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start(&camp, &repository, "fix");
    switch_on(&camp, &instance);
    // These connect and say nothing: more of them than are handled at once.
    let silent = "/usr/bin/python3 -c 'import os, socket, time
all = []
for _ in range(20):
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ[\"BIV_SEAL\"])
    all.append(s)
open(\"connected\", \"w\").close()
time.sleep(600)'";
    begin(&instance, "silent", silent);
    until("they are connected", || {
        instance.worktree.join("connected").exists()
    });
    for at in 0..12 {
        let asked = json!({
            "cwd": &instance.worktree, "tool_name": "Bash",
            "tool_input": {"command": format!("echo {at}")},
        });
        let ask = format!("echo '{asked}' | {}", hook("PermissionRequest"));
        begin(&instance, &format!("ask{at}"), &ask);
    }
    for at in 0..12 {
        let said = result(&instance, &format!("ask{at}"));
        assert!(said.contains(r#""behavior":"allow""#), "{at}: {said}");
    }
    camp.kill(&instance);
}

#[test]
fn a_caller_outside_of_the_instance_is_not_heard() {
    for kind in [Kind::Namespaces, Kind::LandlockAlone] {
        if left_out(kind) {
            continue;
        }
        let camp = kind.camp();
        let repository = camp.repository("app");
        let instance = start(&camp, &repository, "fix");
        assert_eq!(run(&instance, "up", "echo up"), "up\n");
        let socket = socket_of(&camp, &instance);
        let mut stream = UnixStream::connect(&socket).unwrap();
        let call = br#"{"event":"Stop","input":[123,125]}"#;
        // It may have hung up already.
        drop(stream.write_all(call));
        drop(stream.shutdown(std::net::Shutdown::Write));
        let mut said = Vec::new();
        drop(stream.read_to_end(&mut said));
        assert_eq!(said, b"", "{kind:?}");
        assert_eq!(report(&camp, &instance), None, "{kind:?}");
        // The same from inside.
        std::fs::write(instance.worktree.join("call"), call).unwrap();
        assert_eq!(run(&instance, "inside", &format!("{RAW} <call")), "");
        assert_reported(&camp, &instance, "Stop");
    }
}

#[test]
fn an_agent_that_spoils_the_way_out_only_silences_itself() {
    if left_out(Kind::Namespaces) {
        return;
    }
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = start(&camp, &repository, "fix");
    let spoil = "rm \"$BIV_SEAL\" && mkdir -p \"$BIV_SEAL/x\" && echo done";
    assert_eq!(run(&instance, "spoil", spoil), "done\n");
    // Nobody listens: the agent is not disturbed.
    let tell = format!("echo '{{}}' | {}; echo status $?", hook("Stop"));
    assert_eq!(run(&instance, "tell", &tell), "status 0\n");
    assert_eq!(report(&camp, &instance), None);
    drop(camp.biv(["pause", "fix"]).run().ok());
    drop(camp.biv(["resume", "fix"]).run().ok());
    assert_eq!(run(&instance, "again", &tell), "status 0\n");
    assert_reported(&camp, &instance, "Stop");
}
