//! What all instances do, and what the selected one shows, brought to the UI as it changes.
//!
//! Two threads, so that counting the changes of a large worktree never holds up a preview.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::mailbox::Mailbox;
use super::message::Message;
use crate::engine::{Engine, Glimpse, InstanceView};
use crate::model::InstanceId;
use crate::report::Report;

/// While something happens it is looked often; while nothing does, less and less.
const SOON: Duration = Duration::from_millis(250);
const LATE: Duration = Duration::from_secs(5);
const RESTING: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone)]
pub(super) struct Feed {
    lists: Sender<()>,
    screens: Sender<Watched>,
    resting: Arc<AtomicBool>,
}

/// Whose screen is wanted, with how many lines above it.
type Watched = (Option<InstanceId>, usize);

impl Feed {
    pub(super) fn start(engine: &Arc<Engine>, mailbox: &Mailbox) -> Self {
        let (lists, list_wishes) = channel();
        let (screens, screen_wishes) = channel();
        let resting = Arc::new(AtomicBool::new(false));
        let eyes = Eyes {
            engine: Arc::clone(engine),
            mailbox: mailbox.clone(),
            resting: Arc::clone(&resting),
        };
        let other = eyes.clone();
        std::thread::spawn(move || eyes.list(&list_wishes));
        std::thread::spawn(move || other.watch(&screen_wishes));
        Self {
            lists,
            screens,
            resting,
        }
    }

    /// While somebody is attached nobody looks at the UI.
    pub(super) fn rest(&self, resting: bool) {
        self.resting.store(resting, Ordering::SeqCst);
        self.look();
    }

    /// Something has happened: look now.
    pub(super) fn look(&self) {
        // Nobody listens any more: the UI is about to end.
        self.lists.send(()).ok();
    }

    pub(super) fn watch(&self, id: Option<InstanceId>, above: usize) {
        drop(self.screens.send((id, above)));
    }
}

/// What both threads look with.
#[derive(Clone)]
struct Eyes {
    engine: Arc<Engine>,
    mailbox: Mailbox,
    resting: Arc<AtomicBool>,
}

impl Eyes {
    fn patience(&self, pause: Duration) -> Duration {
        if self.resting.load(Ordering::SeqCst) {
            RESTING
        } else {
            pause
        }
    }

    fn list(&self, wishes: &Receiver<()>) {
        let mut known: Option<Vec<InstanceView>> = None;
        let mut pause = SOON;
        loop {
            match self.engine.list(None, None) {
                Ok(listing) => {
                    if known.as_ref() == Some(&listing.instances) {
                        pause = (pause * 3 / 2).min(LATE);
                    } else {
                        known = Some(listing.instances.clone());
                        pause = SOON;
                        self.mailbox.send(Message::Listed(Box::new(Ok(listing))));
                    }
                }
                Err(error) => {
                    pause = LATE;
                    self.mailbox
                        .send(Message::Listed(Box::new(Err(Report::from(error)))));
                }
            }
            match wishes.recv_timeout(self.patience(pause)) {
                Ok(()) => {
                    while wishes.try_recv().is_ok() {}
                    pause = SOON;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn watch(&self, wishes: &Receiver<Watched>) {
        let mut watched: Watched = (None, 0);
        let mut known: Option<(Watched, Glimpse)> = None;
        let mut pause = LATE;
        loop {
            if let (Some(id), above) = &watched {
                let seen = self.engine.glimpse(id, *above);
                let same = match (&seen, &known) {
                    (Ok(glimpse), Some((of, before))) => *of == watched && before == glimpse,
                    (Ok(_) | Err(_), _) => false,
                };
                if same {
                    pause = (pause * 3 / 2).min(LATE);
                } else {
                    pause = SOON;
                    known = seen
                        .as_ref()
                        .ok()
                        .map(|glimpse| (watched.clone(), glimpse.clone()));
                    self.mailbox.send(Message::Seen {
                        id: id.clone(),
                        above: *above,
                        glimpse: seen.map_err(Report::from),
                    });
                }
            }
            match wishes.recv_timeout(self.patience(pause)) {
                Ok(wish) => {
                    watched = wishes.try_iter().last().unwrap_or(wish);
                    pause = SOON;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}
