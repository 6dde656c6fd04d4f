//! No session is opened or closed while a control client connects.
//!
//! A control client identifies itself to the server in several messages. A tmux server before 3.7 that
//! announces a session while it has only the first of them dereferences a null pointer, and every agent
//! ends with it (tmux pull request 4980). On a busy machine the time between two of these messages is
//! long, and callers that start many agents open sessions all the time. So whoever opens or closes a
//! session holds this lock shared, and a control client holds it alone until it has its first answer.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than a control client holds it. After that the command goes on without: a process that was
/// stopped with the lock in hand must not keep everyone from their agents.
const LONGEST_CONNECT: Duration = Duration::from_secs(15);
const FIRST_PROBE: Duration = Duration::from_millis(1);
const LAST_PROBE: Duration = Duration::from_millis(10);

/// Held as long as it lives.
#[derive(Debug)]
pub(super) struct SessionsLock {
    _file: File,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Shared,
    Exclusive,
}

impl SessionsLock {
    /// For a command that opens or closes a session. None where the lock cannot be had: the command is
    /// then carried out all the same.
    pub(super) fn shared(directory: &Path) -> Option<Self> {
        Self::take(directory, Mode::Shared, LONGEST_CONNECT)
    }

    /// For a control client, from before its process starts until the server has answered it.
    pub(super) fn exclusive(directory: &Path, wait: Duration) -> Option<Self> {
        Self::take(directory, Mode::Exclusive, wait)
    }

    /// Through a first lock that everyone holds while waiting for the second: else those that share it
    /// would keep out for ever the one that wants it alone.
    fn take(directory: &Path, mode: Mode, wait: Duration) -> Option<Self> {
        let deadline = Instant::now() + wait;
        let queue = open(&directory.join("sessions.queue.lock"))?;
        let lock = open(&directory.join("sessions.lock"))?;
        wait_for(&queue, Mode::Exclusive, deadline)?;
        wait_for(&lock, mode, deadline)?;
        Some(Self { _file: lock })
    }
}

fn open(path: &Path) -> Option<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .ok()
}

fn wait_for(file: &File, mode: Mode, deadline: Instant) -> Option<()> {
    let mut probe = FIRST_PROBE;
    loop {
        let attempt = match mode {
            Mode::Shared => file.try_lock_shared(),
            Mode::Exclusive => file.try_lock(),
        };
        match attempt {
            Ok(()) => return Some(()),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(probe);
                probe = LAST_PROBE.min(probe * 2);
            }
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
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
        drop((first, second));
        let client = SessionsLock::exclusive(path, LONG).unwrap();
        assert!(SessionsLock::take(path, Mode::Shared, SHORT).is_none());
        drop(client);
        assert!(SessionsLock::take(path, Mode::Shared, LONG).is_some());
    }

    #[test]
    fn a_client_gets_its_turn_among_many_that_share() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut held = SessionsLock::shared(path);
                    while !over.load(std::sync::atomic::Ordering::Relaxed) {
                        // There is always one that holds it.
                        held = SessionsLock::shared(path).or(held);
                    }
                });
            }
            let client = SessionsLock::exclusive(path, LONG);
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(client.is_some());
        });
    }
}
