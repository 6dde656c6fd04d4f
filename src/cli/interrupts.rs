//! Ctrl+C and other signals while a command runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// How often the user has asked to stop.
#[derive(Debug, Clone)]
pub(super) struct Interrupts {
    count: Arc<AtomicUsize>,
    /// While set, a signal is counted; otherwise it ends this process as usual.
    answered: Arc<AtomicBool>,
    /// Whether all signals are counted, at any time.
    always: Arc<AtomicBool>,
}

impl Interrupts {
    /// Counts each Ctrl+C from now on.
    pub(super) fn counted() -> Self {
        Self::listen(&[SIGINT], true)
    }

    /// Counts signals only during steps that handle them.
    pub(super) fn unanswered() -> Self {
        Self::listen(&[SIGINT, SIGTERM, SIGHUP], false)
    }

    fn listen(wanted: &[i32], answered: bool) -> Self {
        let interrupts = Self {
            count: Arc::default(),
            answered: Arc::new(AtomicBool::new(answered)),
            always: Arc::new(AtomicBool::new(answered)),
        };
        let heard = interrupts.clone();
        if let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) {
            std::thread::spawn(move || {
                for signal in signals.forever() {
                    if heard.answered.load(Ordering::SeqCst) {
                        heard.count.fetch_add(1, Ordering::SeqCst);
                    } else {
                        // Ends this process; returns only on an error.
                        if let Err(error) = signal_hook::low_level::emulate_default_handler(signal)
                        {
                            tracing::warn!(%error, signal, "a signal could not be handled");
                        }
                    }
                }
            });
        }
        interrupts
    }

    /// Sets whether the step that begins handles signals.
    pub(super) fn answer_in_setup(&self, setup: bool) {
        let always = self.always.load(Ordering::SeqCst);
        self.answered.store(always || setup, Ordering::SeqCst);
    }

    /// Counts each signal from now on.
    pub(super) fn answer_always(&self) {
        self.always.store(true, Ordering::SeqCst);
        self.answered.store(true, Ordering::SeqCst);
    }

    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}
