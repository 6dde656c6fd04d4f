//! A lock that keeps sessions from being opened or closed while a control client connects.
//!
//! A control client identifies itself to the server in several messages. A tmux server before 3.7 that
//! announces a session while it has only the first of them dereferences a null pointer, and every agent
//! ends with it (tmux pull request 4980). On a busy machine the time between two of these messages is
//! long, and callers that start many agents open sessions all the time. So a command that opens or
//! closes a session holds this lock shared, and a control client holds it exclusively until it has its
//! first answer.
//!
//! Commands that overlap could share the lock without a gap and keep a client out for ever. A client
//! that waits therefore keeps a file `sessions.wanted` fresh, and no command takes the lock while it is.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Longer than a control client holds the lock. After that the command continues without the lock: a process
/// that was stopped while it held the lock must not block all others.
const LONGEST_CONNECT: Duration = Duration::from_secs(15);
const FIRST_PROBE: Duration = Duration::from_millis(1);
const LAST_PROBE: Duration = Duration::from_millis(10);
/// A client that waits touches its file at every probe. An older file is that of a process that died.
const FRESH: Duration = Duration::from_secs(2);

/// Held as long as it lives.
#[derive(Debug)]
pub(super) struct SessionsLock {
    _file: File,
}

impl SessionsLock {
    /// For a command that opens or closes a session. None where the lock was not obtained: the command
    /// then continues without it.
    pub(super) fn shared(directory: &Path) -> Option<Self> {
        Self::shared_within(directory, LONGEST_CONNECT)
    }

    fn shared_within(directory: &Path, wait: Duration) -> Option<Self> {
        let wanted = wanted(directory);
        Self::take(directory, wait, |lock| {
            if is_fresh(&wanted) {
                Err(TryLockError::WouldBlock)
            } else {
                lock.try_lock_shared()
            }
        })
    }

    /// For a control client, from before its process starts until the server has answered it.
    pub(super) fn exclusive(directory: &Path, wait: Duration) -> Option<Self> {
        let wanted = wanted(directory);
        let lock = Self::take(directory, wait, |lock| {
            let attempt = lock.try_lock();
            if attempt.is_err() {
                touch(&wanted).map_err(TryLockError::Error)?;
            }
            attempt
        });
        // Another client that still waits touches it again at its next probe.
        if let Err(error) = std::fs::remove_file(&wanted)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::debug!(path = %wanted.display(), %error, "cannot remove a client's request");
        }
        lock
    }

    fn take(
        directory: &Path,
        wait: Duration,
        mut attempt: impl FnMut(&File) -> Result<(), TryLockError>,
    ) -> Option<Self> {
        let deadline = Instant::now() + wait;
        let lock = open(&directory.join("sessions.lock")).ok()?;
        let mut probe = FIRST_PROBE;
        loop {
            match attempt(&lock) {
                Ok(()) => return Some(Self { _file: lock }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(probe);
                    probe = LAST_PROBE.min(probe * 2);
                }
                Err(_) => return None,
            }
        }
    }
}

fn wanted(directory: &Path) -> PathBuf {
    directory.join("sessions.wanted")
}

fn is_fresh(path: &Path) -> bool {
    let age = |time: SystemTime| time.elapsed().ok();
    path.metadata()
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(age)
        .is_some_and(|age| age < FRESH)
}

fn touch(path: &Path) -> std::io::Result<()> {
    open(path)?.set_modified(SystemTime::now())
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn sessions_change_side_by_side_but_not_while_a_client_connects() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let first = SessionsLock::shared(path).unwrap();
        let second = SessionsLock::shared(path).unwrap();
        assert!(SessionsLock::exclusive(path, SHORT).is_none());
        assert!(!wanted(path).exists());
        drop((first, second));
        let client = SessionsLock::exclusive(path, LONG).unwrap();
        assert!(SessionsLock::shared_within(path, SHORT).is_none());
        drop(client);
        assert!(SessionsLock::shared_within(path, LONG).is_some());
    }

    /// One probe in ten milliseconds would hardly find a moment in which no command holds the lock.
    #[test]
    fn a_client_gets_its_turn_among_many_that_share() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        let held = SessionsLock::shared(path);
                        std::thread::sleep(SHORT);
                        drop(held);
                    }
                });
            }
            std::thread::sleep(SHORT);
            let client = SessionsLock::exclusive(path, LONG);
            over.store(true, Ordering::Relaxed);
            assert!(client.is_some());
        });
        assert!(!wanted(path).exists());
    }

    #[test]
    fn the_request_of_a_client_that_died_holds_for_a_short_time_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        touch(&wanted(path)).unwrap();
        assert!(SessionsLock::shared_within(path, SHORT).is_none());
        let died = SystemTime::now() - 2 * FRESH;
        let request = open(&wanted(path)).unwrap();
        request.set_modified(died).unwrap();
        assert!(SessionsLock::shared_within(path, SHORT).is_some());
    }
}
