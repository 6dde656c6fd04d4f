//! The daemon's loop: mail in, keepers decide, engine verbs out.

mod errands;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::jobs;
use super::keeper::{Keeper, Told};
use super::lived::Lived;
use super::mail::Mail;
use super::notices::Notice;
use super::subscribers::Subscribers;
use super::thread::{log, spawn};
use super::wire::{Answer, Doing, Hello, Request, Status};
use crate::engine::{
    Engine, Error, Events, Notification, Present, Roster, Sight, Sources, Watcher, hurried,
};
use crate::model::{InstanceId, State};

/// Behind the bells: what was missed is found by looking at the files now and then.
const SCAN: Duration = Duration::from_secs(30);
const COMPACT: Duration = Duration::from_secs(300);
const MEASURE: Duration = Duration::from_secs(30);
/// What could not be begun is tried again after this long.
const RETRY: Duration = Duration::from_secs(2);
/// Engine verbs at the same time.
const JOBS: usize = 6;
/// What is under way when the daemon is told to stop has this long; its journal knows the rest.
const LAST_WORK: Duration = Duration::from_secs(8);

pub(super) struct Desk {
    engine: Arc<Engine>,
    watcher: Option<Watcher>,
    keepers: BTreeMap<InstanceId, Keeper>,
    roster: Roster,
    events: Events,
    /// The files that the engine was made of, as they were then.
    sources: Sources,
    hello: Hello,
    mail: Sender<Mail>,
    subscribers: Arc<Subscribers>,
    lived: Lived,
    watching: usize,
    jobs: usize,
    camp_paused: bool,
    crowded: bool,
    round: Errand,
    scan: Duration,
    compact: Duration,
    compacting: bool,
    measure: Duration,
    measuring: bool,
    /// A screen is being saved, and before when no other one is.
    saving: bool,
    save_after: Duration,
    stopping: Option<Duration>,
}

/// Something that is done for all at once, in a thread of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Errand {
    None,
    UnderWay,
    /// And asked for again meanwhile.
    Again,
    /// It could not be begun, and is tried again.
    Wanted,
}

impl Desk {
    pub(super) fn new(
        engine: Arc<Engine>,
        watcher: Watcher,
        hello: Hello,
        mail: Sender<Mail>,
        subscribers: Arc<Subscribers>,
    ) -> Result<Self, Error> {
        let mut desk = Self {
            events: engine.events_from_now()?,
            sources: engine.sources(),
            engine,
            watcher: Some(watcher),
            keepers: BTreeMap::new(),
            roster: Roster::default(),
            hello,
            mail,
            subscribers,
            lived: Lived::new(),
            watching: 0,
            jobs: 0,
            camp_paused: false,
            crowded: false,
            round: Errand::None,
            scan: SCAN,
            compact: hurried(COMPACT),
            compacting: false,
            measure: hurried(MEASURE),
            measuring: false,
            saving: false,
            save_after: Duration::ZERO,
            stopping: None,
        };
        for id in desk.engine.changed(&mut desk.roster) {
            desk.load(&id, true);
        }
        desk.read_camp();
        // What a crash has left is taken up, and who has ended meanwhile is written down.
        desk.make_round();
        Ok(desk)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.stopping
            .is_some_and(|since| self.jobs == 0 || self.now() > since + LAST_WORK)
    }

    /// How long nothing need be done.
    pub(super) fn patience(&self) -> Duration {
        let now = self.now();
        let mut due = self.scan.min(self.compact);
        if self.engine.config().settings.limits.memory > 0 {
            due = due.min(self.measure);
        }
        if let Some(save) = self.next_save() {
            due = due.min(save);
        }
        let keepers = self.keepers.values().filter_map(|keeper| keeper.due(now));
        let due = keepers.chain([due]).min().unwrap_or(due);
        let due = match self.stopping {
            None if self.round == Errand::Wanted => RETRY,
            Some(_) => Duration::from_millis(100),
            None => due.saturating_sub(now),
        };
        // A moment later than exactly then, so that it is then.
        self.lived.at_most(due + Duration::from_millis(1))
    }

    /// A wait is over.
    pub(super) fn wake(&mut self) {
        self.lived.go_on();
    }

    pub(super) fn handle(&mut self, mail: Mail) {
        match mail {
            Mail::Sight(sight) => self.see(sight),
            Mail::Bell(Some(id)) => {
                // A new agent, or a new version of one, comes with a new instance.
                self.read_settings();
                self.reload(&id);
                self.knock(Some(&id));
            }
            Mail::Bell(None) => self.read_camp(),
            Mail::Request(request, answer) => {
                // Whoever asked may have gone.
                drop(answer.send(self.answer(&request)));
            }
            Mail::Done(id, done, trouble) => {
                self.jobs -= 1;
                if let Some(trouble) = trouble {
                    log(&format!("{id}: {trouble}"));
                }
                self.reload(&id);
                let now = self.now();
                if let Some(keeper) = self.keepers.get_mut(&id) {
                    keeper.done(now, &done);
                }
                self.knock(Some(&id));
            }
            Mail::Rounded(troubles) => {
                for trouble in troubles {
                    log(&trouble);
                }
                let again = self.round == Errand::Again;
                self.round = Errand::None;
                self.scan_files();
                if again {
                    self.make_round();
                }
            }
            Mail::Measured(bytes) => {
                self.measuring = false;
                self.relieve(bytes);
            }
            Mail::Compacted(troubles) => {
                self.compacting = false;
                for trouble in troubles {
                    log(&trouble);
                }
            }
            Mail::Saved(id, took, trouble) => self.saved(&id, took, trouble),
            Mail::Stop => {
                let now = self.now();
                self.stopping.get_or_insert(now);
            }
        }
    }

    /// After the mail: what time it is, what is to be done, and what everyone is to be told.
    pub(super) fn step(&mut self) {
        let now = self.now();
        if now >= self.scan {
            self.scan = now + SCAN;
            if !self.engine.daemon_socket().exists() {
                // The home was taken away; nobody can ever reach us again.
                log("the socket is gone");
                self.stopping.get_or_insert(now);
            }
            self.read_settings();
            self.scan_files();
            if self
                .keepers
                .values()
                .any(|keeper| is_between(keeper.standing().state))
            {
                // Under way, or abandoned by someone who died.
                self.make_round();
            }
        }
        let mut told = Vec::new();
        for (id, keeper) in &mut self.keepers {
            let news = keeper.tick(now);
            if !news.is_empty() {
                told.push((id.clone(), news));
            }
            if self.stopping.is_none()
                && self.jobs < JOBS
                && let Some(job) = keeper.next_job(now, self.camp_paused)
            {
                if jobs::start(&self.engine, &self.mail, id, job) {
                    self.jobs += 1;
                } else {
                    keeper.not_begun(now);
                }
            }
        }
        for (id, news) in told {
            self.tell(&id, news);
        }
        if self.round == Errand::Wanted && self.stopping.is_none() {
            self.make_round();
        }
        self.errands(now);
        self.pass_events_on();
    }

    /// Sends everyone home, and lets go of the terminals.
    pub(super) fn close(&mut self) {
        self.pass_events_on();
        self.subscribers.close();
        self.watcher = None;
    }

    fn now(&self) -> Duration {
        self.lived.now()
    }

    fn see(&mut self, sight: Sight) {
        let now = self.now();
        match sight {
            Sight::Roll(roll) => self.call(&roll),
            Sight::Rang(_) => {}
            Sight::Seen(seen) => {
                let id = seen.instance.clone();
                if !self.keepers.contains_key(&id) {
                    self.load(&id, false);
                }
                let worth = self.engine.config().settings.notify.turn;
                if let Some(keeper) = self.keepers.get_mut(&id) {
                    let told = keeper.seen(now, &seen, worth);
                    self.tell(&id, told);
                }
            }
            Sight::Left(id) => {
                if let Some(keeper) = self.keepers.get_mut(&id) {
                    keeper.leave();
                }
            }
            Sight::Lost => {
                self.watching = 0;
                self.make_round();
            }
        }
    }

    /// Who sits at a terminal now, and who looks at them.
    fn call(&mut self, roll: &[Present]) {
        let now = self.now();
        self.watching = roll.iter().filter(|present| !present.ended).count();
        for present in roll {
            if !self.keepers.contains_key(&present.instance) {
                self.load(&present.instance, false);
            }
            if let Some(keeper) = self.keepers.get_mut(&present.instance) {
                keeper.attend(now, present.clients);
            }
        }
        let is_there = |id: &InstanceId| roll.iter().any(|present| present.instance == *id);
        if self
            .keepers
            .iter()
            .any(|(id, keeper)| keeper.is_running() && !is_there(id))
        {
            self.make_round();
        }
    }

    fn load(&mut self, id: &InstanceId, found: bool) {
        let now = self.now();
        let Some(standing) = self.engine.standing(id) else {
            self.keepers.remove(id);
            return;
        };
        if standing.queue.running > 0 {
            match self.engine.recover_queue(id) {
                Ok(true) => {
                    self.keepers.remove(id);
                    return self.load(id, found);
                }
                Ok(false) => {}
                Err(error) => log(&format!("{id}: {error}")),
            }
        }
        self.keepers
            .insert(id.clone(), Keeper::new(standing, now, found));
    }

    fn reload(&mut self, id: &InstanceId) {
        // Read whatever its files look like: a clock of whole ticks can miss a change.
        self.engine.has_changed(&mut self.roster, id);
        let now = self.now();
        match (self.engine.standing(id), self.keepers.get_mut(id)) {
            (Some(standing), Some(keeper)) => {
                let told = keeper.stand(now, standing);
                self.tell(id, told);
            }
            (Some(_), None) => self.load(id, false),
            (None, _) => drop(self.keepers.remove(id)),
        }
    }

    fn scan_files(&mut self) {
        for id in self.engine.changed(&mut self.roster) {
            self.reload(&id);
        }
        self.read_camp();
    }

    /// Settings, agents and versions of them that were changed meanwhile; those that cannot be read
    /// change nothing. The files are read only where they are not the same any more.
    fn read_settings(&mut self) {
        let sources = self.engine.sources();
        if sources == self.sources {
            return;
        }
        match self.engine.reopened() {
            Ok(engine) => {
                if engine.config().settings != self.engine.config().settings {
                    log("the settings were read again");
                }
                self.engine = Arc::new(engine);
                // Which programs are looked at depends on what was read.
                self.sources = self.engine.sources();
                if let Some(watcher) = &self.watcher {
                    self.engine.guide(watcher);
                }
                let ids: Vec<InstanceId> = self.keepers.keys().cloned().collect();
                for id in ids {
                    self.reload(&id);
                }
            }
            Err(error) => {
                // Told once for each change.
                self.sources = sources;
                log(&error.to_string());
            }
        }
    }

    fn read_camp(&mut self) {
        match self.engine.camp_is_paused() {
            Ok(paused) => self.camp_paused = paused,
            // What cannot be read is taken for what is harmless.
            Err(error) => {
                self.camp_paused = true;
                log(&error.to_string());
            }
        }
    }

    fn tell(&self, id: &InstanceId, told: Vec<Told>) {
        for told in told {
            match told {
                Told::Activity { activity, previous } => {
                    self.engine.tell_activity(id, activity, previous);
                }
                Told::Notice(notice) => self.notify(id, notice),
            }
        }
    }

    fn notify(&self, id: &InstanceId, notice: Notice) {
        let Some(keeper) = self.keepers.get(id) else {
            return;
        };
        let message = match notice {
            Notice::NeedsYou => "needs you".to_owned(),
            Notice::Finished => "has finished".to_owned(),
            Notice::Failed => match &keeper.standing().queue_stopped {
                Some(reason) => format!("its queue has stopped: {reason}"),
                None if keeper.standing().state == State::Interrupted => {
                    "was interrupted: its tmux server is gone".to_owned()
                }
                None => "has failed".to_owned(),
            },
        };
        let notification = Notification {
            name: notice.name(),
            instance: id.clone(),
            title: keeper.standing().title.clone(),
            message,
        };
        let engine = Arc::clone(&self.engine);
        spawn("notify", move || {
            for trouble in engine.notify(&notification) {
                log(&trouble);
            }
        });
    }

    fn pass_events_on(&mut self) {
        loop {
            match self.events.next() {
                Ok(lines) if lines.is_empty() => return,
                Ok(lines) => {
                    for line in lines {
                        self.subscribers.tell(&line);
                    }
                }
                Err(error) => return log(&error.to_string()),
            }
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
                self.keepers
                    .iter()
                    .filter(|(_, keeper)| keeper.is_running())
                    .map(|(id, keeper)| Doing {
                        instance: id.clone(),
                        activity: keeper.activity(),
                        last_line: keeper.last_line().map(str::to_owned),
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

    fn knock(&self, id: Option<&InstanceId>) {
        if let Some(watcher) = &self.watcher {
            watcher.knock(id);
        }
    }
}

fn is_between(state: State) -> bool {
    match state {
        State::Creating | State::Pausing | State::Resuming | State::Restarting | State::Killing => {
            true
        }
        State::Running
        | State::Paused
        | State::Completed
        | State::Failed
        | State::Interrupted
        | State::Killed => false,
    }
}
