//! How workers reach the UI: a message, and a byte that wakes whoever sleeps on the terminal.

use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use super::message::Message;

#[derive(Debug, Clone)]
pub(super) struct Mailbox {
    messages: Sender<Message>,
    bell: Arc<UnixStream>,
}

/// The UI's end.
#[derive(Debug)]
pub(super) struct Letters {
    messages: Receiver<Message>,
    bell: UnixStream,
}

pub(super) fn mailbox() -> std::io::Result<(Mailbox, Letters)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    theirs.set_nonblocking(true)?;
    let (sender, messages) = channel();
    Ok((
        Mailbox {
            messages: sender,
            bell: Arc::new(theirs),
        },
        Letters {
            messages,
            bell: ours,
        },
    ))
}

impl Mailbox {
    pub(super) fn send(&self, message: Message) {
        // The UI may be gone, and a bell that is full rings already.
        if self.messages.send(message).is_ok() {
            drop((&*self.bell).write(&[1]));
        }
    }
}

impl Letters {
    /// Readable when there is something.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Everything that has come.
    pub(super) fn take(&self) -> Vec<Message> {
        let mut buffer = [0; 256];
        while matches!(std::io::Read::read(&mut &self.bell, &mut buffer), Ok(1..)) {}
        let mut taken = Vec::new();
        loop {
            match self.messages.try_recv() {
                Ok(message) => taken.push(message),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return taken,
            }
        }
    }
}
