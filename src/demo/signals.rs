//! Signals, as messages for the loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use super::runtime::Message;

/// How long the loop has for a clean end after a signal.
const END_TIME: Duration = Duration::from_secs(1);

/// Ends the process itself should the loop be stuck, in a write to a terminal that takes nothing.
pub(super) fn watch(
    messages: SyncSender<Message>,
    ignoring: Arc<AtomicBool>,
) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGWINCH])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGWINCH {
                // With a full backlog the loop is about to look at the size anyway.
                drop(messages.try_send(Message::Resized));
            } else if !ignoring.load(Ordering::SeqCst) {
                let code = 128 + u8::try_from(signal).unwrap_or(0);
                drop(messages.try_send(Message::Signal(code)));
                std::thread::sleep(END_TIME);
                std::process::exit(code.into());
            }
        }
    });
    Ok(())
}
