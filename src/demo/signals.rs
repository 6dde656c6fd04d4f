//! Signals: whether they are ignored, and which one has arrived.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use super::message::Message;

/// How long the loop has for a clean end after a signal.
const END_TIME: Duration = Duration::from_secs(1);

/// Shared between the loop and the signal thread. It is not a message, because messages may wait behind a
/// command's endless output.
#[derive(Debug, Clone, Default)]
pub(super) struct SignalState {
    ignoring: Arc<AtomicBool>,
    /// The exit status for a signal; 0 while none has arrived.
    status: Arc<AtomicU8>,
}

impl SignalState {
    /// Starts the signal thread. A message wakes the loop.
    pub(super) fn watch(messages: SyncSender<Message>) -> std::io::Result<Self> {
        let signal_state = Self::default();
        let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGWINCH])?;
        let own = signal_state.clone();
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if signal != SIGWINCH && !own.ignores() {
                    let status = 128 + u8::try_from(signal).unwrap_or(0);
                    // A full channel means that the loop is awake, here and below.
                    own.status.store(status, Ordering::SeqCst);
                    drop(messages.try_send(Message::Woken));
                    // The loop may be blocked in a write to the terminal.
                    std::thread::sleep(END_TIME);
                    std::process::exit(status.into());
                }
                // As above.
                drop(messages.try_send(Message::Woken));
            }
        });
        Ok(signal_state)
    }

    pub(super) fn ignore(&self) {
        self.ignoring.store(true, Ordering::SeqCst);
    }

    pub(super) fn ignores(&self) -> bool {
        self.ignoring.load(Ordering::SeqCst)
    }

    /// The exit status for a signal that has arrived.
    pub(super) fn status(&self) -> Option<u8> {
        Some(self.status.load(Ordering::SeqCst)).filter(|status| *status != 0)
    }
}
