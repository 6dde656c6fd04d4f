//! How workers send messages to the UI: a channel, and a pipe that wakes the main loop.

use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::message::Message;

#[derive(Debug, Clone)]
pub(super) struct Mailbox {
    messages: Sender<Message>,
    bell: Arc<UnixStream>,
    /// How many results of jobs were sent.
    results: Arc<Mutex<u64>>,
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
            results: Arc::default(),
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

    /// Sends the result of a job. A list that was read before it is older than what the UI then knows.
    pub(super) fn send_result(&self, message: Message) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        *results += 1;
        self.send(message);
    }

    /// How many results were sent until now.
    pub(super) fn results(&self) -> u64 {
        *self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a list that was begun when so many results were sent; false, and nothing is sent, if there are more
    /// by now.
    pub(super) fn send_list(&self, begun_at: u64, message: Message) -> bool {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let is_newest = *results == begun_at;
        if is_newest {
            self.send(message);
        }
        is_newest
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::message::TaskFailure;

    #[test]
    fn a_list_that_was_read_before_a_result_does_not_come_after_it() {
        let (mailbox, inbox) = mailbox().unwrap();
        let list = || Message::Words(std::collections::BTreeMap::new());
        let begun_at = mailbox.results();
        mailbox.send_result(Message::Done {
            job: 1,
            outcome: Box::new(Err(TaskFailure::TakenBack)),
        });
        assert!(!mailbox.send_list(begun_at, list()));
        assert!(mailbox.send_list(mailbox.results(), list()));
        assert!(matches!(
            inbox.take()[..],
            [Message::Done { .. }, Message::Words(_)]
        ));
    }
}
