//! Watching, events and the daemon.

use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::engine::base::daemon_lock::DaemonLock;
use crate::engine::*;
use crate::model::{Activity, InstanceId, RestingState, Timestamp, Title};

impl Engine {
    /// Whether a plain command has said nothing for a while. False for agents whose screen tells.
    pub(crate) fn is_quiet(&self, id: &InstanceId) -> Result<bool, Error> {
        self.core.is_quiet(id)
    }

    /// Begins to watch every agent of this home, those that come later too.
    pub(crate) fn watch(&self, pipes: PanePipes) -> Result<(Watcher, Receiver<WatchEvent>), Error> {
        Watcher::start(Arc::clone(&self.core), pipes)
    }

    /// Makes a watcher use this engine's settings and agents from now on.
    pub(crate) fn update_watcher(&self, watcher: &Watcher) {
        watcher.use_core(&self.core);
    }

    /// The instances that have come, gone or changed since the roster was asked last.
    pub(crate) fn changed(&self, roster: &mut Roster) -> Vec<InstanceId> {
        roster.changed(&self.core)
    }

    /// Whether this instance has changed since the roster was asked last.
    pub(crate) fn has_changed(&self, roster: &mut Roster, id: &InstanceId) -> bool {
        roster.has_changed(&self.core, id)
    }

    /// Records that an agent's activity has changed.
    pub(crate) fn emit_activity(
        &self,
        id: &InstanceId,
        activity: Activity,
        previous: Option<Activity>,
        until: Option<Timestamp>,
    ) {
        self.core.emit_activity(id, activity, previous, until)
    }

    /// Records that more agents run than the setting allows.
    pub(crate) fn emit_crowded(&self, running: usize) {
        self.core.emit_crowded(running)
    }

    /// All events that are still kept, and those to come.
    pub(crate) fn events_from_start(&self) -> Result<Events, Error> {
        self.core.events_from_start()
    }

    /// Only the events from now on.
    pub(crate) fn events_from_now(&self) -> Result<Events, Error> {
        self.core.events_from_now()
    }

    /// The socket on which the daemon gets datagrams: each is the id of an instance to look at.
    pub(crate) fn wakeup_path(&self) -> PathBuf {
        self.core.wakeup_path()
    }

    /// Opens that socket.
    pub(crate) fn open_wakeup_socket(&self) -> Result<UnixDatagram, Error> {
        self.core.open_wakeup_socket()
    }

    /// The status of an instance; None if it is killed, does not exist, or cannot be read.
    pub(crate) fn instance_status(&self, id: &InstanceId) -> Option<InstanceStatus> {
        self.core.instance_status(id)
    }

    /// How much memory everything that runs on behalf of these instances holds.
    pub(crate) fn total_memory(&self, ids: &[InstanceId]) -> u64 {
        self.core.total_memory(ids)
    }

    /// The screen of an instance, with so many lines of what has scrolled away above it.
    pub(crate) fn screen_view(&self, id: &InstanceId, above: usize) -> Result<ScreenView, Error> {
        self.core.screen_view(id, above)
    }

    /// The same of the user's shell in the worktree; not live where there is none.
    pub(crate) fn shell_view(&self, id: &InstanceId, above: usize) -> Result<ScreenView, Error> {
        self.core.shell_view(id, above)
    }

    /// The repository that a directory belongs to.
    pub(crate) fn repository_at(&self, directory: &Path) -> Result<PathBuf, Error> {
        self.core.repository_at(directory)
    }

    /// Sends a notification in every configured way; returns what did not work.
    pub(crate) fn notify(&self, notification: &Notification) -> Vec<String> {
        self.core.notify(notification)
    }

    /// The stamps of the files; they are not read.
    pub(crate) fn sources(&self) -> Sources {
        self.core.sources()
    }

    /// Titles and ids of all instances that are not killed, for completion.
    pub(crate) fn names(&self, fits: impl Fn(RestingState) -> bool) -> Vec<(InstanceId, Title)> {
        self.core.names(fits)
    }

    /// The agents that can be named, and what each is called.
    pub(crate) fn agent_names(&self) -> Vec<(String, String)> {
        self.core.agent_names()
    }

    /// The branches of the repository around a directory; none where there is none.
    pub(crate) fn branches(&self, directory: &std::path::Path) -> Vec<String> {
        self.core.branches(directory)
    }

    /// Refuses what a process inside an instance may not do. `targets` are the instances concerned, as
    /// the user typed them.
    pub(crate) fn require(&self, verb: Verb, targets: &[String]) -> Result<(), Error> {
        self.core.require(verb, targets)
    }

    /// Takes the lock of the daemon; the error names the process that holds it.
    pub(crate) fn lock_daemon(&self) -> Result<DaemonLock, Error> {
        self.core.lock_daemon()
    }

    /// Whether a process holds the daemon's lock.
    pub(crate) fn daemon_lock_is_held(&self) -> bool {
        self.core.daemon_lock_is_held()
    }

    /// The process that holds the daemon's lock, if it has written its id; None if the lock is free.
    pub(crate) fn daemon_lock_holder(&self) -> Option<Option<u32>> {
        self.core.daemon_lock_holder()
    }

    pub(crate) fn daemon_socket(&self) -> PathBuf {
        self.core.daemon_socket()
    }

    pub(crate) fn daemon_log(&self) -> PathBuf {
        self.core.daemon_log()
    }

    /// Opens the socket for requests. The caller holds the daemon's lock, so an old socket is replaced.
    pub(crate) fn open_daemon_socket(&self, _lock: &DaemonLock) -> Result<UnixListener, Error> {
        self.core.open_daemon_socket(_lock)
    }

    /// A connection to the daemon of this home.
    pub(crate) fn connect_to_daemon(&self) -> std::io::Result<UnixStream> {
        self.core.connect_to_daemon()
    }

    /// Which kind of process is at the other end.
    pub(crate) fn peer(&self, stream: &UnixStream) -> Peer {
        self.core.peer(stream)
    }

    /// Starts a daemon for this home that outlives this process. Variables that tie a process to an
    /// instance or to a terminal are not passed on.
    pub(crate) fn start_daemon(&self) -> Result<std::process::Child, Error> {
        self.core.start_daemon()
    }
}
