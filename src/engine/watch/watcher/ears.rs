//! Hundreds of descriptors of which few have something to say.
//!
//! To `poll` they must all be named each time, which with 200 silent agents costs more than everything
//! else that is done about one that speaks. Where the kernel remembers them (epoll), it is asked to.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// All descriptors that are listened to.
#[derive(Debug)]
pub(super) struct Ears {
    memory: Memory,
    next: u64,
}

/// A descriptor that is listened to until this is dropped.
#[derive(Debug)]
pub(super) struct Ear {
    fd: OwnedFd,
    number: u64,
    memory: Memory,
}

/// That it is closed is not enough to have it forgotten, while a child that was just forked has it, too.
impl Drop for Ear {
    fn drop(&mut self) {
        self.memory.forget(&self.fd);
    }
}

/// Which of them can be read.
#[derive(Debug)]
pub(super) struct Heard(Vec<u64>);

impl Heard {
    pub(super) fn from(&self, ear: &Ear) -> bool {
        self.0.contains(&ear.number)
    }
}

impl AsFd for Ear {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Ears {
    pub(super) fn open() -> std::io::Result<Self> {
        Ok(Self {
            memory: Memory::open()?,
            next: 0,
        })
    }

    /// Listens to this one from now on.
    pub(super) fn lend(&mut self, fd: OwnedFd) -> std::io::Result<Ear> {
        self.next += 1;
        self.memory.remember(&fd, self.next)?;
        Ok(Ear {
            fd,
            number: self.next,
            memory: self.memory.clone(),
        })
    }

    /// Waits until one of the ears hears something, one of `others` can be read, `writable` can be
    /// written, or the time is over.
    pub(super) fn wait<'a>(
        &'a self,
        ears: impl Iterator<Item = &'a Ear>,
        others: impl Iterator<Item = BorrowedFd<'a>>,
        writable: Option<BorrowedFd<'a>>,
        limit: Duration,
    ) -> Heard {
        let mut fds: Vec<PollFd<'_>> = others
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        fds.extend(writable.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
        self.memory.wait(fds, ears, limit)
    }
}

/// Interrupted: nothing is ready, and the caller comes back.
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

    use super::{Ear, Heard, wait_for};

    /// Those that are ready beyond this number are told of the next time.
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
            epoll::delete(&*self.0, fd).ok();
        }

        pub(super) fn wait<'a>(
            &'a self,
            mut fds: Vec<PollFd<'a>>,
            _ears: impl Iterator<Item = &'a Ear>,
            limit: Duration,
        ) -> Heard {
            fds.push(PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN));
            wait_for(&mut fds, limit);
            let mut events = Vec::with_capacity(AT_ONCE);
            let at_once = Timespec::default();
            if fds.last().is_some_and(|fd| !fd.revents().is_empty()) {
                epoll::wait(&*self.0, spare_capacity(&mut events), Some(&at_once)).ok();
            }
            Heard(events.iter().map(|event| event.data.u64()).collect())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod none {
    use std::os::fd::{AsFd, OwnedFd};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags};

    use super::{Ear, Heard, wait_for};

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
            ears: impl Iterator<Item = &'a Ear>,
            limit: Duration,
        ) -> Heard {
            let others = fds.len();
            let mut numbers = Vec::new();
            for ear in ears {
                numbers.push(ear.number);
                fds.push(PollFd::from_borrowed_fd(ear.as_fd(), PollFlags::IN));
            }
            wait_for(&mut fds, limit);
            let ready = fds[others..].iter().map(|fd| !fd.revents().is_empty());
            let heard = numbers.into_iter().zip(ready);
            Heard(
                heard
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

    fn heard(ears: &Ears, all: &[&Ear]) -> Heard {
        ears.wait(
            all.iter().copied(),
            std::iter::empty(),
            None,
            Duration::ZERO,
        )
    }

    #[test]
    fn those_who_speak_are_heard_until_they_are_listened_to() {
        let mut ears = Ears::open().unwrap();
        let (mut one, here) = UnixStream::pair().unwrap();
        let (_silent, there) = UnixStream::pair().unwrap();
        let mut reader = here.try_clone().unwrap();
        let first = ears.lend(here.into()).unwrap();
        let second = ears.lend(there.into()).unwrap();
        let all = [&first, &second];
        assert!(!heard(&ears, &all).from(&first));
        one.write_all(b"x").unwrap();
        for _ in 0..2 {
            let heard = heard(&ears, &all);
            assert!(heard.from(&first) && !heard.from(&second));
        }
        reader.read_exact(&mut [0]).unwrap();
        assert!(!heard(&ears, &all).from(&first));
    }

    #[test]
    fn one_that_was_let_go_of_is_heard_no_more_though_somebody_else_has_it() {
        let mut ears = Ears::open().unwrap();
        let (mut one, here) = UnixStream::pair().unwrap();
        let _elsewhere = here.try_clone().unwrap();
        let ear = ears.lend(here.into()).unwrap();
        one.write_all(b"x").unwrap();
        drop(ear);
        let (_silent, there) = UnixStream::pair().unwrap();
        let other = ears.lend(there.into()).unwrap();
        assert!(heard(&ears, &[&other]).0.is_empty());
    }
}
