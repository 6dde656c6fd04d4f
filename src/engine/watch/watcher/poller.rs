//! Waits for hundreds of descriptors of which few are ready.
//!
//! `poll` takes the whole list each time, which with 200 silent agents costs more than all the work for
//! one that prints. So epoll is used where it exists.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// All descriptors that are waited for.
#[derive(Debug)]
pub(super) struct Poller {
    memory: Memory,
    next: u64,
}

/// A descriptor that is waited for until this is dropped.
#[derive(Debug)]
pub(super) struct PolledFd {
    fd: OwnedFd,
    number: u64,
    memory: Memory,
}

/// Closing it is not enough for epoll to forget it: a child that was just forked may have a copy.
impl Drop for PolledFd {
    fn drop(&mut self) {
        self.memory.forget(&self.fd);
    }
}

/// Which of them can be read.
#[derive(Debug)]
pub(super) struct ReadyFds(Vec<u64>);

impl ReadyFds {
    pub(super) fn from(&self, fd: &PolledFd) -> bool {
        self.0.contains(&fd.number)
    }
}

impl AsFd for PolledFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Poller {
    pub(super) fn open() -> std::io::Result<Self> {
        Ok(Self {
            memory: Memory::open()?,
            next: 0,
        })
    }

    /// Adds a descriptor.
    pub(super) fn add(&mut self, fd: OwnedFd) -> std::io::Result<PolledFd> {
        self.next += 1;
        self.memory.remember(&fd, self.next)?;
        Ok(PolledFd {
            fd,
            number: self.next,
            memory: self.memory.clone(),
        })
    }

    /// Waits until one of `polled` or one of `others` can be read, `writable` can be
    /// written, or the time is over.
    pub(super) fn wait<'a>(
        &'a self,
        polled: impl Iterator<Item = &'a PolledFd>,
        others: impl Iterator<Item = BorrowedFd<'a>>,
        writable: Option<BorrowedFd<'a>>,
        limit: Duration,
    ) -> ReadyFds {
        let mut fds: Vec<PollFd<'_>> = others
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        fds.extend(writable.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
        self.memory.wait(fds, polled, limit)
    }
}

/// An error is ignored: then nothing is ready, and the caller waits again.
fn wait_for(fds: &mut [PollFd<'_>], limit: Duration) {
    let timeout = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    poll(fds, Some(&timeout)).ok();
}

#[cfg(target_os = "linux")]
use kernel::Memory;
#[cfg(not(target_os = "linux"))]
use none::Memory;

#[cfg(target_os = "linux")]
mod kernel {
    use std::os::fd::{AsFd, OwnedFd};
    use std::sync::Arc;
    use std::time::Duration;

    use rustix::buffer::spare_capacity;
    use rustix::event::{PollFd, PollFlags, Timespec, epoll};

    use super::{PolledFd, ReadyFds, wait_for};

    /// More ready descriptors than this are returned the next time.
    const AT_ONCE: usize = 64;

    #[derive(Debug, Clone)]
    pub(super) struct Memory(Arc<OwnedFd>);

    impl Memory {
        pub(super) fn open() -> std::io::Result<Self> {
            let memory = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            Ok(Self(Arc::new(memory)))
        }

        pub(super) fn remember(&self, fd: &OwnedFd, number: u64) -> std::io::Result<()> {
            let data = epoll::EventData::new_u64(number);
            Ok(epoll::add(&*self.0, fd, data, epoll::EventFlags::IN)?)
        }

        pub(super) fn forget(&self, fd: &OwnedFd) {
            // Fails only for a descriptor that was never added.
            epoll::delete(&*self.0, fd).ok();
        }

        pub(super) fn wait<'a>(
            &'a self,
            mut fds: Vec<PollFd<'a>>,
            _polled: impl Iterator<Item = &'a PolledFd>,
            limit: Duration,
        ) -> ReadyFds {
            fds.push(PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN));
            wait_for(&mut fds, limit);
            let mut events = Vec::with_capacity(AT_ONCE);
            let at_once = Timespec::default();
            if fds.last().is_some_and(|fd| !fd.revents().is_empty()) {
                // On an error nothing is ready, and the caller waits again.
                epoll::wait(&*self.0, spare_capacity(&mut events), Some(&at_once)).ok();
            }
            ReadyFds(events.iter().map(|event| event.data.u64()).collect())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod none {
    use std::os::fd::{AsFd, OwnedFd};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags};

    use super::{PolledFd, ReadyFds, wait_for};

    #[derive(Debug, Clone)]
    pub(super) struct Memory;

    impl Memory {
        pub(super) fn open() -> std::io::Result<Self> {
            Ok(Self)
        }

        pub(super) fn remember(&self, _: &OwnedFd, _: u64) -> std::io::Result<()> {
            Ok(())
        }

        pub(super) fn forget(&self, _: &OwnedFd) {}

        pub(super) fn wait<'a>(
            &self,
            mut fds: Vec<PollFd<'a>>,
            polled: impl Iterator<Item = &'a PolledFd>,
            limit: Duration,
        ) -> ReadyFds {
            let others = fds.len();
            let mut numbers = Vec::new();
            for fd in polled {
                numbers.push(fd.number);
                fds.push(PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN));
            }
            wait_for(&mut fds, limit);
            let ready = fds[others..].iter().map(|fd| !fd.revents().is_empty());
            let ready = numbers.into_iter().zip(ready);
            ReadyFds(
                ready
                    .filter_map(|(number, ready)| ready.then_some(number))
                    .collect(),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    fn ready(polled: &Poller, all: &[&PolledFd]) -> ReadyFds {
        polled.wait(
            all.iter().copied(),
            std::iter::empty(),
            None,
            Duration::ZERO,
        )
    }

    #[test]
    fn a_readable_descriptor_is_reported_until_it_is_read() {
        let mut polled = Poller::open().unwrap();
        let (mut one, here) = UnixStream::pair().unwrap();
        let (_silent, there) = UnixStream::pair().unwrap();
        let mut reader = here.try_clone().unwrap();
        let first = polled.add(here.into()).unwrap();
        let second = polled.add(there.into()).unwrap();
        let all = [&first, &second];
        assert!(!ready(&polled, &all).from(&first));
        one.write_all(b"x").unwrap();
        for _ in 0..2 {
            let ready = ready(&polled, &all);
            assert!(ready.from(&first) && !ready.from(&second));
        }
        reader.read_exact(&mut [0]).unwrap();
        assert!(!ready(&polled, &all).from(&first));
    }

    #[test]
    fn a_dropped_descriptor_is_not_reported_while_a_copy_is_open() {
        let mut polled = Poller::open().unwrap();
        let (mut one, here) = UnixStream::pair().unwrap();
        let _elsewhere = here.try_clone().unwrap();
        let fd = polled.add(here.into()).unwrap();
        one.write_all(b"x").unwrap();
        drop(fd);
        let (_silent, there) = UnixStream::pair().unwrap();
        let other = polled.add(there.into()).unwrap();
        assert!(ready(&polled, &[&other]).0.is_empty());
    }
}
