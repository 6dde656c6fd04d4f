//! Signals: whether they are heeded, and which one has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use super::message::Message;

/// How long the loop has for a clean end after a signal.
const END_TIME: Duration = Duration::from_secs(1);

/// Shared between the loop and the thread that waits for signals. Not a message: those wait in
/// line, behind a command's endless output for instance, and a signal does not.
#[derive(Debug, Clone, Default)]
pub(super) struct Heed {
    ignoring: Arc<AtomicBool>,
    /// The exit status that a signal asks for; 0 while none has come.
    status: Arc<AtomicU8>,
}

impl Heed {
    /// Starts to listen; the loop is woken by a message if it sleeps.
    pub(super) fn watch(messages: SyncSender<Message>) -> std::io::Result<Self> {
        let heed = Self::default();
        let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGWINCH])?;
        let own = heed.clone();
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if signal != SIGWINCH && !own.ignores() {
                    let status = 128 + u8::try_from(signal).unwrap_or(0);
                    own.status.store(status, Ordering::SeqCst);
                    drop(messages.try_send(Message::Woken));
                    // The loop may be stuck, in a write to a terminal that takes nothing.
                    std::thread::sleep(END_TIME);
                    std::process::exit(status.into());
                }
                // With messages waiting in line the loop is awake.
                drop(messages.try_send(Message::Woken));
            }
        });
        Ok(heed)
    }

    pub(super) fn ignore(&self) {
        self.ignoring.store(true, Ordering::SeqCst);
    }

    pub(super) fn ignores(&self) -> bool {
        self.ignoring.load(Ordering::SeqCst)
    }

    /// The exit status that a signal has asked for.
    pub(super) fn status(&self) -> Option<u8> {
        Some(self.status.load(Ordering::SeqCst)).filter(|status| *status != 0)
    }
}
