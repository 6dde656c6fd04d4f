//! The watcher's own thread.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use crate::engine::base::{Core, Error, socket};
use crate::engine::watch::look::screen_of;
use crate::engine::watch::watcher::alarm::Alarm;
use crate::engine::watch::watcher::ears::{Ear, Ears};
use crate::engine::watch::watcher::pane::{Heard, Watched};
use crate::engine::watch::watcher::{Doorbell, Present, Seen, Sight, Wish};
use crate::model::{InstanceId, printable_line};
use crate::process::{Identity, Signal};
use crate::tmux::{
    ControlClient, ControlEvent, Notification, Pane, PipeReceiver, Screenshot, Server,
    raise_file_limit,
};

/// Behind the events: who sits where is asked now and then all the same.
const SCAN: Duration = Duration::from_secs(30);
/// The same where the kernel does not tell of the end of a process.
const SHORT_SCAN: Duration = Duration::from_secs(3);
/// Several sessions that come or go together are asked for once.
const GATHER: Duration = Duration::from_millis(20);
/// A process has ended and tmux has not noticed yet: it is asked again after this long.
const REAPING: Duration = Duration::from_millis(100);
/// A server that does not answer is tried again after this long, then after twice that.
const FIRST_RETRY: Duration = Duration::from_millis(250);
/// Pipes that are asked for at the same time: each is a process for a moment.
const PIPES_AT_ONCE: usize = 8;
/// After this long a pipe that did not come is asked for again.
const PIPE: Duration = Duration::from_secs(10);
const BUFFER: usize = 64 * 1024;

impl Drop for Watch {
    fn drop(&mut self) {
        self.client = None;
        drop(std::fs::remove_file(leash_path(
            &self.core.home.run,
            std::process::id(),
        )));
    }
}

pub(super) struct Watch {
    core: Arc<Core>,
    server: Server,
    doorbell: Doorbell,
    doorbells: PipeReceiver,
    wishes: Receiver<Wish>,
    alarm: Alarm,
    ears: Ears,
    sights: Sender<Sight>,
    client: Option<ControlClient>,
    panes: BTreeMap<String, Watched>,
    /// Who waits for a picture, in the order in which the looks were asked for; None where the look
    /// is our own.
    looks: VecDeque<Option<Sender<Option<Screenshot>>>>,
    roll: Vec<Present>,
    started: Instant,
    scan: Option<Duration>,
    retry_after: Duration,
}

impl Watch {
    pub(super) fn open(
        core: Arc<Core>,
        doorbell: Doorbell,
        wishes: Receiver<Wish>,
        alarm: Alarm,
        sights: Sender<Sight>,
    ) -> Result<Self, Error> {
        let path = core
            .home
            .run
            .join(format!("pipes-{}.sock", std::process::id()));
        sweep(&core.home.run);
        // Each pane costs us two descriptors.
        raise_file_limit();
        let doorbells = socket::bind_datagram(&path)
            .and_then(|socket| PipeReceiver::open(socket, &path))
            .map_err(Error::files("open", &path))?;
        Ok(Self {
            ears: Ears::open().map_err(Error::files("open", &path))?,
            server: core.server(),
            core,
            doorbell,
            doorbells,
            wishes,
            alarm,
            sights,
            client: None,
            panes: BTreeMap::new(),
            looks: VecDeque::new(),
            roll: Vec::new(),
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
            if self.fulfil_wishes() {
                return;
            }
            self.receive_pipes();
            self.hear();
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for whatever comes first, and reads the output of every pane that has some.
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
        let ears = self
            .panes
            .values()
            .flat_map(|pane| [pane.pipe.as_ref(), pane.process.as_ref()])
            .flatten();
        let client = self.client.as_ref().and_then(ControlClient::readable);
        let others = [self.alarm.fd(), self.doorbells.readable()];
        let others = others.into_iter().chain(client);
        let writable = self.client.as_ref().and_then(ControlClient::writable);
        let heard = self.ears.wait(ears, others, writable, limit);

        let now = self.now();
        let mut sights = Vec::new();
        for pane in self.panes.values_mut() {
            let speaks = |ear: &Option<Ear>| ear.as_ref().is_some_and(|ear| heard.from(ear));
            let (pipe, process) = (speaks(&pane.pipe), speaks(&pane.process));
            if pipe {
                match pane.listen(now, buffer) {
                    Heard::Ring => sights.push(Sight::Rang(pane.instance.clone())),
                    Heard::Nothing | Heard::Something => {}
                    // Gone, or somebody else's now: who is there is asked anew.
                    Heard::End => self.scan = Some(now + GATHER),
                }
            }
            if process {
                pane.process = None;
                pane.ended = true;
                self.scan = Some(now);
            }
        }
        self.alarm.calm();
        for sight in sights {
            self.tell(sight);
        }
    }

    /// Whether the watcher is to end.
    fn fulfil_wishes(&mut self) -> bool {
        while let Ok(wish) = self.wishes.try_recv() {
            let now = self.now();
            match wish {
                Wish::End => return true,
                Wish::GoBy(core) => {
                    self.core = core;
                    // What they show may mean something else now.
                    for pane in self.panes.values_mut() {
                        pane.bell.knock(now);
                    }
                }
                Wish::Knock(instance) => {
                    for pane in self.panes.values_mut() {
                        if Some(&pane.instance) == instance.as_ref() {
                            pane.bell.knock(now);
                        }
                    }
                    let soon = now + GATHER;
                    self.scan = Some(self.scan.map_or(soon, |scan| scan.min(soon)));
                }
                Wish::Picture {
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
                        _ => drop(answer.send(None)),
                    }
                }
            }
        }
        false
    }

    fn receive_pipes(&mut self) {
        while let Some((pane, pipe)) = self.doorbells.receive() {
            // One that nobody knows is closed by dropping it.
            if let Some(pane) = self.panes.get_mut(&pane) {
                match self.ears.lend(pipe) {
                    Ok(pipe) => pane.hand_over(pipe),
                    Err(_) => pane.repair_later(self.started.elapsed()),
                }
            }
        }
    }

    fn hear(&mut self) {
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

    /// Asks who is there; connects first where that is possible.
    fn scan_if_due(&mut self) {
        let now = self.now();
        if self.scan.is_none_or(|due| due > now) {
            return;
        }
        let usual = if cfg!(target_os = "linux") {
            SCAN
        } else {
            SHORT_SCAN
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

    /// Should this process be killed where the kernel does not end its client with it, the next
    /// watcher does: a client that nobody listens to any more keeps a server from ending.
    fn remember(&self, client: &ControlClient) {
        let path = leash_path(&self.core.home.run, std::process::id());
        if let Some(text) = client
            .process()
            .and_then(|it| serde_json::to_string(&it).ok())
        {
            drop(std::fs::write(path, text));
        }
    }

    /// Takes over who is there now.
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
                        .and_then(|end| self.ears.lend(end).ok());
                    watched
                }
            };
            if self.doorbell == Doorbell::Free && watched.pipe.is_none() {
                // What somebody else has hung up, or has taken from us, is theirs until they go.
                watched.repair = match pane.piped {
                    true => None,
                    false => watched.repair.or(Some(now)),
                };
            }
            watched.clients = pane.clients;
            if pane.death.is_some() && !watched.dead {
                watched.ended = true;
                watched.dead = true;
                watched.process = None;
                self.tell(Sight::Left(watched.instance.clone()));
            }
            if watched.ended && !watched.dead {
                // tmux is a moment behind the kernel.
                self.scan = Some(now + REAPING);
            }
            self.panes.insert(pane.id, watched);
        }
        let roll: Vec<Present> = self
            .panes
            .values()
            .map(|pane| Present {
                instance: pane.instance.clone(),
                clients: pane.clients,
                ended: pane.ended,
            })
            .collect();
        if roll != self.roll {
            self.roll.clone_from(&roll);
            self.tell(Sight::Roll(roll));
        }
        if self.panes.is_empty() {
            // Nobody is left: our own session must not be what keeps the server alive.
            self.client = None;
            self.forget_looks();
        }
    }

    fn lose_server(&mut self) {
        self.client = None;
        self.forget_looks();
        self.panes.clear();
        self.roll.clear();
        self.scan = Some(self.now() + FIRST_RETRY);
        self.tell(Sight::Lost);
    }

    fn forget_looks(&mut self) {
        for answer in self.looks.drain(..).flatten() {
            drop(answer.send(None));
        }
    }

    /// Looks at those that are worth it by now, and asks for doorbells that are missing.
    fn look_and_repair(&mut self) {
        let now = self.now();
        let Some(client) = &mut self.client else {
            return;
        };
        let on_their_way = |pane: &&Watched| pane.repair.is_some_and(|due| due > now + PIPE / 2);
        let mut room =
            PIPES_AT_ONCE.saturating_sub(self.panes.values().filter(on_their_way).count());
        for (id, pane) in &mut self.panes {
            if !pane.looking && pane.bell.due().is_some_and(|due| due <= now) {
                pane.bell.looked(now);
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
                if let Some(command) = self.doorbells.command(&self.core.host.biv, id) {
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
        let Some(watched) = self.panes.get_mut(pane) else {
            return;
        };
        watched.looking = false;
        let Some(shot) = shot else {
            self.scan = Some(self.now() + GATHER);
            return;
        };
        if let Some(seen) = see(&self.core, &watched.instance, watched.face, &shot) {
            watched.face = Some(seen.face);
            self.tell(Sight::Seen(seen));
        }
    }

    fn tell(&self, sight: Sight) {
        // Nobody listens any more: the end is near.
        drop(self.sights.send(sight));
    }
}

/// Takes away the sockets of watchers that were killed: nobody answers there any more. One of this
/// process's own number can only be an earlier one's.
fn sweep(directory: &Path) {
    let own = format!("pipes-{}.sock", std::process::id());
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(number) = name
            .strip_prefix("pipes-")
            .and_then(|name| name.strip_suffix(".sock")?.parse::<u32>().ok())
        else {
            continue;
        };
        let deserted = UnixDatagram::unbound()
            .and_then(|socket| socket::connect_datagram(&socket, &entry.path()))
            .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
        if deserted || name == own {
            drop(std::fs::remove_file(entry.path()));
            let leash = leash_path(directory, number);
            let client = std::fs::read(&leash)
                .ok()
                .and_then(|text| serde_json::from_slice::<Identity>(&text).ok());
            if let Some(client) = client {
                client.signal(Signal::KILL);
            }
            drop(std::fs::remove_file(leash));
        }
    }
}

fn leash_path(directory: &Path, watcher: u32) -> PathBuf {
    directory.join(format!("client-{watcher}.json"))
}

/// What a look means.
fn see(core: &Core, instance: &InstanceId, before: Option<u64>, shot: &Screenshot) -> Option<Seen> {
    let record = core.store.instance(instance).record().ok()?;
    let verdict = core.verdict(&record, Some(shot), None);
    let mut hasher = DefaultHasher::new();
    shot.text.hash(&mut hasher);
    let face = hasher.finish();
    Some(Seen {
        instance: instance.clone(),
        activity: verdict.activity,
        changed: before != Some(face),
        face,
        last_line: screen_of(shot)
            .last_line()
            .map(|line| printable_line(line.trim())),
    })
}
