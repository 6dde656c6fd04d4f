//! A home with very many: everyone is watched, found, and picked up again.

use serde_json::Value;

use crate::post::{events, process, start, status};
use crate::support::terminal::Terminal;
use crate::support::{Camp, Instance, until, until_told};

/// Live sessions, and as many records beside them of agents that have ended.
fn many() -> usize {
    if std::env::var_os("BIV_TEST_LONG").is_some() {
        500
    } else {
        12
    }
}

#[test]
fn everyone_in_a_large_home_is_watched_and_picked_up_again() {
    let many = many();
    let camp = Camp::new();
    start(&camp);
    let repository = camp.repository("app");
    let live: Vec<Instance> = (0..many)
        .map(|n| camp.start_shell(&repository, &format!("live {n}"), "exec cat"))
        .collect();
    for n in 0..many {
        add_ended(&camp, &live[0], n);
    }
    watched(&camp, many);
    assert_eq!(camp.list().len(), 2 * many);
    let last = &live[many - 1];
    assert_eq!(camp.show(last)["state"], "running");
    let shown = camp.biv(["show", "--json", "ended 0"]).run().ok().json();
    assert_eq!(shown["state"], "completed");

    // The terminal UI has room for a few, and knows of all.
    let person = Terminal::running(&camp, "biv");
    person.wait_for(&format!("bivouac · {}", 2 * many));
    person.press(&["q"]);
    person.wait_for("ended with 0");
    drop(person);

    // A daemon that is told to go, and one that is not asked.
    drop(camp.biv(["daemon", "stop"]).run().ok());
    start(&camp);
    watched(&camp, many);
    process(&camp).kill();
    start(&camp);
    watched(&camp, many);
    drop(camp.biv(["send", &last.id, "hello"]).run().ok());
    last.wait_screen(&camp, "hello");

    // With their server all of them go, and each is written down.
    camp.end_server();
    let interrupted = || {
        let of = |event: &Value| event["type"] == "instance:interrupted";
        events(&camp).iter().filter(|event| of(event)).count()
    };
    until_told(
        || format!("{} of {many} are written down", interrupted()),
        || (interrupted() == many).then_some(()),
    );
    drop(camp.biv(["resume", &last.id]).run().ok());
    watched(&camp, 1);
}

#[track_caller]
fn watched(camp: &Camp, count: usize) {
    until(&format!("{count} are watched"), || {
        status(camp)["watching"] == count
    });
}

/// The record of an agent that has ended, as there are hundreds after some weeks.
fn add_ended(camp: &Camp, like: &Instance, number: usize) {
    let letters: Vec<char> = "bcdfghjkmn".chars().collect();
    let digits = format!("{number:03}");
    let digits = digits
        .bytes()
        .map(|digit| letters[usize::from(digit - b'0')]);
    let id: String = "zzzzzzz".chars().chain(digits).collect();
    let (from, to) = (
        camp.instances_dir().join(&like.id),
        camp.instances_dir().join(&id),
    );
    std::fs::create_dir_all(to.join("runs")).unwrap();
    std::fs::create_dir_all(to.join("terminal")).unwrap();
    for entry in std::fs::read_dir(from.join("runs")).unwrap().flatten() {
        let run = to.join("runs").join(entry.file_name());
        std::fs::copy(entry.path(), run).unwrap();
    }
    let text = std::fs::read_to_string(from.join("record.json")).unwrap();
    let mut record: Value = serde_json::from_str(&text).unwrap();
    record["id"] = id.into();
    record["title"] = format!("ended {number}").into();
    record["state"] = "completed".into();
    record["seat"] = Value::Null;
    std::fs::write(to.join("record.json"), record.to_string()).unwrap();
}
