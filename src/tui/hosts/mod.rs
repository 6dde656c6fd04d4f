//! Other machines in the UI: their lists, their screens, and the operations that they carry out.
//!
//! Each host is asked by a thread of its own, so that one that is slow or down delays nothing but itself.

mod pages;
mod passing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::mailbox::Mailbox;
use super::message::{Message, PageKind, Pane};
use crate::engine::{Engine, Freshness, HostListing, HostName, WhichHosts, via};
use crate::model::InstanceId;
use crate::report::Report;

pub(super) use passing::{attach, carry_out};

/// How long after its answer a host is asked again, and one that is down.
const AGAIN: Duration = Duration::from_secs(5);
const DOWN: Duration = Duration::from_secs(15);
/// How often it is looked which hosts there are.
const NAMES: Duration = Duration::from_secs(5);
/// How long after its answer a visible screen is read again; longer where reading takes long.
const SCREEN: Duration = Duration::from_millis(1000);
/// While the user is attached, nothing is asked.
const RESTING: Duration = Duration::from_secs(1);

pub(super) struct HostFeed {
    lists: Sender<ListRequest>,
    screens: Sender<Watched>,
    pages: Sender<(HostName, InstanceId, PageKind)>,
    resting: Arc<AtomicBool>,
}

enum ListRequest {
    /// This one now.
    Ask(HostName),
    /// It has answered, or not.
    Answered(HostName, bool),
}

/// The instance whose screen is wanted, and how many lines of history.
type Watched = Option<(HostName, InstanceId, usize)>;

impl HostFeed {
    pub(super) fn start(engine: &Arc<Engine>, mailbox: &Mailbox) -> Self {
        let (lists, list_requests) = channel();
        let (screens, screen_requests) = channel();
        let (pages, page_requests) = channel();
        let resting = Arc::new(AtomicBool::new(false));
        let context = Context {
            engine: Arc::clone(engine),
            mailbox: mailbox.clone(),
            resting: Arc::clone(&resting),
        };
        // A UI that came from another machine is about this one.
        if via().is_none() {
            let (of_lists, answers) = (context.clone(), lists.clone());
            std::thread::spawn(move || of_lists.list(&list_requests, &answers));
        }
        let of_screens = context.clone();
        std::thread::spawn(move || of_screens.watch(&screen_requests));
        std::thread::spawn(move || context.read(&page_requests));
        Self {
            lists,
            screens,
            pages,
            resting,
        }
    }

    /// Asks a host at once. The threads have ended where this fails, as in the functions below.
    pub(super) fn ask(&self, host: HostName) {
        drop(self.lists.send(ListRequest::Ask(host)));
    }

    pub(super) fn watch(&self, watched: Watched) {
        drop(self.screens.send(watched));
    }

    pub(super) fn read(&self, host: HostName, id: InstanceId, what: PageKind) {
        drop(self.pages.send((host, id, what)));
    }

    /// Pauses the feed while the user is attached to an instance.
    pub(super) fn rest(&self, resting: bool) {
        self.resting.store(resting, Ordering::SeqCst);
    }
}

#[derive(Clone)]
struct Context {
    engine: Arc<Engine>,
    mailbox: Mailbox,
    resting: Arc<AtomicBool>,
}

impl Context {
    fn is_resting(&self) -> bool {
        self.resting.load(Ordering::SeqCst)
    }

    /// The thread that knows when each host is to be asked.
    fn list(&self, requests: &Receiver<ListRequest>, answers: &Sender<ListRequest>) {
        // When each is asked; None while it is.
        let mut hosts: BTreeMap<HostName, Option<Instant>> = BTreeMap::new();
        let mut looked: Option<Instant> = None;
        loop {
            let now = Instant::now();
            if looked.is_none_or(|at| at + NAMES <= now) {
                looked = Some(now);
                let names = self.engine.host_names();
                if !hosts.keys().eq(&names) {
                    hosts.retain(|name, _| names.contains(name));
                    for name in names {
                        hosts.entry(name).or_insert(Some(now));
                    }
                    let known = self.engine.last_known_of_hosts();
                    self.mailbox.send(Message::Hosts(known));
                }
            }
            for (name, due) in &mut hosts {
                if due.is_some_and(|at| at <= now) && !self.is_resting() {
                    *due = None;
                    self.ask(name.clone(), answers.clone());
                }
            }
            let next = hosts.values().flatten().min().copied();
            let next = next.map_or(NAMES, |at| at.saturating_duration_since(now));
            let next = if self.is_resting() { RESTING } else { next };
            match requests.recv_timeout(next.clamp(Duration::from_millis(1), NAMES)) {
                Ok(ListRequest::Ask(name)) => {
                    // One that is being asked may answer with what was before: it is asked once more.
                    if let Some(due) = hosts.get_mut(&name) {
                        *due = Some(Instant::now());
                    }
                }
                Ok(ListRequest::Answered(name, well)) => {
                    if let Some(due) = hosts.get_mut(&name) {
                        let later = Instant::now() + if well { AGAIN } else { DOWN };
                        *due = Some(due.map_or(later, |due| due.min(later)));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn ask(&self, name: HostName, answers: Sender<ListRequest>) {
        let context = self.clone();
        std::thread::spawn(move || {
            let which = WhichHosts::These(vec![name.clone()]);
            let listing = context.engine.list_hosts(&which, Freshness::Now);
            let listing = match listing {
                Ok(mut listings) => listings.pop(),
                Err(error) => Some(HostListing {
                    name: name.clone(),
                    reachable: false,
                    at: None,
                    error: Some(Report::from(error).message),
                    not_understood: 0,
                    instances: Vec::new(),
                }),
            };
            let well = listing.as_ref().is_some_and(|it| it.reachable);
            if let Some(listing) = listing {
                context.mailbox.send(Message::HostListed(Box::new(listing)));
            }
            // The UI is about to end where this fails.
            drop(answers.send(ListRequest::Answered(name, well)));
        });
    }

    /// The thread that reads the screen of the selected instance.
    fn watch(&self, requests: &Receiver<Watched>) {
        let mut watched: Watched = None;
        let mut pause = None;
        loop {
            let wanted = match pause {
                None => requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(pause) => requests.recv_timeout(pause),
            };
            match wanted {
                Ok(first) => watched = requests.try_iter().last().unwrap_or(first),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            pause = watched.as_ref().map(|(host, id, above)| {
                if self.is_resting() {
                    return RESTING;
                }
                let began = Instant::now();
                let screen_view = pages::screen(&self.engine, host, id, *above);
                self.mailbox.send(Message::Seen {
                    id: id.clone(),
                    pane: Pane::Agent,
                    above: *above,
                    screen_view,
                });
                SCREEN.max(began.elapsed() * 4)
            });
        }
    }

    /// The thread that reads pages. Of the waiting requests only the last one is carried out.
    fn read(&self, requests: &Receiver<(HostName, InstanceId, PageKind)>) {
        while let Ok(first) = requests.recv() {
            let (host, id, what) = requests.try_iter().last().unwrap_or(first);
            let began = Instant::now();
            let page = pages::page(&self.engine, &host, &id, what);
            self.mailbox
                .send(Message::Read(id, began.elapsed(), Box::new(page)));
        }
    }
}
