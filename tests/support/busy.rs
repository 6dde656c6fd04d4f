//! A machine that has other things to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Keeps every core busy until it is dropped.
pub(crate) struct Busy {
    over: Arc<AtomicBool>,
    loops: Vec<JoinHandle<()>>,
}

impl Busy {
    /// So many loops for each core.
    pub(crate) fn cores_times(times: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self::loops(cores * times)
    }

    pub(crate) fn loops(count: usize) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let turn = |over: Arc<AtomicBool>| {
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let loops = (0..count).map(|_| turn(Arc::clone(&over))).collect();
        Self { over, loops }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for one in self.loops.drain(..) {
            drop(one.join());
        }
    }
}
