//! Watching all agents at once, by events: nothing polls, and a silent agent costs nothing.
//!
//! The output of each pane rings a doorbell ([`bell`] says when it is then worth a look), one control
//! client carries commands and looks, the end of each process is told by the kernel, and a scan every
//! now and then catches what was missed. The daemon and the terminal UI use the same watcher: whoever
//! takes the doorbells over has them, the other goes without and knocks ([`Watcher::knock`]) when it
//! hears of something.

mod alarm;
mod bell;
mod ears;
mod pane;
mod watch;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use alarm::Waker;

use crate::engine::base::{Core, Error};
use crate::model::{Activity, InstanceId};
use crate::tmux::{Screenshot, send_pipe};

/// How long somebody who wants a picture waits for it.
const PICTURE: Duration = Duration::from_secs(2);

/// Whether the doorbells of panes are ours. A pane has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doorbell {
    /// Also those that somebody else has hung up.
    Taken,
    /// Only where there is none.
    Free,
}

/// Something that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Who sits at a terminal now; told whenever it has changed.
    Roll(Vec<Present>),
    /// An agent has said something; told at most every 100 ms for each.
    Rang(InstanceId),
    /// An agent was looked at, after it said something or when it was asked for.
    Seen(Seen),
    /// The process of an agent has ended.
    Left(InstanceId),
    /// The tmux server is gone, and with it everyone.
    Lost,
}

/// One that has a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Present {
    pub instance: InstanceId,
    /// People who are attached to it.
    pub clients: u32,
    /// Its program has ended; the terminal still shows its last words.
    pub ended: bool,
}

/// What one look has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub instance: InstanceId,
    pub activity: Activity,
    /// The screen is another one than at the look before.
    pub changed: bool,
    /// A number for what the screen shows: the same dialog has the same.
    pub face: u64,
    pub last_line: Option<String>,
}

/// A watcher at work. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Watcher {
    wishes: Sender<Wish>,
    waker: Waker,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug)]
enum Wish {
    /// Something has happened to this instance, or somewhere.
    Knock(Option<InstanceId>),
    Picture {
        instance: InstanceId,
        colours: bool,
        answer: Sender<Option<Screenshot>>,
    },
    /// The settings or the agents have changed.
    GoBy(Arc<Core>),
    End,
}

/// The helper that tmux starts for each pane: it passes its end of the pipe on, and ends.
pub(crate) fn run_pipe(socket: &OsStr, pane: &str) -> ExitCode {
    match send_pipe(Path::new(socket), pane) {
        Ok(()) => ExitCode::SUCCESS,
        // The watcher is gone; the pane is none the worse for it.
        Err(_) => ExitCode::FAILURE,
    }
}

impl Watcher {
    /// Begins to watch everyone who sits at a terminal of this home, now and later.
    pub(in crate::engine) fn start(
        core: Arc<Core>,
        doorbell: Doorbell,
    ) -> Result<(Self, Receiver<Sight>), Error> {
        core.prepare()?;
        let (wishes, heard) = channel();
        let (sights, seen) = channel();
        let (waker, alarm) = alarm::alarm().map_err(Error::files("open", &core.home.run))?;
        let mut watch = watch::Watch::open(core, doorbell, heard, alarm, sights)?;
        let thread = std::thread::Builder::new()
            .name("watcher".to_owned())
            .spawn(move || watch.run())
            .map_err(|source| Error::Files {
                action: "start",
                path: "watcher".into(),
                source,
            })?;
        let watcher = Self {
            wishes,
            waker,
            thread: Some(thread),
        };
        Ok((watcher, seen))
    }

    /// Says that something has happened, to one instance or somewhere: it is looked at again.
    pub(crate) fn knock(&self, instance: Option<&InstanceId>) {
        self.wish(Wish::Knock(instance.cloned()));
    }

    /// Judges what it sees by this engine from now on.
    pub(in crate::engine) fn go_by(&self, core: &Arc<Core>) {
        self.wish(Wish::GoBy(Arc::clone(core)));
    }

    /// The screen of an instance as it is now; None where it has none.
    pub(crate) fn picture(&self, instance: &InstanceId, colours: bool) -> Option<Screenshot> {
        let (answer, picture) = channel();
        self.wish(Wish::Picture {
            instance: instance.clone(),
            colours,
            answer,
        });
        picture.recv_timeout(PICTURE).ok().flatten()
    }

    fn wish(&self, wish: Wish) {
        // A watcher that has ended hears nothing any more.
        drop(self.wishes.send(wish));
        self.waker.wake();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.wish(Wish::End);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
