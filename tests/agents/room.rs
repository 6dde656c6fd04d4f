//! How many agents run at once.

use std::sync::{Condvar, Mutex};

/// Agents are large: more of them at once would only wait for each other.
const ROOM: usize = 4;

/// The part of the room that an agent takes.
pub(crate) struct Place {
    size: usize,
}

static TAKEN: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

impl Place {
    pub(crate) fn take(agent: &str) -> Self {
        // By the processor time of a test: 14 to 24 seconds, and 2 to 10 for the others.
        let size = match agent {
            "opencode" | "kilo" | "qwen" | "gemini" => 2,
            _ => 1,
        };
        let (taken, freed) = &TAKEN;
        let mut taken = freed
            .wait_while(lock(taken), |taken| *taken + size > ROOM)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *taken += size;
        Self { size }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (taken, freed) = &TAKEN;
        *lock(taken) -= self.size;
        freed.notify_all();
    }
}

/// A test that failed has given its place back all the same.
fn lock(taken: &Mutex<usize>) -> std::sync::MutexGuard<'_, usize> {
    taken
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
