//! A camp with a daemon, and what it has written down.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Camp, Process, until_told};

pub(crate) fn camp_with_daemon() -> Camp {
    let camp = Camp::new();
    start(&camp);
    camp
}

pub(crate) fn start(camp: &Camp) {
    drop(camp.biv(["daemon", "start"]).run().ok());
}

/// Before the daemon starts: what is configured.
pub(crate) fn configure(camp: &Camp, text: &str) {
    let config = camp.home().join("config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), text).unwrap();
}

pub(crate) fn status(camp: &Camp) -> Value {
    camp.biv(["daemon", "status", "--json"]).run().ok().json()
}

pub(crate) fn process(camp: &Camp) -> Process {
    process_if_any(camp).expect("it runs")
}

pub(crate) fn process_if_any(camp: &Camp) -> Option<Process> {
    let pid = status(camp)["pid"].as_i64()?;
    Some(Process {
        pid: i32::try_from(pid).unwrap(),
        command: "daemon".to_owned(),
    })
}

/// All events so far, oldest first.
pub(crate) fn events(camp: &Camp) -> Vec<Value> {
    std::fs::read_to_string(camp.home().join("state/events.jsonl"))
        .unwrap_or_default()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn kinds(camp: &Camp) -> Vec<String> {
    events(camp)
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect()
}

/// Waits for an event that is as wanted.
#[track_caller]
pub(crate) fn wait_event(camp: &Camp, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let told = || format!("{what}; so far {:#?}", events(camp));
    until_told(told, || {
        events(camp).into_iter().find(|event| wanted(event))
    })
}

#[track_caller]
pub(crate) fn wait_activity(camp: &Camp, activity: &str) -> Value {
    wait_event(camp, activity, |event| {
        event["type"] == "instance:activity" && event["data"]["activity"] == activity
    })
}

pub(crate) fn log(camp: &Camp) -> String {
    std::fs::read_to_string(camp.home().join("state/daemon.log")).unwrap_or_default()
}

pub(crate) fn socket(camp: &Camp) -> PathBuf {
    camp.home().join("run/daemon.sock")
}

/// What the daemon thinks that everyone is doing.
pub(crate) fn activities(camp: &Camp) -> Value {
    let mut line = Line::open(camp);
    line.say("{\"do\":\"activities\"}\n");
    line.hear().unwrap_or_default()
}

/// A connection, as any program could make one.
pub(crate) struct Line {
    reader: BufReader<UnixStream>,
    pub(crate) hello: Value,
}

impl Line {
    pub(crate) fn open(camp: &Camp) -> Self {
        let stream = UnixStream::connect(socket(camp)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut line = Self {
            reader: BufReader::new(stream),
            hello: Value::Null,
        };
        line.hello = line.hear().expect("it says hello");
        line
    }

    pub(crate) fn say(&mut self, text: &str) {
        // It may have hung up already.
        drop(self.reader.get_mut().write_all(text.as_bytes()));
    }

    /// The next line; None at the end.
    pub(crate) fn hear(&mut self) -> Option<Value> {
        let mut text = String::new();
        match self.reader.read_line(&mut text) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&text).unwrap()),
        }
    }
}
