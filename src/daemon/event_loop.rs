//! The daemon's event loop: it takes messages, lets the schedulers decide, and starts engine verbs.

mod announce;
mod maintenance;
mod records;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::awake_clock::AwakeClock;
use super::jobs;
use super::message::DaemonMessage;
use super::scheduler::InstanceScheduler;
use super::subscribers::Subscribers;
use super::thread::log;
use super::wire::{Answer, Hello, InstanceActivity, Request, Status};
use crate::engine::{Engine, Error, Events, Present, Roster, Sources, WatchEvent, Watcher, scaled};
use crate::model::{InstanceId, State};

/// How often the files are scanned, in case a notification was missed.
const SCAN: Duration = Duration::from_secs(30);
const COMPACT: Duration = Duration::from_secs(300);
const MEASURE: Duration = Duration::from_secs(30);
/// How often forges are asked about pull requests.
const FOLLOW: Duration = Duration::from_secs(60);
/// When a thread could not be started, it is tried again after this long.
const RETRY: Duration = Duration::from_secs(2);
/// The most jobs at the same time.
const JOBS: usize = 6;
/// How long running jobs may take after a request to stop. Later, recovery completes them from their
/// journals.
const STOP_GRACE: Duration = Duration::from_secs(8);

pub(super) struct EventLoop {
    engine: Arc<Engine>,
    watcher: Option<Watcher>,
    schedulers: BTreeMap<InstanceId, InstanceScheduler>,
    roster: Roster,
    events: Events,
    /// The files from which the engine was created, with their states.
    sources: Sources,
    hello: Hello,
    messages: Sender<DaemonMessage>,
    subscribers: Arc<Subscribers>,
    clock: AwakeClock,
    watching: usize,
    jobs: usize,
    camp_paused: bool,
    crowded: bool,
    round: RoundState,
    scan: Duration,
    compact: Duration,
    compacting: bool,
    measure: Duration,
    measuring: bool,
    follow: Duration,
    following: bool,
    /// Whether a screen is being saved, and the earliest time for the next one.
    saving: bool,
    save_after: Duration,
    stopping: Option<Duration>,
}

/// The state of a round: a thread that brings every instance to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoundState {
    None,
    UnderWay,
    /// Under way, and requested again.
    Again,
    /// It could not be started and is tried again.
    Wanted,
}

impl EventLoop {
    pub(super) fn new(
        engine: Arc<Engine>,
        watcher: Watcher,
        hello: Hello,
        messages: Sender<DaemonMessage>,
        subscribers: Arc<Subscribers>,
    ) -> Result<Self, Error> {
        let mut event_loop = Self {
            events: engine.events_from_now()?,
            sources: engine.sources(),
            engine,
            watcher: Some(watcher),
            schedulers: BTreeMap::new(),
            roster: Roster::default(),
            hello,
            messages,
            subscribers,
            clock: AwakeClock::new(),
            watching: 0,
            jobs: 0,
            camp_paused: false,
            crowded: false,
            round: RoundState::None,
            scan: SCAN,
            compact: scaled(COMPACT),
            compacting: false,
            measure: scaled(MEASURE),
            measuring: false,
            follow: Duration::ZERO,
            following: false,
            saving: false,
            save_after: Duration::ZERO,
            stopping: None,
        };
        for id in event_loop.engine.changed(&mut event_loop.roster) {
            event_loop.load(&id, true);
        }
        event_loop.read_camp();
        // Continues operations after a crash, and records agents that have ended.
        event_loop.start_round();
        Ok(event_loop)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.stopping
            .is_some_and(|since| self.jobs == 0 || self.now() > since + STOP_GRACE)
    }

    /// How long the loop may wait for a message.
    pub(super) fn wait_time(&self) -> Duration {
        let now = self.now();
        let mut due = self.scan.min(self.compact);
        if !self.following {
            due = due.min(self.follow);
        }
        if self.engine.config().settings.limits.memory > 0 {
            due = due.min(self.measure);
        }
        if let Some(save) = self.next_save() {
            due = due.min(save);
        }
        let schedulers = self
            .schedulers
            .values()
            .filter_map(|scheduler| scheduler.due(now));
        let due = schedulers.chain([due]).min().unwrap_or(due);
        let due = match self.stopping {
            None if self.round == RoundState::Wanted => RETRY,
            Some(_) => Duration::from_millis(100),
            None => due.saturating_sub(now),
        };
        // One millisecond more, so that the time is really reached.
        self.clock.at_most(due + Duration::from_millis(1))
    }

    /// Called after each wait: advances the clock.
    pub(super) fn end_wait(&mut self) {
        self.clock.advance();
    }

    pub(super) fn handle(&mut self, message: DaemonMessage) {
        match message {
            DaemonMessage::WatchEvent(event) => self.handle_watch_event(event),
            DaemonMessage::Bell(Some(id)) => {
                // A new instance may need a new agent file, or a new version of it.
                self.read_settings();
                self.reload(&id);
                self.look_again(Some(&id));
            }
            DaemonMessage::Bell(None) => self.read_camp(),
            DaemonMessage::Request(request, answer) => {
                // The client may have disconnected: then the answer has no use.
                drop(answer.send(self.answer(&request)));
            }
            DaemonMessage::Done(id, done, trouble) => {
                self.jobs -= 1;
                if let Some(trouble) = trouble {
                    log(&format!("{id}: {trouble}"));
                }
                self.reload(&id);
                let now = self.now();
                if let Some(scheduler) = self.schedulers.get_mut(&id) {
                    scheduler.done(now, &done);
                }
                self.look_again(Some(&id));
            }
            DaemonMessage::RoundDone(troubles) => {
                for trouble in troubles {
                    log(&trouble);
                }
                let again = self.round == RoundState::Again;
                self.round = RoundState::None;
                self.scan_files();
                if again {
                    self.start_round();
                }
            }
            DaemonMessage::Measured(bytes) => {
                self.measuring = false;
                self.free_memory(bytes);
            }
            DaemonMessage::Compacted(troubles) => {
                self.compacting = false;
                for trouble in troubles {
                    log(&trouble);
                }
            }
            DaemonMessage::Followed(troubles) => {
                self.following = false;
                for trouble in troubles {
                    log(&trouble);
                }
            }
            DaemonMessage::Saved(id, took, trouble) => self.saved(&id, took, trouble),
            DaemonMessage::Stop => {
                let now = self.now();
                self.stopping.get_or_insert(now);
            }
        }
    }

    /// After the messages: timers, jobs and announcements that are due.
    pub(super) fn step(&mut self) {
        let now = self.now();
        if now >= self.scan {
            self.scan = now + SCAN;
            if !self.engine.daemon_socket().exists() {
                // The home was deleted, so no client can connect any more.
                log("the socket is gone");
                self.stopping.get_or_insert(now);
            }
            self.read_settings();
            self.scan_files();
            if self
                .schedulers
                .values()
                .any(|scheduler| is_between(scheduler.status().state))
            {
                // Under way in another process, or abandoned by one that was killed.
                self.start_round();
            }
        }
        let mut announcements = Vec::new();
        for (id, scheduler) in &mut self.schedulers {
            let news = scheduler.tick(now);
            if !news.is_empty() {
                announcements.push((id.clone(), news));
            }
            if self.stopping.is_none()
                && self.jobs < JOBS
                && let Some(job) = scheduler.next_job(now, self.camp_paused)
            {
                if jobs::start(&self.engine, &self.messages, id, job) {
                    self.jobs += 1;
                } else {
                    scheduler.not_started(now);
                }
            }
        }
        for (id, news) in announcements {
            self.announce(&id, news);
        }
        if self.round == RoundState::Wanted && self.stopping.is_none() {
            self.start_round();
        }
        self.run_maintenance(now);
        self.forward_events();
    }

    /// Closes all subscriptions and stops the watcher.
    pub(super) fn close(&mut self) {
        self.forward_events();
        self.subscribers.close();
        self.watcher = None;
    }

    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn handle_watch_event(&mut self, event: WatchEvent) {
        let now = self.now();
        match event {
            WatchEvent::Present(present) => self.handle_present(&present),
            WatchEvent::Output(_) => {}
            WatchEvent::Seen(seen) => {
                let id = seen.instance.clone();
                if !self.schedulers.contains_key(&id) {
                    self.load(&id, false);
                }
                let worth = self.engine.config().settings.notify.turn;
                if let Some(scheduler) = self.schedulers.get_mut(&id) {
                    let announcements = scheduler.observe(now, &seen, worth);
                    self.announce(&id, announcements);
                }
            }
            WatchEvent::Ended(id) => {
                if let Some(scheduler) = self.schedulers.get_mut(&id) {
                    scheduler.agent_ended();
                }
            }
            WatchEvent::ServerGone => {
                self.watching = 0;
                self.start_round();
            }
        }
    }

    /// Takes the list of running agents and their attached clients.
    fn handle_present(&mut self, present: &[Present]) {
        let now = self.now();
        self.watching = present.iter().filter(|present| !present.ended).count();
        for present in present {
            if !self.schedulers.contains_key(&present.instance) {
                self.load(&present.instance, false);
            }
            if let Some(scheduler) = self.schedulers.get_mut(&present.instance) {
                scheduler.set_clients(now, present.clients);
            }
        }
        let is_there = |id: &InstanceId| present.iter().any(|present| present.instance == *id);
        if self
            .schedulers
            .iter()
            .any(|(id, scheduler)| scheduler.is_running() && !is_there(id))
        {
            self.start_round();
        }
    }

    fn answer(&mut self, request: &Request) -> Answer {
        match request {
            Request::Status => Answer::Status(Status {
                running: true,
                pid: Some(self.hello.pid),
                version: Some(self.hello.bivouac.clone()),
                started_at: Some(self.hello.started_at),
                watching: self.watching,
            }),
            Request::Activities => Answer::Activities(
                self.schedulers
                    .iter()
                    .filter(|(_, scheduler)| scheduler.is_running())
                    .map(|(id, scheduler)| InstanceActivity {
                        instance: id.clone(),
                        activity: scheduler.activity(),
                        last_line: scheduler.last_line().map(str::to_owned),
                    })
                    .collect(),
            ),
            Request::Stop => {
                let now = self.now();
                self.stopping.get_or_insert(now);
                Answer::Done
            }
            Request::Subscribe { .. } => {
                Answer::Refused("a subscription is served elsewhere".to_owned())
            }
        }
    }

    fn look_again(&self, id: Option<&InstanceId>) {
        if let Some(watcher) = &self.watcher {
            watcher.look_again(id);
        }
    }
}

fn is_between(state: State) -> bool {
    match state {
        State::Creating
        | State::Pausing
        | State::Resuming
        | State::Restarting
        | State::Killing
        | State::Landing => true,
        State::Running
        | State::Paused
        | State::Completed
        | State::Failed
        | State::Interrupted
        | State::Away
        | State::Killed => false,
    }
}
