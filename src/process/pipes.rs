//! Pipes of a program that are read to their end by one thread, within a deadline.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

const CHUNK: usize = 1 << 16;
/// The longest single wait. The caller is asked again what is left.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// What happens to the output beyond the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    /// It is not read. The pipe closes, and the program's next write fails.
    Unread,
    Discarded,
}

/// A pipe of which the first bytes are kept.
pub(super) struct KeptPipe {
    /// None once it was read to its end.
    pipe: Option<OwnedFd>,
    kept: Vec<u8>,
    most: u64,
    excess: Excess,
}

impl KeptPipe {
    pub(super) fn new(pipe: impl Into<OwnedFd>, most: u64, excess: Excess) -> Self {
        Self {
            pipe: Some(pipe.into()),
            kept: Vec::new(),
            most,
            excess,
        }
    }

    /// Reads what is there.
    fn read(&mut self, buffer: &mut [u8]) {
        let Some(pipe) = &self.pipe else { return };
        let read = match rustix::io::read(pipe, &mut *buffer) {
            Err(Errno::INTR) => return,
            Ok(read) if read > 0 => read,
            Ok(_) => return self.pipe = None,
            // What was read before is kept.
            Err(error) => {
                tracing::debug!(%error, "the output of a program was not read to its end");
                return self.pipe = None;
            }
        };
        let room = self.most.saturating_sub(self.kept.len() as u64);
        let kept = usize::try_from(room).map_or(read, |room| room.min(read));
        self.kept.extend_from_slice(&buffer[..kept]);
        if self.excess == Excess::Unread && self.kept.len() as u64 >= self.most {
            self.pipe = None;
        }
    }
}

/// What was kept of each pipe; None if not all were read to their end in the time that is left.
pub(super) fn read_pipes<const N: usize>(
    mut pipes: [Option<KeptPipe>; N],
    left: impl Fn() -> Duration,
) -> Option<[Vec<u8>; N]> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let mut open: Vec<&mut KeptPipe> = pipes
            .iter_mut()
            .flatten()
            .filter(|kept| kept.pipe.is_some())
            .collect();
        if open.is_empty() {
            return Some(pipes.map(|pipe| pipe.map(|pipe| pipe.kept).unwrap_or_default()));
        }
        let left = left();
        if left.is_zero() {
            return None;
        }
        let ready = ready(&open, left);
        for (kept, ready) in open.iter_mut().zip(ready) {
            if ready {
                kept.read(&mut buffer);
            }
        }
    }
}

/// Which of these pipes can be read or have ended.
fn ready(pipes: &[&mut KeptPipe], limit: Duration) -> Vec<bool> {
    let mut polled: Vec<PollFd<'_>> = pipes
        .iter()
        .filter_map(|kept| kept.pipe.as_ref())
        .map(|pipe| PollFd::new(pipe, PollFlags::IN))
        .collect();
    let timeout = Timespec::try_from(limit.min(LONGEST_WAIT)).ok();
    // An error is an interrupt by a signal: the caller looks again.
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) => polled.iter().map(|fd| !fd.revents().is_empty()).collect(),
        Err(_) => vec![false; pipes.len()],
    }
}
