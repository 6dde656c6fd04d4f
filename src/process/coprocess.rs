//! A child process that this process talks to over pipes until it drops it.

use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use super::{Command, Failure, Identity, Signal};

/// How long it may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
const PROBE: Duration = Duration::from_millis(1);

/// A running program whose standard input and output are non-blocking pipes. The caller polls them.
///
/// When dropped it gets SIGTERM first, and SIGKILL only if it does not end: a tmux server crashes when a
/// control client is killed before it has identified itself (tmux pull request 5004). If this process is
/// killed, the pipe to its input closes, and most programs end then.
#[derive(Debug)]
pub(crate) struct Coprocess {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
}

impl Command {
    /// Starts the program to run beside this process; see [`Coprocess`].
    pub(crate) fn coprocess(&self) -> Result<Coprocess, Failure> {
        Coprocess::start(self)
    }
}

impl Coprocess {
    pub(super) fn start(command: &Command) -> Result<Self, Failure> {
        let mut child = command
            .prepared()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| command.not_started(source))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(command.not_started(std::io::Error::other("no pipes")));
        };
        let coprocess = Self {
            child,
            stdin,
            stdout,
        };
        unblock(&coprocess.stdin)
            .and_then(|()| unblock(&coprocess.stdout))
            .map_err(|source| command.not_started(source))?;
        Ok(coprocess)
    }

    pub(crate) fn identity(&self) -> Option<Identity> {
        Identity::of_pid(i32::try_from(self.child.id()).ok()?)
    }

    pub(crate) fn stdin(&mut self) -> &mut ChildStdin {
        &mut self.stdin
    }

    pub(crate) fn stdout(&mut self) -> &mut ChildStdout {
        &mut self.stdout
    }

    pub(crate) fn readable(&self) -> BorrowedFd<'_> {
        self.stdout.as_fd()
    }

    pub(crate) fn writable(&self) -> BorrowedFd<'_> {
        self.stdin.as_fd()
    }
}

impl Drop for Coprocess {
    fn drop(&mut self) {
        if let Some(identity) = self.identity() {
            identity.signal(Signal::TERM);
        }
        let deadline = Instant::now() + GRACE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(PROBE);
        }
        // `kill` fails where it has ended already. `wait` follows in either case, so that no zombie is
        // left.
        drop(self.child.kill());
        if let Err(error) = self.child.wait() {
            tracing::warn!(%error, "a coprocess could not be waited for");
        }
    }
}

fn unblock(pipe: &impl AsFd) -> std::io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let flags = fcntl_getfl(pipe)?;
    Ok(fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn it_answers_and_ends_with_us() {
        let mut cat = Command::new("cat").coprocess().unwrap();
        cat.stdin().write_all(b"hello\n").unwrap();
        let mut answer = Vec::new();
        let mut buffer = [0; 64];
        while answer.len() < 6 {
            match cat.stdout().read(&mut buffer) {
                Ok(count) => answer.extend_from_slice(&buffer[..count]),
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
            }
        }
        assert_eq!(answer, b"hello\n");
        let pid = i32::try_from(cat.child.id()).unwrap();
        let identity = Identity::of_pid(pid).unwrap();
        drop(cat);
        assert!(!identity.is_alive());
    }
}
