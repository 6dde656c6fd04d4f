//! Watching all agents at once, by events: nothing polls, and a silent agent costs nothing.
//!
//! The output of each pane comes through a pipe; [`schedule`] decides when to look at the screen.
//! One control client carries commands and captures. The kernel tells the end of each process. A
//! periodic scan catches what was missed. The daemon and the terminal UI use the same watcher, but a
//! pane has one pipe: the watcher without it is asked for a look ([`Watcher::look_again`]) when
//! something is learned in another way.

mod alarm;
mod leftovers;
mod pane;
mod poller;
mod printed;
mod schedule;
mod watch;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use alarm::Waker;

use crate::engine::base::{Core, Error};
use crate::model::{Activity, InstanceId, UsageLimit};
use crate::tmux::{Screenshot, send_pipe};

/// How long a caller waits for a screenshot.
const PICTURE: Duration = Duration::from_secs(2);

/// Which output pipes a watcher asks for. A pane has one pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PanePipes {
    /// All panes, also those that another watcher has.
    TakeAll,
    /// Only panes without a pipe.
    OnlyFree,
}

/// What a watcher reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WatchEvent {
    /// All instances that have a pane now; sent whenever that has changed.
    Present(Vec<Present>),
    /// An agent has printed something; sent at most every 100 ms for each.
    Output(InstanceId),
    /// An agent was looked at, after output or on request.
    Seen(Seen),
    /// The process of an agent has ended.
    Ended(InstanceId),
    /// The tmux server is gone, and all agents with it.
    ServerGone,
}

/// An instance that has a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Present {
    pub instance: InstanceId,
    /// How many clients are attached to it.
    pub clients: u32,
    /// Its program has ended; the pane still shows its last output.
    pub ended: bool,
}

/// The result of one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub instance: InstanceId,
    pub activity: Activity,
    /// Work goes on behind the prompt.
    pub background: bool,
    /// What it says about its last turn, which the model's service has ended by an error.
    pub failed: Option<String>,
    /// The screen has changed since the look before.
    pub changed: bool,
    /// A hash of the screen: the same dialog has the same hash.
    pub screen_hash: u64,
    pub last_line: Option<String>,
    /// The usage limit that it shows.
    pub limit: Option<UsageLimit>,
}

/// A running watcher. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Watcher {
    requests: Sender<WatchRequest>,
    waker: Waker,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug)]
enum WatchRequest {
    /// Something has happened, to this instance or in general.
    Look(Option<InstanceId>),
    Picture {
        instance: InstanceId,
        colours: bool,
        answer: Sender<Option<Screenshot>>,
    },
    /// Whether nobody else reports the output of panes.
    Alone(bool),
    /// The settings or the agents have changed.
    UseCore(Arc<Core>),
    End,
}

/// The helper that tmux starts for each pane: it passes its end of the pipe on, and ends.
pub(crate) fn run_pipe(socket: &OsStr, pane: &str) -> ExitCode {
    match send_pipe(Path::new(socket), pane) {
        Ok(()) => ExitCode::SUCCESS,
        // The watcher is gone; that does not harm the pane.
        Err(_) => ExitCode::FAILURE,
    }
}

impl Watcher {
    /// Begins to watch all panes of this home, also those that come later.
    pub(in crate::engine) fn start(
        core: Arc<Core>,
        pipes: PanePipes,
    ) -> Result<(Self, Receiver<WatchEvent>), Error> {
        core.prepare()?;
        let (requests, received) = channel();
        let (watch_events, seen) = channel();
        let (waker, alarm) = alarm::alarm().map_err(Error::files("open", &core.home.run))?;
        let mut watch = watch::Watch::open(core, pipes, received, alarm, watch_events)?;
        let thread = std::thread::Builder::new()
            .name("watcher".to_owned())
            .spawn(move || watch.run())
            .map_err(|source| Error::Files {
                action: "start",
                path: "watcher".into(),
                source,
            })?;
        let watcher = Self {
            requests,
            waker,
            thread: Some(thread),
        };
        Ok((watcher, seen))
    }

    /// Asks for another look, because something has happened to one instance or in general.
    pub(crate) fn look_again(&self, instance: Option<&InstanceId>) {
        self.request(WatchRequest::Look(instance.cloned()));
    }

    /// Says whether another watcher reports the output of panes whose pipe it has. If not, they are looked
    /// at about once a second while they have output.
    pub(crate) fn set_alone(&self, alone: bool) {
        self.request(WatchRequest::Alone(alone));
    }

    /// Uses the settings and agents of this core from now on.
    pub(in crate::engine) fn use_core(&self, core: &Arc<Core>) {
        self.request(WatchRequest::UseCore(Arc::clone(core)));
    }

    /// The screen of an instance as it is now; None where it has none.
    pub(crate) fn picture(&self, instance: &InstanceId, colours: bool) -> Option<Screenshot> {
        let (answer, picture) = channel();
        self.request(WatchRequest::Picture {
            instance: instance.clone(),
            colours,
            answer,
        });
        picture.recv_timeout(PICTURE).ok().flatten()
    }

    fn request(&self, request: WatchRequest) {
        // Fails only if the watcher's thread has ended.
        drop(self.requests.send(request));
        self.waker.wake();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.request(WatchRequest::End);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported when it happened.
            drop(thread.join());
        }
    }
}
