//! The tmux server, the machine or the power goes away: nothing of the agents' own has failed, and one
//! command brings all of them back.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Camp, Instance, until};

/// The server ends as by a power cut: it tells no process.
fn kill_server(camp: &Camp) {
    let answer = camp.tmux(&["display-message", "-p", "#{pid}"]);
    let text = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    let pid = text.parse().ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a server runs"), Signal::KILL).unwrap();
    until("the server is gone", || {
        !std::path::Path::new("/proc").join(&text).exists()
    });
}

fn talking(camp: &Camp, title: &str) -> Instance {
    let repository = camp.root().join("repositories/app");
    let repository = camp.repository_at(&repository);
    let instance = camp.start(&repository, title, &["-p", &format!("Remember {title}")]);
    until("it has heard its prompt", || {
        !instance.prompts(camp).is_empty()
    });
    instance.wait_idle(camp);
    instance
}

fn state(camp: &Camp, instance: &Instance) -> String {
    camp.show(instance)["state"].as_str().unwrap().to_owned()
}

fn told(camp: &Camp, kind: &str) -> Vec<Value> {
    std::fs::read_to_string(camp.home().join("state/events.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == kind)
        .collect()
}

#[test]
fn one_command_brings_back_all_that_were_interrupted_and_no_other() {
    let camp = Camp::new();
    camp.repository("app");
    let running: Vec<Instance> = ["one", "two", "three"].map(|t| talking(&camp, t)).into();
    let paused = talking(&camp, "apart");
    drop(camp.biv(["pause", "apart"]).run().ok());
    kill_server(&camp);

    let listed = camp.biv(["list"]).run().ok().stdout;
    assert_eq!(listed.matches("⚡ interrupted").count(), 3, "{listed}");
    let filtered = camp.biv(["list", "--state", "interrupted", "--json"]).run();
    let filtered = filtered.ok().json();
    assert_eq!(filtered["instances"].as_array().unwrap().len(), 3);
    assert!(!filtered["instances"][0]["interrupted_at"].is_null());
    let runs = camp.biv(["runs", "one", "--json"]).run().ok().json();
    assert_eq!(runs["runs"][0]["state"], "interrupted");
    assert!(runs["runs"][0]["exit_code"].is_null());
    assert_eq!(told(&camp, "instance:interrupted").len(), 3);
    assert_eq!(told(&camp, "instance:failed").len(), 0);

    drop(camp.biv(["resume", "--all"]).run().ok());
    for instance in &running {
        assert_eq!(state(&camp, instance), "running");
        let command = camp.show(instance)["command"].to_string();
        assert!(command.contains("--resume"), "not natively: {command}");
        assert_eq!(instance.processes().len(), 1);
        assert_eq!(
            instance.prompts(&camp),
            [format!("Remember {}", instance.title)]
        );
    }
    assert_eq!(state(&camp, &paused), "paused");
    assert_eq!(told(&camp, "orchestrator:resumed").len(), 1);

    let again = camp.biv(["resume", "--all"]).run().ok();
    assert!(again.stderr.contains("running already"), "{}", again.said());
    let left = "stays paused: it was not paused with the others; `biv resume";
    assert!(again.stderr.contains(left), "{}", again.said());
    assert_eq!(told(&camp, "orchestrator:resumed").len(), 1, "no event");
    let seen = camp.biv(["show", "one"]).run().ok().stdout;
    assert!(!seen.contains("interrupted"), "{seen}");
}

/// Without a daemon nothing has saved what tmux knew.
#[test]
fn one_that_was_interrupted_was_active_when_it_wrote_last() {
    let camp = Camp::new();
    camp.repository("app");
    let instance = talking(&camp, "one");
    drop(camp.biv(["daemon", "stop"]).run().ok());
    let started = camp.show(&instance)["created_at"].clone();
    std::thread::sleep(std::time::Duration::from_secs(3));
    drop(camp.biv(["send", "one", "Remember this too"]).run().ok());
    until("it has answered", || instance.prompts(&camp).len() == 2);
    instance.wait_idle(&camp);
    kill_server(&camp);
    let time = |at: &Value| chrono::DateTime::parse_from_rfc3339(at.as_str().unwrap()).unwrap();
    let active = camp.show(&instance)["last_active_at"].clone();
    let later = time(&active) - time(&started);
    assert!(later.num_seconds() >= 2, "{started} {active}");
}

#[test]
fn those_of_a_paused_camp_and_those_that_were_interrupted_come_back_together() {
    let camp = Camp::new();
    camp.repository("app");
    let first = talking(&camp, "first");
    let apart = talking(&camp, "apart");
    drop(camp.biv(["pause", "apart"]).run().ok());
    drop(camp.biv(["pause", "--all"]).run().ok());
    let second = talking(&camp, "second");
    kill_server(&camp);
    drop(camp.biv(["resume", "--all"]).run().ok());
    assert_eq!(state(&camp, &first), "running");
    assert_eq!(state(&camp, &second), "running");
    assert_eq!(state(&camp, &apart), "paused");
}

#[test]
fn a_message_brings_an_interrupted_one_back() {
    let camp = Camp::new();
    camp.repository("app");
    let instance = talking(&camp, "one");
    kill_server(&camp);
    let sent = camp.biv(["send", "one", "Go on"]).run().ok();
    assert!(
        sent.stderr.contains("Resuming (interrupted "),
        "{}",
        sent.said()
    );
    until("it has heard both", || instance.prompts(&camp).len() == 2);
    assert_eq!(state(&camp, &instance), "running");
}

#[test]
fn what_an_interrupted_one_cannot_do_is_said_with_what_it_can() {
    let camp = Camp::new();
    camp.repository("app");
    let instance = talking(&camp, "one");
    kill_server(&camp);
    let refused = camp.biv(["pause", "one"]).run().fails(4);
    assert!(
        refused.stderr.contains("biv resume one"),
        "{}",
        refused.said()
    );
    let exited = camp.biv(["wait", "one", "--for", "exited"]).run().ok();
    assert!(exited.stdout.contains("interrupted"), "{}", exited.said());
    camp.kill(&instance);
    drop(camp.biv(["undo-kill", "one"]).run().ok());
    drop(camp.biv(["resume", "one"]).run().ok());
    assert_eq!(state(&camp, &instance), "running");
}

/// An older biv must not take a state that it does not know for damage, and put back an older record.
#[test]
fn an_interrupted_record_says_that_it_is_of_a_newer_format() {
    let camp = Camp::new();
    camp.repository("app");
    let instance = talking(&camp, "one");
    kill_server(&camp);
    assert_eq!(state(&camp, &instance), "interrupted");
    let directory = camp.instances_dir().join(&instance.id);
    let record: Value =
        serde_json::from_slice(&std::fs::read(directory.join("record.json")).unwrap()).unwrap();
    assert_eq!(record["state"], "interrupted");
    assert!(record["format"].as_u64().unwrap() > 1, "{record}");
    let runs = std::fs::read_dir(directory.join("runs")).unwrap();
    for run in runs {
        let run: Value =
            serde_json::from_slice(&std::fs::read(run.unwrap().path()).unwrap()).unwrap();
        assert!(run["format"].as_u64().unwrap() > 1, "{run}");
    }
}

/// What cannot be held back must not keep an end or a pause from being recorded.
#[test]
fn a_queue_that_cannot_be_read_is_in_the_way_of_nothing() {
    let camp = Camp::new();
    drop(camp.repository("app"));
    let working = |title: &str| {
        let instance = talking(&camp, title);
        drop(camp.biv(["send", title, "/busy 60"]).run().ok());
        instance.wait_for(&camp, "activity", "busy");
        let queue = camp.instances_dir().join(&instance.id).join("queue.json");
        std::fs::write(queue, "{\"format\":1,\"entr").unwrap();
        instance
    };
    let paused = working("paused");
    let told_so = camp.biv(["pause", "--now", "paused"]).run().ok().stderr;
    assert!(told_so.contains("its queue could not be held"), "{told_so}");
    assert_eq!(state(&camp, &paused), "paused");
    drop(camp.biv(["resume", "paused"]).run().ok());
    let killed = working("killed");
    kill_server(&camp);
    assert_eq!(state(&camp, &killed), "interrupted");
    let ends = told(&camp, "instance:interrupted");
    let of_it = ends
        .iter()
        .filter(|end| end["instance"] == killed.id.as_str());
    assert_eq!(of_it.count(), 1, "{ends:#?}");
}
