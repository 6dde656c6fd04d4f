//! A connection to the daemon of a home, from another process.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::wire::{Answer, Hello, LONGEST_ANSWER, PROTOCOL, Request};
use crate::engine::Engine;

const PATIENCE: Duration = Duration::from_secs(5);

/// A connection after the daemon's hello line.
#[derive(Debug)]
pub(crate) struct DaemonClient {
    reader: BufReader<UnixStream>,
    hello: Hello,
}

impl DaemonClient {
    /// None where no daemon answers.
    pub(crate) fn connect(engine: &Engine) -> Option<Self> {
        let stream = engine.connect_to_daemon().ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.set_write_timeout(Some(PATIENCE)).ok()?;
        let mut reader = BufReader::new(stream);
        let hello = serde_json::from_str(&read_line(&mut reader)?).ok()?;
        Some(Self { reader, hello })
    }

    /// The daemon's hello line.
    pub(crate) fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Whether the daemon has another version than this program.
    pub(crate) fn is_outdated(&self) -> bool {
        self.hello.bivouac != env!("CARGO_PKG_VERSION") || self.hello.protocol != PROTOCOL
    }

    pub(super) fn ask(mut self, request: &Request) -> Option<Answer> {
        self.say(request)?;
        serde_json::from_str(&read_line(&mut self.reader)?).ok()
    }

    /// From now on a line for each event, and on request one for each output of an agent.
    pub(crate) fn subscribe(mut self, bells: bool) -> Option<Subscription> {
        self.say(&Request::Subscribe { bells })?;
        read_line(&mut self.reader)?;
        Some(Subscription {
            reader: self.reader,
        })
    }

    fn say(&mut self, request: &Request) -> Option<()> {
        let mut line = serde_json::to_vec(request).ok()?;
        line.push(b'\n');
        self.reader.get_mut().write_all(&line).ok()
    }
}

/// Lines as they come.
#[derive(Debug)]
pub(crate) struct Subscription {
    reader: BufReader<UnixStream>,
}

/// The result of a wait for a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SubscriptionEvent {
    Line(String),
    Nothing,
    /// The daemon has ended.
    End,
}

impl Subscription {
    pub(crate) fn next(&mut self, limit: Duration) -> SubscriptionEvent {
        // A timeout of zero is not allowed.
        let limit = limit.max(Duration::from_millis(1));
        if self.reader.get_ref().set_read_timeout(Some(limit)).is_err() {
            return SubscriptionEvent::End;
        }
        let mut line = Vec::new();
        match self.reader.read_until(b'\n', &mut line) {
            Ok(_) if line.ends_with(b"\n") => {
                line.pop();
                SubscriptionEvent::Line(String::from_utf8_lossy(&line).into_owned())
            }
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) && line.is_empty() =>
            {
                SubscriptionEvent::Nothing
            }
            Ok(_) | Err(_) => SubscriptionEvent::End,
        }
    }
}

fn read_line(reader: &mut BufReader<UnixStream>) -> Option<String> {
    let mut line = String::new();
    reader
        .by_ref()
        .take(LONGEST_ANSWER)
        .read_line(&mut line)
        .ok()?;
    line.ends_with('\n').then_some(line)
}
