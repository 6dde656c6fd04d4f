//! Subscribers to events. Each has its own bounded queue: a slow subscriber loses the oldest lines and is
//! told how many. Others are not affected.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most lines in one queue.
const ROOM: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Subscribers {
    queues: Mutex<Vec<Arc<SubscriberQueue>>>,
}

/// The queue of one subscriber.
#[derive(Debug)]
pub(super) struct SubscriberQueue {
    /// Whether it also gets a line for each output of an agent.
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

/// What a subscriber gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    Lines(Vec<Arc<str>>),
    /// No line within the time limit.
    Silence,
    /// The daemon is ending.
    Closed,
}

impl Subscribers {
    pub(super) fn join(&self, bells: bool) -> Arc<SubscriberQueue> {
        let queue = Arc::new(SubscriberQueue::new(bells));
        held(&self.queues).push(Arc::clone(&queue));
        queue
    }

    pub(super) fn leave(&self, queue: &Arc<SubscriberQueue>) {
        held(&self.queues).retain(|known| !Arc::ptr_eq(known, queue));
    }

    /// Queues an event for every subscriber.
    pub(super) fn announce(&self, line: &str) {
        let line: Arc<str> = line.into();
        for queue in held(&self.queues).iter() {
            queue.push(Arc::clone(&line));
        }
    }

    /// Queues a line about an agent's output, for subscribers that want it.
    pub(super) fn announce_output(&self, line: impl FnOnce() -> String) {
        let queues = held(&self.queues);
        if queues.iter().any(|queue| queue.bells) {
            let line: Arc<str> = line().into();
            for queue in queues.iter().filter(|queue| queue.bells) {
                queue.push(Arc::clone(&line));
            }
        }
    }

    /// Ends all subscriptions.
    pub(super) fn close(&self) {
        for queue in held(&self.queues).iter() {
            held(&queue.waiting).closed = true;
            queue.news.notify_all();
        }
    }
}

impl SubscriberQueue {
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

    /// Waits for lines.
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

/// Ignores poisoning: no change here takes two steps, so the data is consistent after a panic.
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
            subscribers.announce(&n.to_string());
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
        subscribers.announce_output(|| unreachable!("no subscriber wants it"));
        let eager = subscribers.join(true);
        subscribers.announce_output(|| "ding".to_owned());
        assert_eq!(lines(eager.next(Duration::ZERO)), ["ding"]);
        assert_eq!(plain.next(Duration::ZERO), Next::Silence);
        subscribers.leave(&eager);
        subscribers.announce_output(|| unreachable!("it has left"));
        subscribers.close();
        assert_eq!(plain.next(Duration::ZERO), Next::Closed);
    }
}
