//! Starts, queries and stops the daemon from another process.

use std::time::{Duration, Instant};

use super::client::DaemonClient;
use super::wire::{Answer, Request, Status};
use crate::engine::{Engine, Error};

/// The daemon takes its lock and opens its socket within milliseconds; on a busy machine it takes longer.
const START: Duration = Duration::from_secs(10);
/// The daemon first completes running jobs.
const STOP: Duration = Duration::from_secs(12);
const PROBE: Duration = Duration::from_millis(10);

/// How a request to stop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Done,
    /// There was no daemon.
    NotRunning,
    /// The request came from inside an instance.
    Refused,
    /// It still runs.
    Still,
}

/// The status of the daemon, also where none runs.
pub(crate) fn status(engine: &Engine) -> Status {
    let absent = Status {
        running: false,
        pid: None,
        version: None,
        started_at: None,
        watching: 0,
    };
    let Some(client) = DaemonClient::connect(engine) else {
        // A daemon that does not answer may still run: its lock shows it.
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
        // A daemon of another version: its hello line is enough.
        _ => Status {
            running: true,
            pid: Some(hello.pid),
            version: Some(hello.bivouac),
            started_at: Some(hello.started_at),
            watching: 0,
        },
    }
}

/// Starts the daemon if none runs; returns whether it did.
pub(crate) fn start(engine: &Engine) -> Result<bool, Error> {
    if DaemonClient::connect(engine).is_some() {
        return Ok(false);
    }
    let deadline = Instant::now() + START;
    let mut child = engine.start_daemon()?;
    loop {
        let serving = DaemonClient::connect(engine).map(|client| client.hello().pid);
        let ended = matches!(child.try_wait(), Ok(Some(_)));
        match serving {
            Some(pid) if pid == child.id() => return Ok(true),
            // The daemon of another process was faster. Ours would notice and end. It is waited for here,
            // because it could otherwise take the lock of one that is stopped in between.
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

/// Starts the daemon if needed; returns a warning instead of an error.
pub(crate) fn ensure(engine: &Engine) -> Option<String> {
    match start(engine) {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Requests the daemon to stop, and waits until it has.
pub(crate) fn stop(engine: &Engine) -> Stopped {
    let Some(client) = DaemonClient::connect(engine) else {
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
