//! The agent's terminal: raw mode, size and input.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

use super::message::Message;
use super::state::Size;

/// Raw mode, bracketed paste, and the saved title; all restored on drop.
pub(super) struct RawTerminal {
    out: File,
}

impl RawTerminal {
    /// Sets up the terminal after `delay`. Until then it is unchanged, and typed keys are lost, as with any
    /// agent that is still starting.
    pub(super) fn enter(delay: Duration) -> std::io::Result<Self> {
        std::thread::sleep(delay);
        let mut out = output()?;
        crossterm::terminal::enable_raw_mode()?;
        tcflush(std::io::stdin(), QueueSelector::IFlush)?;
        out.write_all(b"\r\x1b[22;2t\x1b[?2004h")?;
        Ok(Self { out })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // An error means that the terminal is gone: then there is nothing to restore.
        drop(
            self.out
                .write_all(b"\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[23;2t"),
        );
        drop(crossterm::terminal::disable_raw_mode());
    }
}

pub(super) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Standard output without a buffer: a frame is one write.
pub(super) fn output() -> std::io::Result<File> {
    Ok(File::from(std::io::stdout().as_fd().try_clone_to_owned()?))
}

pub(super) fn size() -> Size {
    let size = tcgetwinsize(std::io::stdout()).ok();
    let or = |value: Option<u16>, default: usize| match value {
        Some(value) if value > 0 => usize::from(value),
        Some(_) | None => default,
    };
    Size {
        columns: or(size.map(|size| size.ws_col), 80),
        rows: or(size.map(|size| size.ws_row), 24),
    }
}

/// Sends typed bytes to the loop until the terminal is gone.
pub(super) fn read_keys(messages: SyncSender<Message>) {
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let message = match input.read(&mut buffer) {
                Ok(0) => Message::Gone,
                Ok(length) => Message::Bytes(buffer[..length].to_vec()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => Message::Gone,
            };
            let last = matches!(message, Message::Gone);
            if messages.send(message).is_err() || last {
                return;
            }
        }
    });
}

/// Sends each line as a prompt, for pipes.
pub(super) fn read_lines(messages: SyncSender<Message>) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            let Ok(line) = line else { break };
            if messages.send(Message::Prompt(line)).is_err() {
                return;
            }
        }
        // The loop has ended where this fails.
        drop(messages.send(Message::EndOfInput));
    });
}
