//! Limits how many threads of this process work at the same time.
//!
//! A request to all instances has one thread for each of them, because each waits for its own agent. Only
//! so many of them work at once: hundreds of tmux clients and git processes side by side would keep each
//! other, and the tmux server, from answering in time.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Between two looks at an agent that is waited for, for each that is waited for at the same time.
const FOR_EACH: Duration = Duration::from_millis(5);

struct Slots {
    free: Mutex<usize>,
    freed: Condvar,
}

/// Permits for stopping agents, per permit to work: stopping is mostly waiting.
const STOPS: usize = 4;

static WORK: OnceLock<Slots> = OnceLock::new();
static STOP: OnceLock<Slots> = OnceLock::new();

fn open(slots: &'static OnceLock<Slots>, free: usize) -> &'static Slots {
    slots.get_or_init(|| Slots {
        free: Mutex::new(free),
        freed: Condvar::new(),
    })
}

static WAITING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread has its permit already: what works on its behalf needs no second one.
    static HELD: Cell<bool> = const { Cell::new(false) };
}

/// How many threads may work at the same time: some of them wait for a disk or for another process.
pub(in crate::engine) fn at_once() -> usize {
    // Each answer reads the files of control groups, and every step of an operation asks.
    static CORES: OnceLock<usize> = OnceLock::new();
    let count = || std::thread::available_parallelism().map_or(2, usize::from);
    (2 * CORES.get_or_init(count)).clamp(4, 16)
}

/// The permission to start processes and to read files. It ends when this is dropped; a thread that waits
/// for an agent or the user must not hold it.
#[must_use = "work is paced while this is held"]
pub(in crate::engine) struct Permit {
    /// None where the thread had one already.
    slots: Option<&'static Slots>,
}

/// Waits for a permit. A thread that has one gets another at once.
pub(in crate::engine) fn permit() -> Permit {
    take(open(&WORK, at_once()))
}

/// The same for stopping an agent and waiting for its end.
pub(in crate::engine) fn stop_permit() -> Permit {
    take(open(&STOP, STOPS * at_once()))
}

fn take(slots: &'static Slots) -> Permit {
    if HELD.with(|held| held.replace(true)) {
        return Permit { slots: None };
    }
    let free = slots.free.lock().unwrap_or_else(PoisonError::into_inner);
    let mut free = slots
        .freed
        .wait_while(free, |free| *free == 0)
        .unwrap_or_else(PoisonError::into_inner);
    *free -= 1;
    Permit { slots: Some(slots) }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(slots) = self.slots {
            HELD.with(|held| held.set(false));
            *slots.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            slots.freed.notify_one();
        }
    }
}

/// A wait for an agent, counted among those of this process.
pub(in crate::engine) struct Waiting(());

impl Waiting {
    pub(in crate::engine) fn begin() -> Self {
        WAITING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// How long to leave the agent alone between two looks: the more are waited for, the longer.
    pub(in crate::engine) fn interval(&self, usual: Duration) -> Duration {
        let waiting = u32::try_from(WAITING.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        usual.max(FOR_EACH.saturating_mul(waiting))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_work_at_once_than_there_are_permits() {
        let (working, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 * at_once() {
                scope.spawn(|| {
                    let _permit = permit();
                    let _again = permit();
                    let now = working.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    std::thread::yield_now();
                    working.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!((1..=at_once()).contains(&most.into_inner()));
    }

    #[test]
    fn the_more_are_waited_for_the_longer_each_is_left_alone() {
        let usual = Duration::from_millis(40);
        let waits: Vec<Waiting> = (0..200).map(|_| Waiting::begin()).collect();
        assert!(waits[0].interval(usual) >= Duration::from_secs(1));
    }
}
