//! The model on loopback, and what it was asked.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::stage::{BETWEEN_LOOKS, PATIENCE};
use crate::support::wait::until_within;

/// A running `fixtures/model-server`. It ends with its standard input, so with the test at the latest.
pub(crate) struct Model {
    server: Child,
    port: u16,
    log: PathBuf,
}

/// One request of an agent for an answer.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The conversation that the agent names in its headers.
    pub(crate) session: Option<String>,
    /// Who said what, oldest first: `user`, `assistant`, `call`, `tool`.
    pub(crate) messages: Vec<(String, String)>,
}

impl Model {
    pub(crate) fn start(directory: &Path) -> Self {
        let log = directory.join("model.jsonl");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/model-server/server.mjs");
        let mut server = Command::new("node")
            .arg(script)
            .arg("--log")
            .arg(&log)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node is needed for the tests of the real agents: run scripts/setup");
        let mut first = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        let port = first
            .trim()
            .strip_prefix("listening on ")
            .and_then(|port| port.parse().ok())
            .unwrap_or_else(|| panic!("the model server said {first:?}"));
        Self { server, port, log }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What the agents asked for, oldest first, without their side questions (titles and the like).
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.entries()
            .iter()
            .filter(|entry| entry["event"] == "request" && entry["side"] == false)
            .map(Request::from_json)
            .collect()
    }

    /// The first request whose last prompt holds this text, which is waited for.
    #[track_caller]
    pub(crate) fn request_with(&self, prompt: &str) -> Request {
        let what = || {
            format!(
                "the model was asked {prompt:?}; it was asked {}",
                self.told()
            )
        };
        until_within(PATIENCE, BETWEEN_LOOKS, what, || self.find_request(prompt))
    }

    /// The first request whose last prompt holds this text, if there is one.
    pub(crate) fn find_request(&self, prompt: &str) -> Option<Request> {
        let mut requests = self.requests().into_iter();
        requests.find(|request| request.prompt().contains(prompt))
    }

    /// How many requests have this text in their last prompt.
    pub(crate) fn times_asked(&self, prompt: &str) -> usize {
        let requests = self.requests();
        let prompts = requests.iter().map(Request::prompt);
        prompts.filter(|said| said.contains(prompt)).count()
    }

    /// How many requests have not come to their end.
    pub(crate) fn open_requests(&self) -> usize {
        let count = |event: &str| {
            let entries = self.entries();
            entries
                .iter()
                .filter(|entry| entry["event"] == event)
                .count()
        };
        // The ends first: a request that comes in between must not look like none.
        let ended = count("end");
        count("request") - ended
    }

    /// Everything that was asked, for people who wonder why a test failed.
    pub(crate) fn told(&self) -> String {
        std::fs::read_to_string(&self.log)
            .unwrap_or_default()
            .lines()
            .map(|line| line.chars().take(4000).collect::<String>() + "\n")
            .collect()
    }

    fn entries(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may still be on its way.
        let whole = log.rfind('\n').map_or("", |end| &log[..end]);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).expect("each line is a JSON document"))
            .collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        drop(self.server.wait());
    }
}

impl Request {
    fn from_json(entry: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            session: entry["session"].as_str().map(str::to_owned),
            messages: entry["messages"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|message| (text(&message["role"]), text(&message["text"])))
                .collect(),
        }
    }

    /// What the user said last.
    pub(crate) fn prompt(&self) -> &str {
        self.said_by("user").last().copied().unwrap_or_default()
    }

    /// All that one side said, oldest first.
    pub(crate) fn said_by(&self, role: &str) -> Vec<&str> {
        self.messages
            .iter()
            .filter(|(who, _)| who == role)
            .map(|(_, text)| text.as_str())
            .collect()
    }

    /// Whether one of the users' messages holds this text.
    #[track_caller]
    pub(crate) fn remembers(&self, role: &str, text: &str) {
        assert!(
            self.said_by(role).iter().any(|said| said.contains(text)),
            "no message of {role} holds {text:?} in {:#?}",
            self.messages
        );
    }
}
