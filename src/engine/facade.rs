//! What the command line, the UI and the daemon may call. Each method is one line; the work is done
//! in the rooms.

use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::config::{self, Home};
use crate::detect::Verdict;
use crate::engine::autoyes::AutoyesAnswer;
use crate::engine::base::Core;
use crate::engine::base::daemon_lock::DaemonLock;
use crate::engine::operate::attach::Attached;
use crate::engine::operate::push::Pushed;
use crate::engine::operate::repo_moved::RepositoryMove;
use crate::engine::*;
use crate::model::{Activity, InstanceId, PauseReason, RestingState, State, Title, TurnEnd};
use crate::store::Audit;

#[derive(Debug)]
pub(crate) struct Engine {
    core: Arc<Core>,
}

impl Engine {
    /// Reads the configuration of a home. Nothing is made or changed by that.
    pub(crate) fn open(home: Home) -> Result<Self, Error> {
        Ok(Self {
            core: Arc::new(Core::open(home)?),
        })
    }

    // Opening a home

    /// The same home with its settings, agents and versions as they are now.
    pub(crate) fn reopened(&self) -> Result<Self, Error> {
        Ok(Self {
            core: Arc::new(self.core.reopened()?),
        })
    }

    pub(crate) fn config(&self) -> &config::LoadedConfig {
        self.core.config()
    }

    // Instances

    pub(crate) fn create(
        &self,
        asked: NewInstance,
        progress: &mut dyn Progress,
    ) -> Result<InstanceView, Error> {
        self.core.create(asked, progress)
    }

    /// Creates several, each with its own title.
    pub(crate) fn create_each(
        &self,
        asked: &[NewInstance],
        progress: &mut dyn Progress,
    ) -> Bulk<InstanceView> {
        self.core.create_each(asked, progress)
    }

    pub(crate) fn adopt(
        &self,
        asked: Adoption,
        progress: &mut dyn Progress,
    ) -> Result<InstanceView, Error> {
        self.core.adopt(asked, progress)
    }

    /// Imports the sessions of Claude Squad, from its usual state file or from this one.
    pub(crate) fn import_claude_squad(
        &self,
        file: Option<&Path>,
        dry_run: bool,
        progress: &mut dyn Progress,
    ) -> Result<ImportReport, Error> {
        self.core.import_claude_squad(file, dry_run, progress)
    }

    /// All instances that are not killed, or only the killed ones; newest activity first.
    pub(crate) fn list(
        &self,
        state: Option<State>,
        repository: Option<&Path>,
    ) -> Result<Listing, Error> {
        self.core.list(state, repository)
    }

    /// One instance, killed ones too.
    pub(crate) fn show(&self, given: &str) -> Result<InstanceView, Error> {
        self.core.show(given)
    }

    /// The history of an instance, oldest run first.
    pub(crate) fn runs(&self, given: &str) -> Result<RunHistory, Error> {
        self.core.runs(given)
    }

    /// The agents that are known, with what is installed of them.
    pub(crate) fn agents(&self) -> Result<Vec<AgentView>, Error> {
        self.core.agents()
    }

    /// What an agent's screen shows, by the rules of that agent.
    pub(crate) fn detect(
        &self,
        agent: &str,
        capture: &str,
        title: Option<&str>,
    ) -> Result<Verdict, Error> {
        self.core.detect(agent, capture, title)
    }

    /// Adds the counted changes to a view that lacks them.
    pub(crate) fn with_changes(&self, view: InstanceView) -> InstanceView {
        self.core.with_changes(view)
    }

    /// The last lines of an agent's screen; of one that does not run, from what was saved.
    pub(crate) fn peek(&self, given: &str, lines: usize, colours: bool) -> Result<String, Error> {
        self.core.peek(given, lines, colours)
    }

    /// Saves the screen of a running agent, so that something is left of it when its server goes away.
    pub(crate) fn save_screen(&self, id: &InstanceId, at_rest: bool) -> Result<(), Error> {
        self.core.save_screen(id, at_rest)
    }

    /// What the instance changed against its base, committed or not.
    pub(crate) fn diff(
        &self,
        given: &str,
        output: DiffOutput,
        coloured: bool,
    ) -> Result<Vec<u8>, Error> {
        self.core.diff(given, output, coloured)
    }

    /// Attaches this terminal; returns when the user detaches or the session ends.
    pub(crate) fn attach(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<Attached, Error> {
        self.core.attach(given, progress)
    }

    /// Looks again and again until the instance is as wanted; gives the last look either way.
    pub(crate) fn wait_until(
        &self,
        given: &str,
        limit: Duration,
        wanted: impl Fn(&InstanceView) -> bool,
    ) -> Result<(InstanceView, bool), Error> {
        self.core.wait_until(given, limit, wanted)
    }

    /// Pushes what is committed on the branch of an instance; what is not, stays here. The branch is
    /// the repository's, so a paused instance has it too.
    pub(crate) fn push(&self, given: &str) -> Result<Pushed, Error> {
        self.core.push(given)
    }

    // Pause, resume, restart, kill

    pub(crate) fn pause(
        &self,
        given: &str,
        options: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Result<StateChange, Error> {
        self.core.pause(given, options, progress)
    }

    /// Takes back a pause that still waits for the agent's turn to end.
    pub(crate) fn cancel_pause(&self, given: &str) -> Result<InstanceView, Error> {
        self.core.cancel_pause(given)
    }

    /// Brings an instance back because a user wants it: that ends a pause of the whole camp.
    pub(crate) fn resume(
        &self,
        given: &str,
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Result<StateChange, Error> {
        self.core.resume(given, options, progress)
    }

    /// Saves the work, then starts a new agent session with the original prompt, as a new run.
    pub(crate) fn restart(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<InstanceView, Error> {
        self.core.restart(given, progress)
    }

    /// Ends session, processes and worktree. The work is saved first and can be brought back.
    pub(crate) fn kill(
        &self,
        given: &str,
        options: KillOptions,
        progress: &mut dyn Progress,
    ) -> Result<Killed, Error> {
        self.core.kill(given, options, progress)
    }

    /// Restores a killed instance as paused, as long as its work is kept. If its title is taken by now, it
    /// gets a free one; if its branch is taken, it stays killed.
    pub(crate) fn undo_kill(&self, given: &str) -> Result<Restored, Error> {
        self.core.undo_kill(given)
    }

    /// The named instances, each once. One that does not exist is an error before any is changed.
    pub(crate) fn find_each(&self, given: &[String]) -> Result<Vec<(InstanceId, Title)>, Error> {
        self.core.find_each(given)
    }

    /// Pauses these, all at once, because each has its own turn to finish.
    pub(crate) fn pause_each(
        &self,
        ids: &[InstanceId],
        options: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<StateChange> {
        self.core.pause_each(ids, options, progress)
    }

    /// Resumes these, a few at a time: an agent that starts uses much of the machine.
    pub(crate) fn resume_each(
        &self,
        ids: &[InstanceId],
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<StateChange> {
        self.core.resume_each(ids, options, progress)
    }

    /// Kills these.
    pub(crate) fn kill_each(
        &self,
        ids: &[InstanceId],
        options: KillOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<Killed> {
        self.core.kill_each(ids, options, progress)
    }

    /// Pauses all running instances at the same time, and records which they were. After a crash the
    /// same command continues it.
    pub(crate) fn pause_all(
        &self,
        options: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Result<Camp, Error> {
        self.core.pause_all(options, progress)
    }

    /// Brings back exactly those that were running when the camp was paused, and all that were
    /// interrupted: those of a machine that has gone down, for example.
    pub(crate) fn resume_all(
        &self,
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Result<Camp, Error> {
        self.core.resume_all(options, progress)
    }

    /// Whether the camp is paused: then no queue is fed and no timer starts anything.
    pub(crate) fn camp_is_paused(&self) -> Result<bool, Error> {
        self.core.camp_is_paused()
    }

    pub(crate) fn camp(&self) -> Result<CampView, Error> {
        self.core.camp()
    }

    /// Pauses an idle instance and keeps its worktree in place. The user always wins: a client that is
    /// attached, types or sends holds the presence lock, which is only tried for here. The lock is
    /// released as soon as the pause is in the journal. A message that comes then waits for the pause
    /// to end and wakes the instance again.
    pub(crate) fn suspend(&self, id: &InstanceId, reason: PauseReason) -> Result<Suspended, Error> {
        self.core.suspend(id, reason)
    }

    /// Sets how long an instance may be idle before it is paused; None: never; or takes the setting
    /// back, so that the configuration decides.
    pub(crate) fn set_idle_timeout(
        &self,
        given: &str,
        timeout: IdleTimeout,
    ) -> Result<crate::engine::base::view::InstanceView, Error> {
        self.core.set_idle_timeout(given, timeout)
    }

    /// Thins and deletes by the rules of `snapshots`; with `dry_run` only reports what it would do. A
    /// failure for one instance or repository does not stop the others.
    pub(crate) fn gc(&self, dry_run: bool) -> Result<Collection, Error> {
        self.core.gc(dry_run)
    }

    /// Settles all instances: abandoned operations are recovered, agents that have ended are recorded.
    /// tmux is asked once. Returns one line of text for each instance that could not be settled.
    pub(crate) fn settle_all(&self) -> Result<Vec<String>, Error> {
        self.core.settle_all()
    }

    // Talk

    /// Types a prompt, exactly as given, and submits it. If the agent is busy, the prompt becomes the
    /// next in its queue. It is on disk before anything is waited for; only an error, or `unsend`,
    /// takes it out again.
    pub(crate) fn send(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<Sent, Error> {
        self.core.send(given, prompt, progress)
    }

    /// As `send`, but waits however long the agent is busy.
    pub(crate) fn send_now(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        self.core.send_now(given, prompt, progress)
    }

    /// Takes back the last prompt that was sent and still waits; None if none does.
    pub(crate) fn unsend(&self, given: &str) -> Result<Option<String>, Error> {
        self.core.unsend(given)
    }

    pub(crate) fn queue(&self, given: &str) -> Result<QueueView, Error> {
        self.core.queue(given)
    }

    /// Puts prompts at the end of an instance's queue.
    pub(crate) fn enqueue(&self, given: &str, prompts: Vec<String>) -> Result<QueueView, Error> {
        self.core.enqueue(given, prompts)
    }

    /// Takes out everything but the prompt that is being worked on.
    pub(crate) fn clear_queue(&self, given: &str) -> Result<QueueView, Error> {
        self.core.clear_queue(given)
    }

    /// Types the next queued prompt to an agent that is at rest. An instance that the idle timer has
    /// paused is woken first; one that the user has paused is left alone, and so is a paused camp.
    pub(crate) fn feed_queue(&self, id: &InstanceId) -> Result<FeedResult, Error> {
        self.core.feed_queue(id)
    }

    /// Records how the turn ended that was started from the queue.
    pub(crate) fn finish_turn(&self, id: &InstanceId, end: TurnEnd) -> Result<(), Error> {
        self.core.finish_turn(id, end)
    }

    /// Handles a prompt whose delivery was cut off by a crash. It is not known whether it arrived, and
    /// it must not be typed twice, so the user is told to look.
    pub(crate) fn recover_queue(&self, id: &InstanceId) -> Result<bool, Error> {
        self.core.recover_queue(id)
    }

    /// The conversation of an instance, brought up to date first. Killed ones have theirs too.
    pub(crate) fn log(&self, given: &str, from: LogFrom) -> Result<Log<'_>, Error> {
        self.core.log(given, from)
    }

    /// Replaces all but the last entries of a conversation by a summary. An archive keeps the whole.
    pub(crate) fn compact(&self, given: &str) -> Result<Compaction, Error> {
        self.core.compact(given)
    }

    /// As `compact`, for a conversation that has grown long and whose agent is paused or long idle.
    pub(crate) fn compact_if_due(
        &self,
        given: &str,
        idle: Option<Duration>,
    ) -> Result<Option<Compaction>, Error> {
        self.core.compact_if_due(given, idle)
    }

    // Autoyes

    /// Whether autoyes is on for an instance, and until when.
    pub(crate) fn autoyes(&self, given: &str) -> Result<AutoyesState, Error> {
        self.core.autoyes(given)
    }

    /// Switches autoyes on, for as long as the policy or the caller says.
    pub(crate) fn autoyes_on(
        &self,
        given: &str,
        lasts: Option<Duration>,
    ) -> Result<AutoyesState, Error> {
        self.core.autoyes_on(given, lasts)
    }

    /// Switches autoyes off at once, without waiting for an operation in progress.
    pub(crate) fn autoyes_off(&self, given: &str) -> Result<AutoyesState, Error> {
        self.core.autoyes_off(given)
    }

    /// The decision about this screen, and the reason.
    pub(crate) fn policy_check(
        &self,
        agent: &str,
        capture: &str,
        worktree: &Path,
    ) -> Result<PolicyCheck, Error> {
        self.core.policy_check(agent, capture, worktree)
    }

    /// The policy's decision about a command or a path, without a screen.
    pub(crate) fn policy_explain(
        &self,
        agent: &str,
        asked: PolicyQuestion<'_>,
        worktree: &Path,
    ) -> Result<PolicyAnswer, Error> {
        self.core.policy_explain(agent, asked, worktree)
    }

    /// Tries the examples of every rule in force, built-in ones too.
    pub(crate) fn policy_test(&self, worktree: &Path) -> Result<PolicyTest, Error> {
        self.core.policy_test(worktree)
    }

    /// Looks at an instance and answers the dialog that it shows, if the policy says so and no client is
    /// attached or typing. At most one answer is given, and only after it is in the audit.
    pub(crate) fn answer_dialog(&self, given: &str) -> Result<AutoyesAnswer, Error> {
        self.core.answer_dialog(given)
    }

    /// What autoyes has decided, of one instance or of all, and whether the log is whole.
    pub(crate) fn audit(&self, given: Option<&str>) -> Result<Audit, Error> {
        self.core.audit(given)
    }

    // Watching

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
    ) {
        self.core.emit_activity(id, activity, previous)
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

    // Permissions and the daemon

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

    // Repositories, health, demonstration

    /// Makes a repository with one commit in an empty directory.
    pub(crate) fn make_playground(directory: &Path) -> Result<(), Error> {
        Core::make_playground(directory)
    }

    /// `biv repo moved`: every instance of the repository that was at `old` follows it to `new`.
    pub(crate) fn repository_moved(&self, old: &Path, new: &Path) -> Result<RepositoryMove, Error> {
        self.core.repository_moved(old, new)
    }

    /// Looks at everything; with `fix`, mends what can be mended without risk.
    pub(crate) fn doctor(&self, fix: bool) -> Result<Vec<Finding>, Error> {
        self.core.doctor(fix)
    }

    /// The two programs that everything needs: git and tmux.
    pub(crate) fn programs(&self) -> Vec<Finding> {
        self.core.programs()
    }

    /// The bundle, as text.
    pub(crate) fn bundle(&self, findings: &[Finding]) -> Result<String, Error> {
        self.core.bundle(findings)
    }

    /// Presses a key in an agent's pane, as an attached user would.
    pub(crate) fn press_key(&self, given: &str, key: &str) -> Result<(), Error> {
        self.core.press_key(given, key)
    }

    /// Stages one file, as a user would.
    pub(crate) fn stage(&self, given: &str, file: &str) -> Result<(), Error> {
        self.core.stage(given, file)
    }

    /// What git says of the files of an instance, in its short form.
    pub(crate) fn status(&self, given: &str) -> Result<String, Error> {
        self.core.status(given)
    }
}
