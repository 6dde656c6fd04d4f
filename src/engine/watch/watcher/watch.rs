//! The watcher's own thread.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use crate::engine::base::{Core, Error, socket};
use crate::engine::watch::watcher::alarm::Alarm;
use crate::engine::watch::watcher::leftovers::{client_file, sweep};
use crate::engine::watch::watcher::pane::{PaneOutput, Watched};
use crate::engine::watch::watcher::poller::{PolledFd, Poller};
use crate::engine::watch::watcher::{PanePipes, Present, Seen, WatchEvent, WatchRequest};
use crate::model::Activity;
use crate::process::Identity;
use crate::tmux::{
    ControlClient, ControlEvent, Notification, Pane, PipeReceiver, Screenshot, Server,
    raise_file_limit,
};

/// Besides the events, all panes are listed this often.
const SCAN: Duration = Duration::from_secs(30);
/// The same on systems that do not report the end of a process.
const SHORT_SCAN: Duration = Duration::from_secs(3);
/// The same while nobody reports the output of panes whose pipe another watcher has.
const ALONE_SCAN: Duration = Duration::from_millis(700);
/// Sessions that come or go within this time need one listing.
const GATHER: Duration = Duration::from_millis(20);
/// A process has ended and tmux has not noticed yet: the panes are listed again after this long.
const EXIT_RETRY: Duration = Duration::from_millis(100);
/// A server that does not answer is tried again after this long, then after twice that.
const FIRST_RETRY: Duration = Duration::from_millis(250);
/// Pipes that are requested at the same time: each starts a short process.
const PIPES_AT_ONCE: usize = 8;
/// After this long a pipe that did not come is asked for again.
const PIPE: Duration = Duration::from_secs(10);
const BUFFER: usize = 64 * 1024;

impl Drop for Watch {
    fn drop(&mut self) {
        self.client = None;
        // What stays is removed by the next watcher.
        drop(std::fs::remove_file(client_file(
            &self.core.home.run,
            std::process::id(),
        )));
    }
}

pub(super) struct Watch {
    core: Arc<Core>,
    server: Server,
    pipes: PanePipes,
    /// Nobody reports the output of panes whose pipe another watcher has.
    alone: bool,
    receiver: PipeReceiver,
    requests: Receiver<WatchRequest>,
    alarm: Alarm,
    poller: Poller,
    watch_events: Sender<WatchEvent>,
    client: Option<ControlClient>,
    panes: BTreeMap<String, Watched>,
    /// The callers that wait for a screenshot, in the order of the requests; None for a look of the
    /// watcher itself.
    looks: VecDeque<Option<Sender<Option<Screenshot>>>>,
    present: Vec<Present>,
    started: Instant,
    scan: Option<Duration>,
    retry_after: Duration,
}

impl Watch {
    pub(super) fn open(
        core: Arc<Core>,
        pipes: PanePipes,
        requests: Receiver<WatchRequest>,
        alarm: Alarm,
        watch_events: Sender<WatchEvent>,
    ) -> Result<Self, Error> {
        let path = core
            .home
            .run
            .join(format!("pipes-{}.sock", std::process::id()));
        sweep(&core.home.run);
        // Each pane needs two descriptors.
        raise_file_limit();
        let receiver = socket::bind_datagram(&path)
            .and_then(|socket| PipeReceiver::open(socket, &path))
            .map_err(Error::files("open", &path))?;
        Ok(Self {
            poller: Poller::open().map_err(Error::files("open", &path))?,
            server: core.server(),
            core,
            pipes,
            alone: pipes == PanePipes::OnlyFree,
            receiver,
            requests,
            alarm,
            watch_events,
            client: None,
            panes: BTreeMap::new(),
            looks: VecDeque::new(),
            present: Vec::new(),
            started: Instant::now(),
            scan: Some(Duration::ZERO),
            retry_after: FIRST_RETRY,
        })
    }

    pub(super) fn run(&mut self) {
        let mut buffer = vec![0; BUFFER];
        loop {
            self.scan_if_due();
            self.look_and_repair();
            self.wait_and_listen(&mut buffer);
            if self.handle_requests() {
                return;
            }
            self.receive_pipes();
            self.read_control_client();
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for the next event, and reads the output of every pane that has some.
    fn wait_and_listen(&mut self, buffer: &mut [u8]) {
        let now = self.now();
        let due = self
            .panes
            .values()
            .filter_map(Watched::due)
            .chain(self.scan);
        let mut limit = due.min().map_or(SCAN, |due| due.saturating_sub(now));
        if self.client.as_ref().is_some_and(ControlClient::is_waiting) {
            limit = limit.min(Duration::from_secs(1));
        }
        let polled = self
            .panes
            .values()
            .flat_map(|pane| [pane.pipe.as_ref(), pane.process.as_ref()])
            .flatten();
        let client = self.client.as_ref().and_then(ControlClient::readable);
        let others = [self.alarm.fd(), self.receiver.readable()];
        let others = others.into_iter().chain(client);
        let writable = self.client.as_ref().and_then(ControlClient::writable);
        let ready = self.poller.wait(polled, others, writable, limit);

        let now = self.now();
        let mut watch_events = Vec::new();
        for pane in self.panes.values_mut() {
            let is_ready = |fd: &Option<PolledFd>| fd.as_ref().is_some_and(|fd| ready.from(fd));
            let (pipe, process) = (is_ready(&pane.pipe), is_ready(&pane.process));
            if pipe {
                match pane.listen(now, buffer) {
                    PaneOutput::Announce => {
                        watch_events.push(WatchEvent::Output(pane.instance.clone()))
                    }
                    PaneOutput::Nothing | PaneOutput::Something => {}
                    // The pane is gone or another watcher has its pipe: list the panes again.
                    PaneOutput::End => self.scan = Some(now + GATHER),
                }
            }
            if process {
                pane.process = None;
                pane.ended = true;
                self.scan = Some(now);
            }
        }
        self.alarm.calm();
        for event in watch_events {
            self.tell(event);
        }
    }

    /// Handles all requests; returns whether the watcher is to end.
    fn handle_requests(&mut self) -> bool {
        while let Ok(request) = self.requests.try_recv() {
            let now = self.now();
            match request {
                WatchRequest::End => return true,
                WatchRequest::UseCore(core) => {
                    self.core = core;
                    // The same screen may mean something else by the new rules.
                    for pane in self.panes.values_mut() {
                        pane.schedule.request(now);
                    }
                }
                WatchRequest::Alone(alone) => {
                    self.alone = alone;
                    self.scan = Some(now);
                }
                WatchRequest::Look(instance) => {
                    for pane in self.panes.values_mut() {
                        if Some(&pane.instance) == instance.as_ref() {
                            pane.schedule.request(now);
                        }
                    }
                    let soon = now + GATHER;
                    self.scan = Some(self.scan.map_or(soon, |scan| scan.min(soon)));
                }
                WatchRequest::Picture {
                    instance,
                    colours,
                    answer,
                } => {
                    let pane = self
                        .panes
                        .iter()
                        .find(|(_, pane)| pane.instance == instance)
                        .map(|(id, _)| id);
                    match (pane, &mut self.client) {
                        (Some(pane), Some(client)) => {
                            client.request_screenshot(pane, colours);
                            self.looks.push_back(Some(answer));
                        }
                        // Fails only if the caller has stopped waiting; the same below.
                        _ => drop(answer.send(None)),
                    }
                }
            }
        }
        false
    }

    fn receive_pipes(&mut self) {
        while let Some((pane, pipe)) = self.receiver.receive() {
            // The pipe of an unknown pane is closed by dropping it.
            if let Some(pane) = self.panes.get_mut(&pane) {
                match self.poller.add(pipe) {
                    Ok(pipe) => pane.hand_over(pipe, self.started.elapsed()),
                    Err(_) => pane.repair_later(self.started.elapsed()),
                }
            }
        }
    }

    fn read_control_client(&mut self) {
        let Some(client) = &mut self.client else {
            return;
        };
        let said = match client.flush().and_then(|()| client.read_events()) {
            Ok(said) if !client.is_stuck() => said,
            Ok(_) | Err(_) => {
                self.lose_server();
                return;
            }
        };
        for said in said {
            match said {
                ControlEvent::Panes(panes) => self.reconcile(panes),
                ControlEvent::Screenshot { pane, shot } => self.looked(&pane, shot),
                ControlEvent::Piped { pane, ok } => {
                    if let Some(pane) = self.panes.get_mut(&pane).filter(|_| !ok) {
                        pane.repair_later(self.started.elapsed());
                    }
                }
                ControlEvent::Notification(Notification::Sessions | Notification::Clients) => {
                    let soon = self.now() + GATHER;
                    self.scan = Some(self.scan.map_or(soon, |scan| scan.min(soon)));
                }
                ControlEvent::Notification(Notification::Other) => {}
            }
        }
    }

    /// Lists the panes; connects the control client first if there is none.
    fn scan_if_due(&mut self) {
        let now = self.now();
        if self.scan.is_none_or(|due| due > now) {
            return;
        }
        let unheard = |pane: &Watched| pane.pipe.is_none() && !pane.ended;
        let usual = match cfg!(target_os = "linux") {
            _ if self.alone && self.panes.values().any(unheard) => ALONE_SCAN,
            true => SCAN,
            false => SHORT_SCAN,
        };
        self.scan = Some(now + usual);
        if self.client.is_none() && self.server.identity().is_some() {
            match ControlClient::connect(&self.server, &self.core.host.biv) {
                Ok(client) => {
                    self.remember(&client);
                    self.client = Some(client);
                    self.retry_after = FIRST_RETRY;
                }
                Err(_) => {
                    self.scan = Some(self.now() + self.retry_after);
                    self.retry_after = (self.retry_after * 2).min(SCAN);
                }
            }
        }
        if let Some(client) = &mut self.client {
            client.request_panes();
        }
    }

    /// Records the control client's process. If this process is killed and the kernel does not end the
    /// client with it, the next watcher ends it: a client that is not read keeps a server from ending.
    fn remember(&self, client: &ControlClient) {
        let path = client_file(&self.core.home.run, std::process::id());
        if let Some(text) = client
            .process()
            .and_then(|it| serde_json::to_string(&it).ok())
            && let Err(error) = std::fs::write(&path, text)
        {
            tracing::debug!(%error, path = %path.display(), "record the control client");
        }
    }

    /// Updates the watched panes from a listing.
    fn reconcile(&mut self, panes: Vec<Pane>) {
        let now = self.now();
        let mut before = std::mem::take(&mut self.panes);
        for pane in panes {
            let Some(instance) = pane.instance else {
                continue;
            };
            let mut watched = match before.remove(&pane.id) {
                Some(watched) if watched.instance == instance => watched,
                _ => {
                    let mut watched = Watched::new(instance, now);
                    watched.process = Identity::of_pid(pane.pid)
                        .and_then(|process| process.end_signal())
                        .and_then(|end| self.poller.add(end).ok());
                    watched
                }
            };
            if self.pipes == PanePipes::OnlyFree && watched.pipe.is_none() {
                // A pipe of another watcher stays with that one until it ends.
                watched.repair = match pane.piped {
                    true => None,
                    false => watched.repair.or(Some(now)),
                };
            }
            if self.alone && watched.pipe.is_none() {
                watched.look_if_active(pane.active_at, now);
            }
            watched.clients = pane.clients;
            if pane.death.is_some() && !watched.dead {
                watched.ended = true;
                watched.dead = true;
                watched.process = None;
                self.tell(WatchEvent::Ended(watched.instance.clone()));
            }
            if watched.ended && !watched.dead {
                // tmux is a moment behind the kernel.
                self.scan = Some(now + EXIT_RETRY);
            }
            self.panes.insert(pane.id, watched);
        }
        let present: Vec<Present> = self
            .panes
            .values()
            .map(|pane| Present {
                instance: pane.instance.clone(),
                clients: pane.clients,
                ended: pane.ended,
            })
            .collect();
        if present != self.present {
            self.present.clone_from(&present);
            self.tell(WatchEvent::Present(present));
        }
        if self.panes.is_empty() {
            // No agent is left: our own session must not keep the server alive.
            self.client = None;
            self.forget_looks();
        }
    }

    fn lose_server(&mut self) {
        self.client = None;
        self.forget_looks();
        self.panes.clear();
        self.present.clear();
        self.scan = Some(self.now() + FIRST_RETRY);
        self.tell(WatchEvent::ServerGone);
    }

    fn forget_looks(&mut self) {
        for answer in self.looks.drain(..).flatten() {
            drop(answer.send(None));
        }
    }

    /// Looks at the panes that are due, and requests missing pipes.
    fn look_and_repair(&mut self) {
        let now = self.now();
        let Some(client) = &mut self.client else {
            return;
        };
        let on_their_way = |pane: &&Watched| pane.repair.is_some_and(|due| due > now + PIPE / 2);
        let mut room =
            PIPES_AT_ONCE.saturating_sub(self.panes.values().filter(on_their_way).count());
        for (id, pane) in &mut self.panes {
            if !pane.looking && pane.schedule.due().is_some_and(|due| due <= now) {
                pane.schedule.looked(now);
                pane.looking = true;
                client.request_screenshot(id, false);
                self.looks.push_back(None);
            }
            if pane.repair.is_some_and(|due| due <= now) && !pane.ended {
                if room == 0 {
                    pane.repair = Some(now + GATHER);
                    continue;
                }
                room -= 1;
                pane.repair = Some(now + PIPE);
                if let Some(command) = self.receiver.command(&self.core.host.biv, id) {
                    client.request_pipe(id, &command);
                }
            }
        }
    }

    fn looked(&mut self, pane: &str, shot: Option<Screenshot>) {
        if let Some(answer) = self.looks.pop_front().flatten() {
            drop(answer.send(shot));
            return;
        }
        let now = self.now();
        let Some(watched) = self.panes.get_mut(pane) else {
            return;
        };
        watched.looking = false;
        let Some(shot) = shot else {
            self.scan = Some(now + GATHER);
            return;
        };
        let silent = watched.silent(now);
        if let Some(seen) = see(&self.core, watched, silent.unwrap_or_default(), &shot) {
            watched.screen_hash = Some(seen.screen_hash);
            if silent.is_some() && seen.activity == Activity::Busy {
                watched.schedule.await_silence();
            }
            self.tell(WatchEvent::Seen(seen));
        }
    }

    fn tell(&self, event: WatchEvent) {
        // Fails only if the receiver is gone, which then ends the watcher too.
        drop(self.watch_events.send(event));
    }
}

/// Evaluates a screenshot of an agent that has been silent for this long.
fn see(core: &Core, watched: &Watched, silent: Duration, shot: &Screenshot) -> Option<Seen> {
    let instance = &watched.instance;
    let record = core.store.instance(instance).record().ok()?;
    let verdict = core.verdict_after(&record, shot, silent);
    let mut hasher = DefaultHasher::new();
    shot.text.hash(&mut hasher);
    let screen_hash = hasher.finish();
    Some(Seen {
        instance: instance.clone(),
        activity: verdict.activity,
        background: verdict.background.is_some(),
        failed: verdict.failed,
        changed: watched.screen_hash != Some(screen_hash),
        screen_hash,
        limit: verdict.limit,
        last_line: core.last_line(&record, shot),
    })
}
