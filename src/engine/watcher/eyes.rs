//! Waiting for many things at once, and being woken from it.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Wakes whoever waits at the other end.
#[derive(Debug)]
pub(super) struct Waker(UnixStream);

/// The end that is waited at.
#[derive(Debug)]
pub(super) struct Alarm(UnixStream);

pub(super) fn alarm() -> std::io::Result<(Waker, Alarm)> {
    let (here, there) = UnixStream::pair()?;
    here.set_nonblocking(true)?;
    there.set_nonblocking(true)?;
    Ok((Waker(here), Alarm(there)))
}

impl Waker {
    pub(super) fn wake(&self) {
        // Full means that it is being woken already.
        drop((&self.0).write(&[0]));
    }
}

impl Alarm {
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub(super) fn calm(&self) {
        let mut bytes = [0; 256];
        loop {
            match (&self.0).read(&mut bytes) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

/// Which of these can be read (or, for those that want to write, written) by then.
pub(super) fn watch<'a>(
    readable: impl Iterator<Item = BorrowedFd<'a>>,
    writable: Option<BorrowedFd<'a>>,
    limit: Duration,
) -> Vec<bool> {
    let mut fds: Vec<PollFd<'_>> = readable
        .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
        .collect();
    fds.extend(writable.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
    let timeout = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    // Interrupted: nothing is ready, and the caller comes back.
    poll(&mut fds, Some(&timeout)).ok();
    fds.iter().map(|fd| !fd.revents().is_empty()).collect()
}
