//! A control-mode client: it sends commands without blocking and reads the answers in order.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::line::{line, unescaped};
use super::parser::{ControlMessage, Notification, Parser};
use crate::process::{Coprocess, Identity};
use crate::tmux::pane::{self, parse_panes};
use crate::tmux::screen::{CURSOR, parse_cursor};
use crate::tmux::server::HUB;
use crate::tmux::{Pane, Screenshot, Server, TmuxError, TmuxVersion};

/// How long the server may take for its first answer. No session is opened or closed during this time.
const GREETING: Duration = Duration::from_secs(10);
/// How long to wait for the sessions lock before the connection is given up and tried again later.
const TURN: Duration = Duration::from_secs(5);
/// After this time without an answer, the server hangs or is gone.
const ANSWER: Duration = Duration::from_secs(20);
/// More unsent bytes than this mean that the server does not read.
const UNSENT: usize = 4 * 1024 * 1024;
const FIELD: char = '\u{1f}';

/// Since this version the text of a buffer is printed without escapes.
const RAW_BUFFERS: &str = "tmux 3.4";
/// Since this version a capture over control mode does not leak memory in the server.
const LEAKLESS: &str = "tmux 3.6";

/// A connection to the server in control mode.
#[derive(Debug)]
pub(crate) struct ControlClient {
    server: Server,
    /// None while it is being ended.
    coprocess: Option<Coprocess>,
    parser: Parser,
    unsent: Vec<u8>,
    /// The commands without an answer yet, in order, with the time of sending.
    asked: VecDeque<(Question, Instant)>,
    looks: VecDeque<PendingScreenshot>,
    way: Capture,
    buffer: String,
}

/// An answer or a notification.
#[derive(Debug)]
pub(crate) enum ControlEvent {
    Panes(Vec<Pane>),
    /// None: the pane is gone.
    Screenshot {
        pane: String,
        shot: Option<Screenshot>,
    },
    /// Whether the output of the pane could be piped.
    Piped {
        pane: String,
        ok: bool,
    },
    Notification(Notification),
}

#[derive(Debug)]
enum Question {
    Version,
    Panes,
    /// The title and state of the first screenshot that is under way.
    Head,
    Copy,
    Text,
    Pipe(String),
}

/// A screenshot that is being taken, answered in two or three parts.
#[derive(Debug)]
struct PendingScreenshot {
    pane: String,
    head: Option<String>,
    failed: bool,
}

/// How the text of a pane is captured, by what this server supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Capture {
    Printed,
    Buffered,
    BufferedAndEscaped,
}

impl Capture {
    fn of(version: Option<TmuxVersion>) -> Self {
        let at_least = |oldest: &str| version >= TmuxVersion::parse(oldest);
        match version {
            // A development build: newer than any release.
            None => Self::Printed,
            Some(_) if at_least(LEAKLESS) => Self::Printed,
            Some(_) if at_least(RAW_BUFFERS) => Self::Buffered,
            Some(_) => Self::BufferedAndEscaped,
        }
    }
}

impl ControlClient {
    /// Connects to a running server. `biv` is the path of this program, which binds the client to this
    /// process.
    pub(crate) fn connect(server: &Server, biv: &Path) -> Result<Self, TmuxError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        server.open_hub()?;
        let lock = server.lock_out_sessions(TURN).ok_or(TmuxError::NoServer)?;
        let coprocess = server
            .client()
            .args(["-N", "-C", "attach-session", "-t", &format!("={HUB}")])
            .args(["-f", "no-output,ignore-size"])
            .bound_to_parent(biv)
            .coprocess()?;
        let mut client = Self {
            server: server.clone(),
            coprocess: Some(coprocess),
            parser: Parser::default(),
            unsent: Vec::new(),
            asked: VecDeque::new(),
            looks: VecDeque::new(),
            way: Capture::Printed,
            buffer: format!("biv-look-{}-{number}", std::process::id()),
        };
        let greeted = client.greet();
        if greeted.is_err() {
            // The client ends while the lock is still held. The hub can be closed only after that.
            client.coprocess = None;
        }
        drop(lock);
        greeted.map(|()| client)
    }

    /// Waits for the first answer: from then on the client is identified to the server.
    fn greet(&mut self) -> Result<(), TmuxError> {
        self.ask(&["display-message", "-p", "#{version}"], Question::Version);
        let deadline = Instant::now() + GREETING;
        while !self.asked.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(TmuxError::NoServer);
            }
            if let Some(readable) = self.readable() {
                wait(readable, left.min(Duration::from_millis(200)));
            }
            self.read_events()?;
        }
        Ok(())
    }

    pub(crate) fn readable(&self) -> Option<BorrowedFd<'_>> {
        self.coprocess.as_ref().map(Coprocess::readable)
    }

    /// The process of the tmux client.
    pub(crate) fn process(&self) -> Option<Identity> {
        self.coprocess.as_ref().and_then(Coprocess::identity)
    }

    /// The descriptor to poll for writing, while something is unsent.
    pub(crate) fn writable(&self) -> Option<BorrowedFd<'_>> {
        self.coprocess
            .as_ref()
            .filter(|_| !self.unsent.is_empty())
            .map(Coprocess::writable)
    }

    /// Whether an answer is overdue.
    pub(crate) fn is_stuck(&self) -> bool {
        self.unsent.len() > UNSENT
            || self
                .asked
                .front()
                .is_some_and(|(_, since)| since.elapsed() > ANSWER)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.asked.is_empty()
    }

    pub(crate) fn request_panes(&mut self) {
        self.ask(
            &["list-panes", "-a", "-F", &pane::format()],
            Question::Panes,
        );
    }

    /// Requests the title and screen of a pane, with colours on request.
    pub(crate) fn request_screenshot(&mut self, pane: &str, colours: bool) {
        let head =
            format!("#{{pane_in_mode}}{FIELD}#{{pane_dead}}{FIELD}{CURSOR}{FIELD}#{{pane_title}}");
        self.looks.push_back(PendingScreenshot {
            pane: pane.to_owned(),
            head: None,
            failed: false,
        });
        self.ask(
            &["display-message", "-p", "-t", pane, &head],
            Question::Head,
        );
        let coloured: &[&str] = if colours { &["-e"] } else { &[] };
        let buffer = self.buffer.clone();
        match self.way {
            Capture::Printed => {
                let words = [&["capture-pane", "-p"], coloured, &["-t", pane]].concat();
                self.ask(&words, Question::Text);
            }
            // A printed capture would leak in the server. All captures use the same buffer, so
            // each overwrites the one before.
            Capture::Buffered | Capture::BufferedAndEscaped => {
                let words = [&["capture-pane", "-b", &buffer], coloured, &["-t", pane]].concat();
                self.ask(&words, Question::Copy);
                self.ask(&["show-buffer", "-b", &buffer], Question::Text);
            }
        }
    }

    /// Pipes the output of a pane into this shell command. An existing pipe is replaced.
    pub(crate) fn request_pipe(&mut self, pane: &str, command: &str) {
        self.ask(
            &["pipe-pane", "-O", "-t", pane, command],
            Question::Pipe(pane.to_owned()),
        );
    }

    /// Reads answers and notifications. An error means that the connection has ended.
    pub(crate) fn read_events(&mut self) -> Result<Vec<ControlEvent>, TmuxError> {
        let mut said = Vec::new();
        let mut bytes = [0; 64 * 1024];
        loop {
            let Some(coprocess) = &mut self.coprocess else {
                return Err(TmuxError::NoServer);
            };
            let count = match coprocess.stdout().read(&mut bytes) {
                Ok(0) => return Err(TmuxError::NoServer),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(said),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return Err(TmuxError::NoServer),
            };
            let words = self
                .parser
                .feed(bytes.get(..count).unwrap_or_default())
                .map_err(|error| TmuxError::Answer(error.to_string()))?;
            for word in words {
                match word {
                    ControlMessage::Reply { ok, body } => said.extend(self.answer(ok, &body)?),
                    ControlMessage::Notification(notice) => {
                        said.push(ControlEvent::Notification(notice))
                    }
                    ControlMessage::Exit => return Err(TmuxError::NoServer),
                }
            }
        }
    }

    /// Sends as much as the server takes now.
    pub(crate) fn flush(&mut self) -> Result<(), TmuxError> {
        while !self.unsent.is_empty() {
            let Some(coprocess) = &mut self.coprocess else {
                return Err(TmuxError::NoServer);
            };
            match coprocess.stdin().write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(TmuxError::NoServer),
            }
        }
        Ok(())
    }

    fn ask(&mut self, words: &[&str], question: Question) {
        self.unsent.extend_from_slice(line(words).as_bytes());
        self.asked.push_back((question, Instant::now()));
        // The rest is sent when there is room. A closed pipe is noticed when reading.
        if let Err(error) = self.flush() {
            tracing::debug!(%error, "a command for tmux was not sent");
        }
    }

    fn answer(&mut self, ok: bool, body: &[u8]) -> Result<Option<ControlEvent>, TmuxError> {
        let text = || String::from_utf8_lossy(body);
        let Some((question, _)) = self.asked.pop_front() else {
            return Err(TmuxError::Answer(text().into_owned()));
        };
        Ok(match question {
            Question::Version => {
                self.way = Capture::of(TmuxVersion::parse(&format!("tmux {}", text().trim())));
                None
            }
            Question::Panes => Some(ControlEvent::Panes(parse_panes(&text())?)),
            Question::Head => {
                if let Some(look) = self.looks.iter_mut().find(|look| look.head.is_none()) {
                    look.failed |= !ok;
                    look.head = Some(text().into_owned());
                }
                None
            }
            Question::Copy => {
                if let Some(look) = self.looks.front_mut() {
                    look.failed |= !ok;
                }
                None
            }
            Question::Text => self.looks.pop_front().map(|look| {
                let body = match self.way {
                    Capture::BufferedAndEscaped => unescaped(body),
                    Capture::Printed | Capture::Buffered => body.to_owned(),
                };
                ControlEvent::Screenshot {
                    shot: if ok { shot(&look, &body) } else { None },
                    pane: look.pane,
                }
            }),
            Question::Pipe(pane) => Some(ControlEvent::Piped { pane, ok }),
        })
    }
}

impl Drop for ControlClient {
    fn drop(&mut self) {
        // The client first, then the session that it is attached to: tmux crashes otherwise.
        self.coprocess = None;
        self.server.close_hub();
    }
}

fn shot(look: &PendingScreenshot, body: &[u8]) -> Option<Screenshot> {
    let head = look.head.as_deref().filter(|_| !look.failed)?;
    let mut fields = head.trim_end_matches('\n').splitn(4, FIELD);
    Some(Screenshot {
        pane: look.pane.clone(),
        in_mode: fields.next()? != "0",
        dead: fields.next()? == "1",
        cursor: parse_cursor(fields.next()?),
        title: fields.next()?.to_owned(),
        text: String::from_utf8_lossy(body)
            .trim_end_matches('\n')
            .to_owned(),
    })
}

fn wait(fd: BorrowedFd<'_>, limit: Duration) {
    let timeout = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    // After an interruption or an error the caller checks again anyway.
    poll(
        &mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)],
        Some(&timeout),
    )
    .ok();
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::model::InstanceId;
    use crate::tmux::{Configuration, SessionOptions};

    /// In place of `biv __leash`: execs its arguments.
    const LEASH: &str = "#!/bin/sh\nshift 2\nexec \"$@\"\n";
    const CONNECTIONS: usize = 25;

    fn open(server: &Server, instance: &InstanceId) {
        server
            .open_session(&SessionOptions {
                instance,
                columns: 80,
                rows: 24,
                title: "",
                branch: "",
                argv: &["cat".into()],
            })
            .unwrap();
    }

    #[test]
    fn the_server_outlives_clients_that_connect_while_sessions_come_and_go() {
        let directory = tempfile::tempdir().unwrap();
        let leash = directory.path().join("leash");
        std::fs::write(&leash, LEASH).unwrap();
        std::fs::set_permissions(&leash, std::fs::Permissions::from_mode(0o700)).unwrap();
        let configuration = Configuration {
            history: 100,
            detach_key: "C-q".to_owned(),
            next_key: "M-!".to_owned(),
        };
        let server = Server::new(directory.path(), "tmux.sock", configuration);
        let first = InstanceId::random();
        open(&server, &first);
        let identity = server.identity().unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) && identity.is_alive() {
                        let id = InstanceId::random();
                        open(&server, &id);
                        server.close_session(&id).unwrap();
                    }
                });
            }
            let connected = (0..CONNECTIONS)
                .take_while(|_| identity.is_alive())
                // A client that does not get the lock is tried again by its watcher.
                .filter(|_| ControlClient::connect(&server, &leash).is_ok())
                .count();
            over.store(true, Ordering::Relaxed);
            assert!(connected > 0);
        });
        assert!(identity.is_alive(), "the server has fallen over");
        server.close_session(&first).unwrap();
    }
}
