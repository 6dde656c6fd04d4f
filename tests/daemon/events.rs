//! What happened, in the order in which it happened, for scripts.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::post::{camp_with_daemon, events, kinds, wait_activity, wait_event};
use crate::support::{Camp, Instance, until};

const NAMES: [&str; 5] = ["at", "data", "instance", "title", "type"];

#[test]
fn the_names_of_events_are_pinned() {
    let camp = camp_with_daemon();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "told", &[]);
    wait_activity(&camp, "idle");
    drop(camp.biv(["queue", "told", "say something"]).run().ok());
    wait_event(&camp, "done", |event| event["type"] == "queue:done");
    drop(camp.biv(["pause", "told"]).run().ok());
    drop(camp.biv(["resume", "told"]).run().ok());
    drop(camp.biv(["pause", "--all"]).run().ok());
    drop(camp.biv(["resume", "--all"]).run().ok());
    camp.kill(&instance);
    let printed = camp.biv(["events", "--json"]).run().ok().stdout;
    let lines: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for line in &lines {
        let names: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(names, NAMES, "{line}");
    }
    let without_activity: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["type"].as_str())
        .filter(|kind| *kind != "instance:activity")
        .collect();
    assert_eq!(
        without_activity,
        [
            "instance:created",
            "instance:running",
            "queue:added",
            "queue:started",
            "queue:done",
            "instance:pausing",
            "instance:paused",
            "instance:resuming",
            "instance:resumed",
            "instance:pausing",
            "instance:paused",
            "orchestrator:paused",
            "instance:resuming",
            "instance:resumed",
            "orchestrator:resumed",
            "instance:killed",
        ]
    );
}

#[test]
fn since_leaves_out_what_is_older() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    camp.start(&repository, "one", &[]);
    let last = events(&camp).last().unwrap()["at"]
        .as_str()
        .unwrap()
        .to_owned();
    let since = |time: &str| {
        let call = camp.biv(["events", "--json", "--since", time]);
        call.run().ok().stdout.lines().count()
    };
    // To the millisecond, in which more than one thing can happen.
    let as_late = events(&camp)
        .iter()
        .filter(|event| event["at"] == last.as_str())
        .count();
    assert_eq!(since(&last), as_late);
    assert_eq!(since("1h"), kinds(&camp).len());
    assert_eq!(since("2100-01-01T00:00:00Z"), 0);
    drop(camp.biv(["events", "--since", "yesterday"]).run().fails(2));
}

#[test]
fn large_files_are_put_aside_and_read_on() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "one", &[]);
    let path = camp.home().join("state/events.jsonl");
    let before = std::fs::read_to_string(&path).unwrap();
    let filler = "{\"at\":\"2026-01-01T00:00:00.000Z\",\"type\":\"x\",\"instance\":null,\"title\":null,\"data\":{}}\n";
    let mut text = before.clone();
    while text.len() < 4 * 1024 * 1024 {
        text.push_str(filler);
    }
    let lines = text.lines().count();
    std::fs::write(&path, text + "torn {\n").unwrap();
    drop(camp.biv(["pause", &instance.id]).run().ok());
    assert!(camp.home().join("state/events.1.jsonl").exists());
    let printed = camp.biv(["events", "--json"]).run().ok().stdout;
    // Pausing, which was too much; paused, in the next file.
    assert_eq!(printed.lines().count(), lines + 2);
    assert!(printed.starts_with(&before));
    assert!(printed.trim_end().ends_with('}'));
}

/// `biv events -f` beside what happens; gives back the first lines.
fn followed(camp: &Camp, count: usize, mut meanwhile: impl FnMut()) -> Vec<Value> {
    let mut follower = std::process::Command::new(env!("CARGO_BIN_EXE_biv"))
        .args(["events", "-f", "--json", "--since", "1s"])
        .env_clear()
        .envs(camp.environment())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = BufReader::new(follower.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        stdout
            .lines()
            .take(count)
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect()
    });
    meanwhile();
    let lines = reader.join().unwrap();
    follower.kill().unwrap();
    follower.wait().unwrap();
    lines
}

#[test]
fn following_goes_on_with_and_without_a_daemon() {
    for camp in [Camp::new(), camp_with_daemon()] {
        let repository = camp.repository("app");
        let lines = followed(&camp, 2, || {
            camp.start(&repository, "followed", &[]);
        });
        let kinds: Vec<&str> = lines
            .iter()
            .filter_map(|line| line["type"].as_str())
            .collect();
        assert_eq!(kinds, ["instance:created", "instance:running"]);
    }
}

#[test]
fn scripts_can_wait() {
    waited_for(&Camp::new());
}

#[test]
fn scripts_can_wait_with_a_daemon() {
    waited_for(&camp_with_daemon());
}

fn waited_for(camp: &Camp) {
    let repository = camp.repository("app");
    let instance: Instance = camp.start(&repository, "awaited", &[]);
    let wait = |wanted: &str| {
        let call = camp.biv(["wait", &instance.id, "--json", "--timeout", "60s", "--for"]);
        call.arg(wanted).run()
    };
    assert_eq!(wait("idle").ok().json()["activity"], "idle");
    drop(camp.biv(["send", "awaited", "/busy 2"]).run().ok());
    assert_eq!(wait("idle").ok().json()["activity"], "idle");
    let screen = camp.biv(["peek", "awaited"]).run().ok().stdout;
    assert!(screen.contains("Worked for 2s"), "{screen}");
    let short = camp.biv(["wait", "awaited", "--for", "needs-you", "--timeout", "10ms"]);
    let short = short.with_json().run().fails(1);
    assert_eq!(short.error()["code"], "timeout");
    assert_eq!(
        short.error()["message"],
        "`awaited` did not need you within 10ms: it is still idle"
    );
    drop(camp.biv(["send", "awaited", "/run touch x"]).run().ok());
    assert_eq!(wait("needs-you").ok().json()["activity"], "approval");
    camp.end_server();
    assert_eq!(wait("exited").ok().json()["state"], "interrupted");
    assert_eq!(wait("idle").fails(4).error()["code"], "wrong_state");
}

#[test]
fn a_follower_that_stops_reading_slows_nothing_down() {
    let camp = camp_with_daemon();
    let mut slow = crate::post::Line::open(&camp);
    slow.say("{\"do\":\"subscribe\"}\n");
    assert_eq!(slow.hear().unwrap(), "done");
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "one", &[]);
    // More than the socket and the ring hold together.
    let path = camp.home().join("state/events.jsonl");
    let filler = format!(
        "{{\"at\":\"2026-01-01T00:00:00.000Z\",\"type\":\"x\",\"instance\":null,\"title\":null,\"data\":{{\"x\":\"{}\"}}}}\n",
        "x".repeat(900)
    );
    for _ in 0..3 {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap();
        file.write_all(filler.repeat(1000).as_bytes()).unwrap();
        drop(camp.biv(["timeout", &instance.id, "off"]).run().ok());
        // The daemon answers as ever.
        assert_eq!(crate::post::status(&camp)["running"], true);
    }
    let mut lagged = 0;
    let mut heard = 0;
    until("it is told what it has missed", || {
        let line = slow.hear().unwrap();
        match line.get("lagged").and_then(Value::as_u64) {
            Some(count) => lagged += count,
            None => heard += 1,
        }
        lagged > 0
    });
    assert!(heard + lagged <= 3100, "{heard} {lagged}");
}
