//! What all instances do, and what the selected one shows, brought to the UI as it changes.
//!
//! Nothing is asked while nothing happens: output rings a doorbell, told by our own watcher where no
//! daemon has the bells, else by the daemon; what other processes do is in the events. Behind that,
//! for whatever nobody told of (two UIs and no daemon), everything is looked at now and then.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::mailbox::Mailbox;
use super::message::Message;
use crate::daemon::{DaemonClient, SubscriptionEvent};
use crate::engine::{CampView, Doorbell, Engine, Events, Glimpse, InstanceView, Sight, Watcher};
use crate::model::{Activity, Event, EventKind, InstanceId};
use crate::report::Report;

/// Several things that happen together are looked at once.
const GATHER: Duration = Duration::from_millis(40);
/// While agents work, all are counted again so often: a large worktree is not for every line.
const WORKING: Duration = Duration::from_secs(4);
/// What nobody told of is found after this long, and while nothing is found after twice that.
const FIRST_LOOK: Duration = Duration::from_secs(2);
const LAST_LOOK: Duration = Duration::from_secs(30);
/// The events of other processes are asked for so often.
const EVENTS: Duration = Duration::from_secs(1);
/// A screen that goes on changing is drawn again so often, and once more when it has come to rest.
const REDRAW: Duration = Duration::from_millis(60);
const SETTLED: Duration = Duration::from_millis(200);
/// A daemon that was not there may be by now.
const DAEMON: Duration = Duration::from_secs(3);

pub(super) struct Feed {
    lists: Sender<Wish>,
    screens: Sender<Look>,
    resting: Arc<AtomicBool>,
    /// Has the doorbells, which are to be taken down before we go.
    watching: Option<std::thread::JoinHandle<()>>,
}

/// What was listed last.
type Known = (Vec<InstanceView>, Option<CampView>);

enum Wish {
    /// Something has changed.
    Soon,
    /// Something has been said.
    Later,
}

enum Look {
    /// Whose screen is wanted, with how many lines above it.
    Watch(Option<InstanceId>, usize),
    Rang(InstanceId),
    End,
}

/// What the threads share.
#[derive(Clone)]
struct Eyes {
    engine: Arc<Engine>,
    mailbox: Mailbox,
    lists: Sender<Wish>,
    screens: Sender<Look>,
    resting: Arc<AtomicBool>,
    /// Something was noticed since the last list: the UI knows more than that list said.
    noticed: Arc<AtomicBool>,
}

impl Feed {
    pub(super) fn start(engine: &Arc<Engine>, mailbox: &Mailbox) -> Self {
        let (lists, list_wishes) = channel();
        let (screens, looks) = channel();
        let resting = Arc::new(AtomicBool::new(false));
        let eyes = Eyes {
            engine: Arc::clone(engine),
            mailbox: mailbox.clone(),
            lists: lists.clone(),
            screens: screens.clone(),
            resting: Arc::clone(&resting),
            noticed: Arc::default(),
        };
        let each = |run: fn(Eyes)| {
            let eyes = eyes.clone();
            std::thread::spawn(move || run(eyes));
        };
        each(Eyes::listen_to_daemon);
        let (lister, watcher) = (eyes.clone(), eyes);
        std::thread::spawn(move || lister.list(&list_wishes));
        let watching = std::thread::spawn(move || watcher.watch(&looks));
        Self {
            lists,
            screens,
            resting,
            watching: Some(watching),
        }
    }

    /// Something has happened: look now.
    pub(super) fn look(&self) {
        drop(self.lists.send(Wish::Soon));
    }

    pub(super) fn watch(&self, id: Option<InstanceId>, above: usize) {
        drop(self.screens.send(Look::Watch(id, above)));
    }

    /// While somebody is attached nobody looks at the UI.
    pub(super) fn rest(&self, resting: bool) {
        self.resting.store(resting, Ordering::SeqCst);
        self.look();
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        drop(self.screens.send(Look::End));
        if let Some(thread) = self.watching.take() {
            drop(thread.join());
        }
    }
}

impl Eyes {
    fn is_resting(&self) -> bool {
        self.resting.load(Ordering::SeqCst)
    }

    fn wish(&self, wish: Wish) {
        // The UI is about to end where nobody listens.
        drop(self.lists.send(wish));
    }

    /// Keeps the list up to date.
    fn list(&self, wishes: &Receiver<Wish>) {
        let mut events = self.engine.events_from_now().ok();
        let mut known: Option<Known> = None;
        let mut last = Instant::now();
        let mut due = Some(last);
        let mut idle = FIRST_LOOK;
        loop {
            let next = due.unwrap_or(last + idle).min(last + idle);
            if Instant::now() >= next && !self.is_resting() {
                let changed = self.list_once(&mut known);
                idle = if changed {
                    FIRST_LOOK
                } else {
                    (idle * 2).min(LAST_LOOK)
                };
                last = Instant::now();
                due = None;
            }
            let next = due.unwrap_or(last + idle).min(last + idle);
            let pause = next.saturating_duration_since(Instant::now()).min(EVENTS);
            let wanted = match wishes.recv_timeout(pause.max(Duration::from_millis(1))) {
                Ok(Wish::Soon) => Some(Instant::now() + GATHER),
                Ok(Wish::Later) => Some((last + WORKING).max(Instant::now() + GATHER)),
                Err(RecvTimeoutError::Timeout) => {
                    has_news(&mut events).then(|| Instant::now() + GATHER)
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            due = match (due, wanted) {
                (Some(due), Some(wanted)) => Some(due.min(wanted)),
                (due, wanted) => due.or(wanted),
            };
        }
    }

    /// Whether it is another list than before.
    fn list_once(&self, known: &mut Option<Known>) -> bool {
        match self.engine.list(None, None) {
            Ok(listing) => {
                let noticed = self.noticed.swap(false, Ordering::SeqCst);
                let seen = (listing.instances.clone(), listing.camp);
                if known.as_ref() == Some(&seen) && !noticed {
                    return false;
                }
                *known = Some(seen);
                self.mailbox.send(Message::Listed(Box::new(Ok(listing))));
                true
            }
            Err(error) => {
                self.mailbox
                    .send(Message::Listed(Box::new(Err(Report::from(error)))));
                false
            }
        }
    }

    /// Keeps the screen of the selected instance up to date.
    fn watch(&self, looks: &Receiver<Look>) {
        let watcher = self.start_watcher();
        let mut watched: (Option<InstanceId>, usize) = (None, 0);
        let mut known: Option<((Option<InstanceId>, usize), Glimpse)> = None;
        let mut last = Instant::now();
        let mut due: Option<Instant> = None;
        let mut settle: Option<Instant> = None;
        let mut idle = FIRST_LOOK;
        loop {
            let now = Instant::now();
            let planned = [due, settle, Some(last + idle)].into_iter().flatten().min();
            if planned.is_some_and(|at| at <= now) && !self.is_resting() {
                let changed = self.watch_once(watcher.as_ref(), &watched, &mut known);
                idle = if changed {
                    FIRST_LOOK
                } else {
                    (idle * 2).min(LAST_LOOK)
                };
                last = Instant::now();
                settle = due.take().map(|_| last + SETTLED);
            }
            let planned = [due, settle, Some(last + idle)].into_iter().flatten().min();
            let pause = planned.map_or(idle, |at| at.saturating_duration_since(Instant::now()));
            let pause = if self.is_resting() { LAST_LOOK } else { pause };
            match looks.recv_timeout(pause.max(Duration::from_millis(1))) {
                Ok(Look::Watch(id, above)) => {
                    watched = (id, above);
                    due = Some(Instant::now());
                }
                Ok(Look::Rang(id)) if watched.0.as_ref() == Some(&id) => {
                    due = due.or(Some((last + REDRAW).max(Instant::now())));
                }
                Ok(Look::Rang(_)) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Look::End) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Whether it shows something else than before.
    fn watch_once(
        &self,
        watcher: Option<&Watcher>,
        watched: &(Option<InstanceId>, usize),
        known: &mut Option<((Option<InstanceId>, usize), Glimpse)>,
    ) -> bool {
        let (Some(id), above) = watched else {
            return false;
        };
        // The watcher needs no process for it, but has the screen alone.
        let live = watcher.filter(|_| *above == 0).and_then(|w| w.glimpse(id));
        let seen = match live {
            Some(glimpse) => Ok(glimpse),
            None => self.engine.glimpse(id, *above),
        };
        if let (Ok(glimpse), Some((of, before))) = (&seen, &*known)
            && of == watched
            && before == glimpse
        {
            return false;
        }
        *known = seen
            .as_ref()
            .ok()
            .map(|seen| (watched.clone(), seen.clone()));
        self.mailbox.send(Message::Seen {
            id: id.clone(),
            above: *above,
            glimpse: seen.map_err(Report::from),
        });
        true
    }

    fn start_watcher(&self) -> Option<Watcher> {
        // Without one everything is still seen, only later.
        let (watcher, sights) = Watcher::start(Arc::clone(&self.engine), Doorbell::Free).ok()?;
        let eyes = self.clone();
        std::thread::spawn(move || eyes.listen_to_watcher(&sights));
        Some(watcher)
    }

    fn listen_to_watcher(&self, sights: &Receiver<Sight>) {
        let mut doing: HashMap<InstanceId, Activity> = HashMap::new();
        for sight in sights {
            match sight {
                Sight::Rang(id) => self.rang(id),
                Sight::Seen(seen) => {
                    let before = doing.insert(seen.instance.clone(), seen.activity);
                    self.noticed(seen.instance, seen.activity, before, seen.last_line);
                }
                Sight::Roll(_) | Sight::Left(_) | Sight::Lost => self.wish(Wish::Soon),
            }
        }
    }

    /// Where there is a daemon it has the doorbells, and passes on what it hears.
    fn listen_to_daemon(self) {
        loop {
            let client =
                DaemonClient::connect(&self.engine).and_then(|client| client.subscribe(true));
            if let Some(mut subscription) = client {
                self.wish(Wish::Soon);
                let mut doing = HashMap::new();
                loop {
                    match subscription.next(LAST_LOOK) {
                        SubscriptionEvent::Line(line) => self.told(&line, &mut doing),
                        SubscriptionEvent::Nothing => {}
                        SubscriptionEvent::End => break,
                    }
                }
            }
            std::thread::sleep(DAEMON);
        }
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
            None => self.wish(Wish::Soon),
        }
    }

    fn rang(&self, id: InstanceId) {
        if !self.is_resting() {
            drop(self.screens.send(Look::Rang(id)));
            self.wish(Wish::Later);
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
        // The end of a turn is when its changes are worth counting.
        if before.is_some_and(|before| before != activity) {
            self.wish(Wish::Soon);
        }
        self.noticed.store(true, Ordering::SeqCst);
        self.mailbox.send(Message::Noticed {
            id,
            activity,
            last_line,
        });
    }
}

fn has_news(events: &mut Option<Events>) -> bool {
    let Some(events) = events else { return false };
    let mut news = false;
    while events.next().is_ok_and(|lines| !lines.is_empty()) {
        news = true;
    }
    news
}
