//! How many may be connected: those that say nothing make room for those that come after.

use std::collections::VecDeque;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A client of ours asks within a millisecond: so many at once have not asked yet only if they never will.
const SILENT: usize = 32;
/// Each that is served for long has a thread.
const SERVED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Entrance {
    silent: Mutex<VecDeque<(usize, UnixStream)>>,
    served: AtomicUsize,
    next: AtomicUsize,
}

/// A connection that has not said what it wants.
#[derive(Debug)]
pub(super) struct Silent {
    entrance: Arc<Entrance>,
    number: usize,
}

/// A connection that is being served.
#[derive(Debug)]
pub(super) struct Served {
    entrance: Arc<Entrance>,
}

impl Entrance {
    /// Lets one in. Where too many are silent, the one that has been so for longest is closed.
    pub(super) fn admit(self: &Arc<Self>, stream: &UnixStream) -> std::io::Result<Silent> {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let mut silent = self.silent();
        silent.push_back((number, stream.try_clone()?));
        if silent.len() > SILENT
            && let Some((_, oldest)) = silent.pop_front()
        {
            // Gone already is as good.
            drop(oldest.shutdown(Shutdown::Both));
        }
        Ok(Silent {
            entrance: Arc::clone(self),
            number,
        })
    }

    fn silent(&self) -> MutexGuard<'_, VecDeque<(usize, UnixStream)>> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Silent {
    /// It has said what it wants; None where too many are served already.
    pub(super) fn serve(self) -> Option<Served> {
        let served = &self.entrance.served;
        if served.fetch_add(1, Ordering::SeqCst) >= SERVED {
            served.fetch_sub(1, Ordering::SeqCst);
            return None;
        }
        Some(Served {
            entrance: Arc::clone(&self.entrance),
        })
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        let number = self.number;
        self.entrance.silent().retain(|(known, _)| *known != number);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.entrance.served.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_oldest_silent_one_makes_room() {
        let entrance = Arc::new(Entrance::default());
        let mut others = Vec::new();
        let mut held = Vec::new();
        for _ in 0..=SILENT {
            let (ours, theirs) = UnixStream::pair().unwrap();
            held.push(entrance.admit(&ours).unwrap());
            others.push(theirs);
            held.last().unwrap();
            drop(ours);
        }
        // A closed one reads its end; the others would wait.
        assert_eq!(others[0].read(&mut [0]).unwrap(), 0);
        others[1].set_nonblocking(true).unwrap();
        assert!(others[1].read(&mut [0]).is_err());
        drop(held);
        assert!(entrance.silent().is_empty());
    }

    #[test]
    fn the_served_are_bounded_and_leave() {
        let entrance = Arc::new(Entrance::default());
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let served: Vec<_> = (0..SERVED)
            .map(|_| entrance.admit(&ours).unwrap().serve().unwrap())
            .collect();
        assert!(entrance.admit(&ours).unwrap().serve().is_none());
        drop(served);
        assert!(entrance.admit(&ours).unwrap().serve().is_some());
    }
}
