//! Wakes a thread that waits for descriptors.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// Wakes the thread that waits at the other end.
#[derive(Debug)]
pub(super) struct Waker(UnixStream);

/// The end that the thread waits at.
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
        // Full means that it is already being woken.
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
