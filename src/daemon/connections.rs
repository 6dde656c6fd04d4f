//! Limits the number of connections. The oldest connection without a request makes room for a new one.

use std::collections::VecDeque;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most connections without a request. A client sends its request within a millisecond, so that many
/// would never send one.
const MOST_PENDING: usize = 32;
/// The most connections that are served. Each has a thread.
const MOST_SERVED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct ConnectionLimits {
    pending: Mutex<VecDeque<(usize, UnixStream)>>,
    served: AtomicUsize,
    next: AtomicUsize,
}

/// A connection without a request yet.
#[derive(Debug)]
pub(super) struct PendingConnection {
    connections: Arc<ConnectionLimits>,
    number: usize,
}

/// A connection that is being served.
#[derive(Debug)]
pub(super) struct ServedConnection {
    connections: Arc<ConnectionLimits>,
}

impl ConnectionLimits {
    /// Adds a connection. Above the limit, the oldest pending one is closed.
    pub(super) fn admit(
        self: &Arc<Self>,
        stream: &UnixStream,
    ) -> std::io::Result<PendingConnection> {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let mut pending = self.pending();
        pending.push_back((number, stream.try_clone()?));
        if pending.len() > MOST_PENDING
            && let Some((_, oldest)) = pending.pop_front()
        {
            // An error means that the client has disconnected already.
            drop(oldest.shutdown(Shutdown::Both));
        }
        Ok(PendingConnection {
            connections: Arc::clone(self),
            number,
        })
    }

    fn pending(&self) -> MutexGuard<'_, VecDeque<(usize, UnixStream)>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingConnection {
    /// The request has arrived; None where too many are served already.
    pub(super) fn serve(self) -> Option<ServedConnection> {
        let served = &self.connections.served;
        if served.fetch_add(1, Ordering::SeqCst) >= MOST_SERVED {
            served.fetch_sub(1, Ordering::SeqCst);
            return None;
        }
        Some(ServedConnection {
            connections: Arc::clone(&self.connections),
        })
    }
}

impl Drop for PendingConnection {
    fn drop(&mut self) {
        let number = self.number;
        self.connections
            .pending()
            .retain(|(known, _)| *known != number);
    }
}

impl Drop for ServedConnection {
    fn drop(&mut self) {
        self.connections.served.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_oldest_silent_one_makes_room() {
        let connections = Arc::new(ConnectionLimits::default());
        let mut others = Vec::new();
        let mut held = Vec::new();
        for _ in 0..=MOST_PENDING {
            let (ours, theirs) = UnixStream::pair().unwrap();
            held.push(connections.admit(&ours).unwrap());
            others.push(theirs);
            held.last().unwrap();
            drop(ours);
        }
        // A closed connection reads its end; the others would block.
        assert_eq!(others[0].read(&mut [0]).unwrap(), 0);
        others[1].set_nonblocking(true).unwrap();
        assert!(others[1].read(&mut [0]).is_err());
        drop(held);
        assert!(connections.pending().is_empty());
    }

    #[test]
    fn the_served_are_bounded_and_leave() {
        let connections = Arc::new(ConnectionLimits::default());
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let served: Vec<_> = (0..MOST_SERVED)
            .map(|_| connections.admit(&ours).unwrap().serve().unwrap())
            .collect();
        assert!(connections.admit(&ours).unwrap().serve().is_none());
        drop(served);
        assert!(connections.admit(&ours).unwrap().serve().is_some());
    }
}
