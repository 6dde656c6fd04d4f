//! Starting, asking and stopping the daemon from another process.

use std::time::{Duration, Instant};

use super::client::Client;
use super::wire::{Answer, Request, Status};
use crate::engine::{Engine, Error};

/// It takes the seat and opens its socket within milliseconds; a busy machine takes longer.
const START: Duration = Duration::from_secs(10);
/// It finishes what is under way, and says good-bye.
const STOP: Duration = Duration::from_secs(12);
const PROBE: Duration = Duration::from_millis(10);

/// How a request to stop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Done,
    /// There was none.
    NotRunning,
    /// It was asked from inside an instance.
    Refused,
    /// It is still there.
    Still,
}

/// What the daemon says of itself, or that there is none.
pub(crate) fn status(engine: &Engine) -> Status {
    let absent = Status {
        running: false,
        pid: None,
        version: None,
        started_at: None,
        watching: 0,
    };
    let Some(client) = Client::connect(engine) else {
        // One that does not answer is not absent: its lock tells.
        return match engine.daemon_lock_holder() {
            Some(pid) => Status {
                running: true,
                pid,
                ..absent
            },
            None => absent,
        };
    };
    let hello = client.hello().clone();
    match client.ask(&Request::Status) {
        Some(Answer::Status(status)) => status,
        // One of another version: who it is can be told all the same.
        _ => Status {
            running: true,
            pid: Some(hello.pid),
            version: Some(hello.bivouac),
            started_at: Some(hello.started_at),
            watching: 0,
        },
    }
}

/// Starts the daemon where there is none; says whether it did.
pub(crate) fn start(engine: &Engine) -> Result<bool, Error> {
    if Client::connect(engine).is_some() {
        return Ok(false);
    }
    let deadline = Instant::now() + START;
    let mut child = engine.start_daemon()?;
    loop {
        let serving = Client::connect(engine).map(|client| client.hello().pid);
        let ended = matches!(child.try_wait(), Ok(Some(_)));
        match serving {
            Some(pid) if pid == child.id() => return Ok(true),
            // Somebody else's was quicker. Ours finds that out and ends; if it were left to do so in its
            // own time, it could take the seat of one that is stopped meanwhile.
            Some(_) if ended || Instant::now() > deadline => return Ok(true),
            Some(_) | None => {}
        }
        if Instant::now() > deadline || (ended && !engine.daemon_lock_is_held()) {
            return Err(Error::DaemonNotStarted {
                log: engine.daemon_log(),
            });
        }
        std::thread::sleep(PROBE);
    }
}

/// The same for whoever needs it: what cannot be had is told, and no reason to fail.
pub(crate) fn ensure(engine: &Engine) -> Option<String> {
    match start(engine) {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Asks the daemon to stop, and waits until it has.
pub(crate) fn stop(engine: &Engine) -> Stopped {
    let Some(client) = Client::connect(engine) else {
        return if engine.daemon_lock_is_held() {
            Stopped::Still
        } else {
            Stopped::NotRunning
        };
    };
    if let Some(Answer::Refused(_)) = client.ask(&Request::Stop) {
        return Stopped::Refused;
    }
    let deadline = Instant::now() + STOP;
    while engine.daemon_lock_is_held() {
        if Instant::now() > deadline {
            return Stopped::Still;
        }
        std::thread::sleep(PROBE);
    }
    Stopped::Done
}
