//! Sends the list of instances and the screen of the selected one to the UI as they change.
//!
//! Nothing is read while nothing happens. Output of agents is reported by the daemon, or by the UI's own
//! watcher where no daemon runs. Changes by other processes are in the events. In addition the visible
//! screen is read about once a second, and everything else from time to time.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::mailbox::Mailbox;
use super::message::{Message, Pane};
use super::news;
use super::words::WordsReader;
use crate::daemon::{DaemonClient, SubscriptionEvent};
use crate::engine::{
    CampView, Engine, Events, InstanceView, PanePipes, ScreenView, WatchEvent, Watcher,
};
use crate::model::{Activity, Event, EventKind, InstanceId, State};
use crate::report::Report;

/// Changes within this time are handled together.
const GATHER: Duration = Duration::from_millis(40);
/// How often the list is read while agents work: counting changes in a large worktree is expensive.
const WORKING: Duration = Duration::from_secs(4);
/// How soon everything is read without a report. The time doubles while nothing has changed.
const FIRST_LOOK: Duration = Duration::from_secs(2);
const LAST_LOOK: Duration = Duration::from_secs(5);
/// Looking without a report takes at most this part of the time.
const SHARE: u32 = 300;
/// How often the events of other processes are read.
const EVENTS: Duration = Duration::from_millis(500);
/// How often the visible screen is read without a report.
const VISIBLE: Duration = Duration::from_millis(700);
/// How often a list is read again because something was reported while it was read.
const RETRIES: usize = 3;
/// How often a changing screen is read, and how long after the last change it is read once more.
const REDRAW: Duration = Duration::from_millis(60);
const SETTLED: Duration = Duration::from_millis(200);
/// How often a connection to the daemon is tried.
const DAEMON: Duration = Duration::from_secs(1);

pub(super) struct Feed {
    lists: Sender<ListRequest>,
    screens: Sender<ScreenRequest>,
    resting: Arc<AtomicBool>,
    killed: Arc<AtomicBool>,
    /// The thread with the watcher, whose pipes are removed before the UI ends.
    watching: Option<std::thread::JoinHandle<()>>,
}

/// The last list: whether it was that of the killed ones, the instances, and the camp.
type Known = (bool, Vec<InstanceView>, Option<CampView>);

enum ListRequest {
    /// Something has changed.
    Soon,
    /// An agent had output.
    Later,
}

/// The instance to watch, which of its terminals, and how many lines of history.
type Watched = (Option<InstanceId>, Pane, usize);

enum ScreenRequest {
    Watch(Watched),
    Rang(InstanceId),
    /// Something has changed; the screen may have too.
    Again,
    /// Whether a daemon reports what agents do.
    Daemon(bool),
    End,
}

/// What the threads share.
#[derive(Clone)]
struct FeedContext {
    engine: Arc<Engine>,
    mailbox: Mailbox,
    lists: Sender<ListRequest>,
    screens: Sender<ScreenRequest>,
    resting: Arc<AtomicBool>,
    /// The list is that of the killed instances.
    killed: Arc<AtomicBool>,
    /// Something was reported since the last list, so that the UI is ahead of the list.
    noticed: Arc<AtomicBool>,
}

impl Feed {
    pub(super) fn start(engine: &Arc<Engine>, mailbox: &Mailbox) -> Self {
        let (lists, list_requests) = channel();
        let (screens, screen_requests) = channel();
        let resting = Arc::new(AtomicBool::new(false));
        let killed = Arc::new(AtomicBool::new(false));
        let context = FeedContext {
            engine: Arc::clone(engine),
            mailbox: mailbox.clone(),
            lists: lists.clone(),
            screens: screens.clone(),
            resting: Arc::clone(&resting),
            killed: Arc::clone(&killed),
            noticed: Arc::default(),
        };
        let each = |run: fn(FeedContext)| {
            let context = context.clone();
            std::thread::spawn(move || run(context));
        };
        each(FeedContext::listen_to_daemon);
        let (lister, watcher) = (context.clone(), context);
        std::thread::spawn(move || lister.list(&list_requests));
        let watching = std::thread::spawn(move || watcher.watch(&screen_requests));
        Self {
            lists,
            screens,
            resting,
            killed,
            watching: Some(watching),
        }
    }

    /// Requests a new list at once.
    pub(super) fn look(&self) {
        // The threads have ended where this fails, as in the functions below.
        drop(self.lists.send(ListRequest::Soon));
    }

    /// Lists the killed instances instead of the others, or the others again.
    pub(super) fn show_killed(&self, killed: bool) {
        self.killed.store(killed, Ordering::SeqCst);
        self.look();
    }

    pub(super) fn watch(&self, id: Option<InstanceId>, pane: Pane, above: usize) {
        drop(self.screens.send(ScreenRequest::Watch((id, pane, above))));
    }

    /// Pauses the feed while the user is attached to an instance.
    pub(super) fn rest(&self, resting: bool) {
        self.resting.store(resting, Ordering::SeqCst);
        self.look();
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        drop(self.screens.send(ScreenRequest::End));
        if let Some(thread) = self.watching.take()
            && thread.join().is_err()
        {
            tracing::warn!("the thread that watches screens has panicked");
        }
    }
}

impl FeedContext {
    fn is_resting(&self) -> bool {
        self.resting.load(Ordering::SeqCst)
    }

    fn request_list(&self, request: ListRequest) {
        // The UI is about to end where this fails.
        drop(self.lists.send(request));
    }

    /// The thread that keeps the list up to date.
    fn list(&self, list_requests: &Receiver<ListRequest>) {
        let mut events = self.engine.events_from_now().ok();
        let mut known: Option<Known> = None;
        let mut words = WordsReader::default();
        let mut last = Instant::now();
        let mut due = Some(last);
        let mut idle = FIRST_LOOK;
        loop {
            if self.is_resting() {
                // The end of the rest comes as a request.
                if list_requests.recv().is_err() {
                    return;
                }
                if !self.is_resting() {
                    // What has happened meanwhile is no news.
                    events = self.engine.events_from_now().ok();
                    known = None;
                    due = Some(Instant::now());
                }
                continue;
            }
            let next = due.unwrap_or(last + idle).min(last + idle);
            if Instant::now() >= next {
                let started = Instant::now();
                let changed = self.list_once(&mut known, &mut words);
                idle = if changed {
                    FIRST_LOOK
                } else {
                    (idle * 2).min(LAST_LOOK)
                };
                idle = idle.max(started.elapsed() * SHARE);
                last = Instant::now();
                due = None;
            }
            let next = due.unwrap_or(last + idle).min(last + idle);
            let pause = next.saturating_duration_since(Instant::now()).min(EVENTS);
            let wanted = match list_requests.recv_timeout(pause.max(Duration::from_millis(1))) {
                Ok(ListRequest::Soon) => Some(Instant::now() + GATHER),
                Ok(ListRequest::Later) => Some((last + WORKING).max(Instant::now() + GATHER)),
                Err(RecvTimeoutError::Timeout) => {
                    self.tell_news(&mut events).then(|| Instant::now() + GATHER)
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            due = match (due, wanted) {
                (Some(due), Some(wanted)) => Some(due.min(wanted)),
                (due, wanted) => due.or(wanted),
            };
        }
    }

    /// Reads the events of all processes; returns whether there are any.
    fn tell_news(&self, events: &mut Option<Events>) -> bool {
        let Some(events) = events else { return false };
        let mut any = false;
        while let Ok(lines) = events.next()
            && !lines.is_empty()
        {
            any = true;
            let events = lines
                .iter()
                .filter_map(|line| serde_json::from_str(line).ok());
            for words in events.filter_map(|event| news::told(&event)) {
                self.mailbox.send(Message::News(words));
            }
        }
        any
    }

    /// Reads the list; returns whether it has changed.
    fn list_once(&self, known: &mut Option<Known>, words: &mut WordsReader) -> bool {
        let mut noticed = self.noticed.swap(false, Ordering::SeqCst);
        let killed = self.killed.load(Ordering::SeqCst);
        let wanted = killed.then_some(State::Killed);
        let mut begun_at = self.mailbox.results();
        let mut listing = self.engine.list(wanted, None);
        // What was noticed meanwhile is newer than the list.
        for _ in 0..RETRIES {
            if !self.noticed.swap(false, Ordering::SeqCst) {
                break;
            }
            noticed = true;
            begun_at = self.mailbox.results();
            listing = self.engine.list(wanted, None);
        }
        match listing {
            Ok(listing) => {
                let seen = (killed, listing.instances.clone(), listing.camp);
                if known.as_ref() == Some(&seen) && !noticed {
                    if let Some(words) = words.unchanged(&self.engine, &seen.1) {
                        self.mailbox.send(Message::Words(words));
                    }
                    return false;
                }
                let before = known.take();
                let listing = Box::new(Ok(listing));
                let message = match killed {
                    true => Message::KilledListed(listing),
                    false => Message::Listed(listing),
                };
                if !self.mailbox.send_list(begun_at, message) {
                    // A job has ended meanwhile: the UI would show what was before.
                    self.request_list(ListRequest::Soon);
                    return true;
                }
                self.mailbox.send(Message::Words(words.changed(
                    &self.engine,
                    &seen.1,
                    before.as_ref().map_or(&[], |(_, views, _)| views),
                )));
                *known = Some(seen);
                drop(self.screens.send(ScreenRequest::Again));
                true
            }
            Err(error) => {
                self.mailbox
                    .send(Message::Listed(Box::new(Err(Report::from(error)))));
                false
            }
        }
    }

    /// The thread that keeps the screen of the selected instance up to date.
    fn watch(&self, screen_requests: &Receiver<ScreenRequest>) {
        let watcher = self.start_watcher();
        let mut watched: Watched = (None, Pane::Agent, 0);
        let mut known: Option<(Watched, ScreenView)> = None;
        let mut last = Instant::now();
        let mut due: Option<Instant> = None;
        let mut settle: Option<Instant> = None;
        let mut idle = VISIBLE;
        loop {
            let now = Instant::now();
            let planned = [due, settle, Some(last + idle)].into_iter().flatten().min();
            if planned.is_some_and(|at| at <= now) && !self.is_resting() {
                let changed = self.watch_once(watcher.as_ref(), &watched, &mut known);
                // What was saved changes only with the list.
                let live = known.as_ref().is_some_and(|(_, seen)| seen.live);
                idle = if changed || live {
                    VISIBLE
                } else {
                    (idle * 2).min(LAST_LOOK)
                };
                last = Instant::now();
                settle = due.take().map(|_| last + SETTLED);
            }
            let planned = [due, settle, Some(last + idle)].into_iter().flatten().min();
            let pause = planned.map_or(idle, |at| at.saturating_duration_since(Instant::now()));
            let pause = if self.is_resting() { LAST_LOOK } else { pause };
            match screen_requests.recv_timeout(pause.max(Duration::from_millis(1))) {
                Ok(ScreenRequest::Watch(wanted)) => {
                    watched = wanted;
                    due = Some(Instant::now());
                }
                Ok(ScreenRequest::Rang(id)) if watched.0.as_ref() == Some(&id) => {
                    due = due.or(Some((last + REDRAW).max(Instant::now())));
                }
                Ok(ScreenRequest::Again) => {
                    due = due.or(Some((last + REDRAW).max(Instant::now())));
                }
                Ok(ScreenRequest::Daemon(there)) => {
                    if let Some(watcher) = &watcher {
                        watcher.set_alone(!there);
                    }
                    due = due.or(Some(Instant::now()));
                }
                Ok(ScreenRequest::Rang(_)) | Err(RecvTimeoutError::Timeout) => {}
                Ok(ScreenRequest::End) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Reads the screen; returns whether it has changed.
    fn watch_once(
        &self,
        watcher: Option<&Watcher>,
        watched: &Watched,
        known: &mut Option<(Watched, ScreenView)>,
    ) -> bool {
        let (Some(id), pane, above) = watched else {
            return false;
        };
        // The watcher needs no new process for this, but has only the screen without history.
        let live = watcher
            .filter(|_| *above == 0 && *pane == Pane::Agent)
            .and_then(|w| w.screen_view(id));
        let seen = match (live, pane) {
            (Some(screen_view), _) => Ok(screen_view),
            (None, Pane::Agent) => self.engine.screen_view(id, *above),
            (None, Pane::Shell) => self.engine.shell_view(id, *above),
        };
        if let (Ok(screen_view), Some((of, before))) = (&seen, &*known)
            && of == watched
            && before == screen_view
        {
            return false;
        }
        *known = seen
            .as_ref()
            .ok()
            .map(|seen| (watched.clone(), seen.clone()));
        self.mailbox.send(Message::Seen {
            id: id.clone(),
            pane: *pane,
            above: *above,
            screen_view: seen.map_err(Report::from),
        });
        true
    }

    fn start_watcher(&self) -> Option<Watcher> {
        // Without a watcher changes are still found, only later.
        let (watcher, watch_events) = self.engine.watch(PanePipes::OnlyFree).ok()?;
        let context = self.clone();
        std::thread::spawn(move || context.listen_to_watcher(&watch_events));
        Some(watcher)
    }

    fn listen_to_watcher(&self, watch_events: &Receiver<WatchEvent>) {
        let mut doing: HashMap<InstanceId, Activity> = HashMap::new();
        for event in watch_events {
            match event {
                WatchEvent::Output(id) => self.rang(id),
                WatchEvent::Seen(seen) => {
                    if seen.changed {
                        drop(
                            self.screens
                                .send(ScreenRequest::Rang(seen.instance.clone())),
                        );
                    }
                    let before = doing.insert(seen.instance.clone(), seen.activity);
                    self.noticed(seen.instance, seen.activity, before, seen.last_line);
                }
                WatchEvent::Present(_) | WatchEvent::Ended(_) | WatchEvent::ServerGone => {
                    self.request_list(ListRequest::Soon)
                }
            }
        }
    }

    /// Where a daemon runs, it watches the agents and reports their output.
    fn listen_to_daemon(self) {
        let mut known = None;
        loop {
            let client =
                DaemonClient::connect(&self.engine).and_then(|client| client.subscribe(true));
            if known != Some(client.is_some()) {
                known = Some(client.is_some());
                self.daemon_is(client.is_some());
            }
            if let Some(mut subscription) = client {
                let mut doing = HashMap::new();
                loop {
                    match subscription.next(LAST_LOOK) {
                        SubscriptionEvent::Line(line) => self.told(&line, &mut doing),
                        SubscriptionEvent::Nothing => {}
                        SubscriptionEvent::End => break,
                    }
                }
                known = Some(false);
                self.daemon_is(false);
            }
            std::thread::sleep(DAEMON);
        }
    }

    /// The daemon has come or gone: what it has reported last may be old.
    fn daemon_is(&self, there: bool) {
        drop(self.screens.send(ScreenRequest::Daemon(there)));
        self.mailbox.send(Message::Daemon(there));
        self.noticed.store(true, Ordering::SeqCst);
        self.request_list(ListRequest::Soon);
    }

    fn told(&self, line: &str, doing: &mut HashMap<InstanceId, Activity>) {
        #[derive(serde::Deserialize)]
        struct Bell {
            bell: InstanceId,
        }
        if let Ok(Bell { bell }) = serde_json::from_str(line) {
            self.rang(bell);
            return;
        }
        let activity = serde_json::from_str::<Event>(line)
            .ok()
            .filter(|event| event.kind == EventKind::Activity)
            .and_then(|event| {
                let activity = event.data.get("activity")?.clone();
                Some((event.instance?, serde_json::from_value(activity).ok()?))
            });
        match activity {
            Some((id, activity)) => {
                let before = doing.insert(id.clone(), activity);
                self.noticed(id, activity, before, None);
            }
            None => self.request_list(ListRequest::Soon),
        }
    }

    fn rang(&self, id: InstanceId) {
        if !self.is_resting() {
            // The UI is about to end where this fails.
            drop(self.screens.send(ScreenRequest::Rang(id)));
            self.request_list(ListRequest::Later);
        }
    }

    fn noticed(
        &self,
        id: InstanceId,
        activity: Activity,
        before: Option<Activity>,
        last_line: Option<String>,
    ) {
        if self.is_resting() {
            return;
        }
        // At the end of a turn the changes are counted.
        if before.is_some_and(|before| before != activity) {
            self.request_list(ListRequest::Soon);
        }
        self.noticed.store(true, Ordering::SeqCst);
        self.mailbox.send(Message::Noticed {
            id,
            activity,
            last_line,
        });
    }
}
