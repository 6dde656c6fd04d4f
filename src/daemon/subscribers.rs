//! Those who listen. Each has a ring of its own: whoever is slow loses the oldest lines and is told
//! how many; nobody else notices.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lines that wait for one reader.
const ROOM: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Subscribers {
    rings: Mutex<Vec<Arc<Ring>>>,
}

/// What waits for one reader.
#[derive(Debug)]
pub(super) struct Ring {
    /// Also wants to know of each agent that says something.
    pub bells: bool,
    waiting: Mutex<Waiting>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<Arc<str>>,
    lagged: u64,
    closed: bool,
}

/// What a reader gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    Lines(Vec<Arc<str>>),
    /// Nothing has happened for a while.
    Silence,
    /// There will be nothing more.
    Closed,
}

impl Subscribers {
    pub(super) fn join(&self, bells: bool) -> Arc<Ring> {
        let ring = Arc::new(Ring::new(bells));
        held(&self.rings).push(Arc::clone(&ring));
        ring
    }

    pub(super) fn leave(&self, ring: &Arc<Ring>) {
        held(&self.rings).retain(|known| !Arc::ptr_eq(known, ring));
    }

    /// An event, for everyone.
    pub(super) fn tell(&self, line: &str) {
        let line: Arc<str> = line.into();
        for ring in held(&self.rings).iter() {
            ring.push(Arc::clone(&line));
        }
    }

    /// That an agent has said something, for those who want to know.
    pub(super) fn tell_bell(&self, line: impl FnOnce() -> String) {
        let rings = held(&self.rings);
        if rings.iter().any(|ring| ring.bells) {
            let line: Arc<str> = line().into();
            for ring in rings.iter().filter(|ring| ring.bells) {
                ring.push(Arc::clone(&line));
            }
        }
    }

    /// Sends everyone home.
    pub(super) fn close(&self) {
        for ring in held(&self.rings).iter() {
            held(&ring.waiting).closed = true;
            ring.news.notify_all();
        }
    }
}

impl Ring {
    fn new(bells: bool) -> Self {
        Self {
            bells,
            waiting: Mutex::default(),
            news: Condvar::new(),
        }
    }

    fn push(&self, line: Arc<str>) {
        let mut waiting = held(&self.waiting);
        if waiting.lines.len() == ROOM {
            waiting.lines.pop_front();
            waiting.lagged += 1;
        }
        waiting.lines.push_back(line);
        self.news.notify_all();
    }

    /// Waits for something to read.
    pub(super) fn next(&self, limit: Duration) -> Next {
        let waiting = held(&self.waiting);
        let (mut waiting, _) = self
            .news
            .wait_timeout_while(waiting, limit, |waiting| {
                waiting.lines.is_empty() && !waiting.closed
            })
            .unwrap_or_else(PoisonError::into_inner);
        if waiting.lines.is_empty() {
            return if waiting.closed {
                Next::Closed
            } else {
                Next::Silence
            };
        }
        let lagged = std::mem::take(&mut waiting.lagged);
        let mut lines: Vec<Arc<str>> = Vec::with_capacity(waiting.lines.len() + 1);
        if lagged > 0 {
            lines.push(format!("{{\"lagged\":{lagged}}}").into());
        }
        lines.extend(waiting.lines.drain(..));
        Next::Lines(lines)
    }
}

/// What a thread that died has left is still good: nothing here is changed in two steps.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(next: Next) -> Vec<String> {
        match next {
            Next::Lines(lines) => lines.iter().map(|line| line.to_string()).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_slow_reader_loses_the_oldest_and_is_told_how_many() {
        let subscribers = Subscribers::default();
        let slow = subscribers.join(false);
        let quick = subscribers.join(false);
        for n in 0..ROOM + 10 {
            subscribers.tell(&n.to_string());
            assert_eq!(lines(quick.next(Duration::ZERO)), [n.to_string()]);
        }
        let read = lines(slow.next(Duration::ZERO));
        assert_eq!(read.len(), ROOM + 1);
        assert_eq!(read[0], "{\"lagged\":10}");
        assert_eq!(read[1], "10");
        assert_eq!(slow.next(Duration::ZERO), Next::Silence);
    }

    #[test]
    fn bells_are_for_those_who_want_them() {
        let subscribers = Subscribers::default();
        let plain = subscribers.join(false);
        subscribers.tell_bell(|| unreachable!("nobody wants it"));
        let eager = subscribers.join(true);
        subscribers.tell_bell(|| "ding".to_owned());
        assert_eq!(lines(eager.next(Duration::ZERO)), ["ding"]);
        assert_eq!(plain.next(Duration::ZERO), Next::Silence);
        subscribers.leave(&eager);
        subscribers.tell_bell(|| unreachable!("it has left"));
        subscribers.close();
        assert_eq!(plain.next(Duration::ZERO), Next::Closed);
    }
}
