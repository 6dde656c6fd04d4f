//! How workers send messages to the UI: a channel, and a pipe that wakes the main loop.

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

/// The receiving end.
#[derive(Debug)]
pub(super) struct Inbox {
    messages: Receiver<Message>,
    bell: UnixStream,
}

pub(super) fn mailbox() -> std::io::Result<(Mailbox, Inbox)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    theirs.set_nonblocking(true)?;
    let (sender, messages) = channel();
    Ok((
        Mailbox {
            messages: sender,
            bell: Arc::new(theirs),
        },
        Inbox {
            messages,
            bell: ours,
        },
    ))
}

impl Mailbox {
    pub(super) fn send(&self, message: Message) {
        // The UI may have ended. A full pipe wakes the loop already.
        if self.messages.send(message).is_ok() {
            drop((&*self.bell).write(&[1]));
        }
    }
}

impl Inbox {
    /// Readable when there are messages.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// All waiting messages.
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
