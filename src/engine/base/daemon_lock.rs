//! The daemon of a home, of which there is one: its lock, its socket, and the kinds of callers.

use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::engine::base::caller::Caller;
use crate::engine::base::rights::Verb;
use crate::engine::base::{Core, Error, socket};
use crate::process::Command;
use crate::store::{Lock, StoreError};

/// A log larger than this is renamed when the next daemon starts.
const LARGE_LOG: u64 = 1024 * 1024;

/// Proves, as long as it is held, that no other daemon serves this home.
#[derive(Debug)]
pub(crate) struct DaemonLock {
    _lock: Lock,
}

/// The kind of process at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The user, at a terminal or in a script.
    User,
    /// Something that runs inside an instance: an agent, or what it has started.
    Inside,
    /// Another user of this machine.
    Stranger,
}

impl Core {
    /// Takes the lock of the daemon; the error names the process that holds it.
    pub(crate) fn lock_daemon(&self) -> Result<DaemonLock, Error> {
        self.prepare()?;
        // A daemon that was just killed may hold the lock a moment longer, and a process that only tests
        // the lock holds it briefly. A daemon that answers keeps it.
        let deadline = Instant::now() + Duration::from_secs(1);
        loop {
            match self.store.lock("daemon", Duration::ZERO, "daemon") {
                Ok(lock) => return Ok(DaemonLock { _lock: lock }),
                Err(StoreError::Busy { .. })
                    if Instant::now() < deadline && self.connect_to_daemon().is_err() =>
                {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether a process holds the daemon's lock.
    pub(crate) fn daemon_lock_is_held(&self) -> bool {
        self.store.root().join("lock").is_dir()
            && self.store.lock("daemon", Duration::ZERO, "look").is_err()
    }

    /// The process that holds the daemon's lock, if it has written its id; None if the lock is free.
    pub(crate) fn daemon_lock_holder(&self) -> Option<Option<u32>> {
        if !self.store.root().join("lock").is_dir() {
            return None;
        }
        match self.store.lock("daemon", Duration::ZERO, "look") {
            Err(StoreError::Busy { holder, .. }) => {
                let (purpose, rest) = holder.split_once(" (process ")?;
                (purpose == "daemon").then(|| rest.trim_end_matches(')').parse().ok())
            }
            _ => None,
        }
    }

    pub(crate) fn daemon_socket(&self) -> PathBuf {
        self.home.run.join("daemon.sock")
    }

    pub(crate) fn daemon_log(&self) -> PathBuf {
        self.home.state.join("daemon.log")
    }

    /// Opens the socket for requests. The caller holds the daemon's lock, so an old socket is replaced.
    pub(crate) fn open_daemon_socket(&self, _lock: &DaemonLock) -> Result<UnixListener, Error> {
        let path = self.daemon_socket();
        // Usually the file does not exist; otherwise binding reports the error.
        drop(std::fs::remove_file(&path));
        let listener = socket::bind(&path).map_err(Error::files("open", &path))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
            .map_err(Error::files("close to others", &path))?;
        Ok(listener)
    }

    /// A connection to the daemon of this home.
    pub(crate) fn connect_to_daemon(&self) -> std::io::Result<UnixStream> {
        socket::connect(&self.daemon_socket())
    }

    /// Which kind of process is at the other end.
    pub(crate) fn peer(&self, stream: &UnixStream) -> Peer {
        match socket::peer(stream) {
            Some((uid, pid)) if uid == rustix::process::geteuid().as_raw() => {
                // If the system does not tell the process, only the modes of the socket protect it.
                if pid > 0 && self.caller_of(pid) != Caller::User {
                    Peer::Inside
                } else {
                    Peer::User
                }
            }
            _ => Peer::Stranger,
        }
    }

    /// Starts a daemon for this home that outlives this process. Variables that tie a process to an
    /// instance or to a terminal are not passed on.
    pub(crate) fn start_daemon(&self) -> Result<std::process::Child, Error> {
        self.require(Verb::StartDaemon, &[])?;
        self.prepare()?;
        let path = self.daemon_log();
        if std::fs::metadata(&path).is_ok_and(|log| log.len() > LARGE_LOG) {
            // A log that cannot be renamed grows further.
            drop(std::fs::rename(&path, path.with_extension("log.1")));
        }
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(Error::files("open", &path))?;
        let mut command = Command::new(&self.host.biv)
            .args(["daemon", "run", "--detached"])
            .directory(&self.home.state);
        for name in ["BIV_INSTANCE", "TMUX", "TMUX_PANE"] {
            command = command.env_remove(name);
        }
        // A relative path is only valid in the caller's directory.
        if let Some(home) = std::env::var_os("BIV_HOME").filter(|home| !home.is_empty())
            && let Ok(current) = std::env::current_dir()
        {
            command = command.env("BIV_HOME", current.join(home));
        }
        Ok(command.spawn_detached(log)?)
    }
}
