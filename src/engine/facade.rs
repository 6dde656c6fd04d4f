//! What the faces may call. Each method is one line: the work is done in the rooms.

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

    /// Takes over the sessions of Claude Squad, from its usual state file or from this one.
    pub(crate) fn import_claude_squad(
        &self,
        file: Option<&Path>,
        dry_run: bool,
        progress: &mut dyn Progress,
    ) -> Result<Takeover, Error> {
        self.core.import_claude_squad(file, dry_run, progress)
    }

    /// All living instances, or those that were killed; newest activity first.
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

    /// A view with its changes counted, for those that come without.
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

    /// Attaches this terminal; comes back when the person leaves or the session ends.
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
    ) -> Result<Asked, Error> {
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
    ) -> Result<Asked, Error> {
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

    /// Brings a killed instance back as paused, as long as its work is kept. Where its title is another's
    /// by now, it comes back under a free one; where its branch is, it stays killed.
    pub(crate) fn undo_kill(&self, given: &str) -> Result<Restored, Error> {
        self.core.undo_kill(given)
    }

    /// The instances that are meant, each once. One that is not there is said before any is touched.
    pub(crate) fn find_each(&self, given: &[String]) -> Result<Vec<(InstanceId, Title)>, Error> {
        self.core.find_each(given)
    }

    /// Pauses these. All are asked at once, because each has a turn of its own to finish.
    pub(crate) fn pause_each(
        &self,
        ids: &[InstanceId],
        options: &PauseOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<Asked> {
        self.core.pause_each(ids, options, progress)
    }

    /// Resumes these, a few at a time: an agent that starts takes what the machine has.
    pub(crate) fn resume_each(
        &self,
        ids: &[InstanceId],
        options: &ResumeOptions,
        progress: &mut dyn Progress,
    ) -> Bulk<Asked> {
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

    /// Asks every running instance at once, waits for all of them together, and writes down who they
    /// were. Cut off by a crash, it is continued by saying it again.
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

    /// Whether everything is to rest: then no queue is fed and nothing is started by a timer.
    pub(crate) fn camp_is_paused(&self) -> Result<bool, Error> {
        self.core.camp_is_paused()
    }

    pub(crate) fn camp(&self) -> Result<CampView, Error> {
        self.core.camp()
    }

    /// Pauses an instance that is idle, with its worktree kept. A person always wins: whoever is
    /// attached, types or sends holds the presence lock, which is only ever tried for here. It is let
    /// go of as soon as the pause is in the journal; a message that comes then waits for the pause to
    /// be done and wakes the instance again.
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

    /// Thins and drops by the rules of `snapshots`; with `dry_run` only says what it would do. What
    /// fails for one instance or repository is no reason not to look after the others.
    pub(crate) fn gc(&self, dry_run: bool) -> Result<Collection, Error> {
        self.core.gc(dry_run)
    }

    /// Brings everyone to rest: abandoned operations are taken up, agents that have ended are written
    /// down. tmux is asked once. Gives back, in words, what could not be mended now.
    pub(crate) fn settle_everyone(&self) -> Result<Vec<String>, Error> {
        self.core.settle_everyone()
    }

    // Talk

    /// Types a prompt and submits it, exactly. An agent that is busy gets it next, by its queue. It is on
    /// disk before anything is waited for: only an error, or taking it back, takes it out again.
    pub(crate) fn send(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<Sent, Error> {
        self.core.send(given, prompt, progress)
    }

    /// The same, however long the agent is busy.
    pub(crate) fn send_now(
        &self,
        given: &str,
        prompt: &str,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        self.core.send_now(given, prompt, progress)
    }

    /// Takes back the last prompt that was sent and still waits. None where none does.
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

    /// Gives the next prompt to an agent that is at rest. One that was put to sleep by a timer is
    /// woken first; one that a person has paused is left alone, and so is a paused camp.
    pub(crate) fn feed_queue(&self, id: &InstanceId) -> Result<Fed, Error> {
        self.core.feed_queue(id)
    }

    /// Writes down how the turn that a queue has begun ended.
    pub(crate) fn finish_turn(&self, id: &InstanceId, end: TurnEnd) -> Result<(), Error> {
        self.core.finish_turn(id, end)
    }

    /// A prompt whose delivery was cut off by a crash: nobody knows whether it arrived, and it must
    /// not be typed twice. Its person is told to look.
    pub(crate) fn recover_queue(&self, id: &InstanceId) -> Result<bool, Error> {
        self.core.recover_queue(id)
    }

    /// The conversation of an instance, brought up to date first. Killed ones have theirs too.
    pub(crate) fn log(&self, given: &str, from: LogFrom) -> Result<Log<'_>, Error> {
        self.core.log(given, from)
    }

    /// Sums up all but the last entries of a conversation. The whole of it stays in an archive.
    pub(crate) fn compact(&self, given: &str) -> Result<Compaction, Error> {
        self.core.compact(given)
    }

    /// The same for one that has grown long and rests: paused, or idle for long enough.
    pub(crate) fn compact_if_due(
        &self,
        given: &str,
        idle: Option<Duration>,
    ) -> Result<Option<Compaction>, Error> {
        self.core.compact_if_due(given, idle)
    }

    // Autoyes

    /// How it stands.
    pub(crate) fn autoyes(&self, given: &str) -> Result<AutoyesState, Error> {
        self.core.autoyes(given)
    }

    /// Switches it on, for as long as the policy says or as is asked for.
    pub(crate) fn autoyes_on(
        &self,
        given: &str,
        lasts: Option<Duration>,
    ) -> Result<AutoyesState, Error> {
        self.core.autoyes_on(given, lasts)
    }

    /// Switches it off, at once: nothing that is under way is waited for.
    pub(crate) fn autoyes_off(&self, given: &str) -> Result<AutoyesState, Error> {
        self.core.autoyes_off(given)
    }

    /// What would be done about this screen, and why.
    pub(crate) fn policy_check(
        &self,
        agent: &str,
        capture: &str,
        worktree: &Path,
    ) -> Result<PolicyCheck, Error> {
        self.core.policy_check(agent, capture, worktree)
    }

    /// What the policy says to a command or a path, without a screen.
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

    /// Looks at an instance and answers the dialog that it shows, if the policy says so and nobody is
    /// there. At most one answer is given, and none that is not in the audit already.
    pub(crate) fn answer_dialog(&self, given: &str) -> Result<AutoyesAnswer, Error> {
        self.core.answer_dialog(given)
    }

    /// What autoyes has decided, of one instance or of all, and whether the log is whole.
    pub(crate) fn audit(&self, given: Option<&str>) -> Result<Audit, Error> {
        self.core.audit(given)
    }

    // Watching

    /// Begins to watch every agent of this home, those that come later too.
    pub(crate) fn watch(&self, doorbell: Doorbell) -> Result<(Watcher, Receiver<Sight>), Error> {
        Watcher::start(Arc::clone(&self.core), doorbell)
    }

    /// Lets a watcher judge what it sees by this engine's settings and agents from now on.
    pub(crate) fn guide(&self, watcher: &Watcher) {
        watcher.go_by(&self.core);
    }

    /// The instances that have come, gone or changed since the roster was asked last.
    pub(crate) fn changed(&self, roster: &mut Roster) -> Vec<InstanceId> {
        roster.changed(&self.core)
    }

    /// Whether this instance has changed since the roster was asked last.
    pub(crate) fn has_changed(&self, roster: &mut Roster, id: &InstanceId) -> bool {
        roster.has_changed(&self.core, id)
    }

    /// Writes down that an agent does something else now.
    pub(crate) fn tell_activity(
        &self,
        id: &InstanceId,
        activity: Activity,
        previous: Option<Activity>,
    ) {
        self.core.tell_activity(id, activity, previous)
    }

    /// Writes down that more agents run than is wanted.
    pub(crate) fn tell_crowded(&self, running: usize) {
        self.core.tell_crowded(running)
    }

    /// Everything that was ever written down and is still kept, and what will be.
    pub(crate) fn events_from_start(&self) -> Result<Events, Error> {
        self.core.events_from_start()
    }

    /// Only what will be written down from now on.
    pub(crate) fn events_from_now(&self) -> Result<Events, Error> {
        self.core.events_from_now()
    }

    /// Where the daemon listens for messages of one word: the id of an instance to look at.
    pub(crate) fn bell_path(&self) -> PathBuf {
        self.core.bell_path()
    }

    /// Begins to listen for such messages.
    pub(crate) fn hang_up_bell(&self) -> Result<UnixDatagram, Error> {
        self.core.hang_up_bell()
    }

    /// How an instance stands; None: it is killed, was never there, or cannot be read.
    pub(crate) fn standing(&self, id: &InstanceId) -> Option<Standing> {
        self.core.standing(id)
    }

    /// How much memory everything that runs on behalf of these instances holds.
    pub(crate) fn memory_of_all(&self, ids: &[InstanceId]) -> u64 {
        self.core.memory_of_all(ids)
    }

    /// The screen of an instance, with so many lines of what has scrolled away above it.
    pub(crate) fn glimpse(&self, id: &InstanceId, above: usize) -> Result<Glimpse, Error> {
        self.core.glimpse(id, above)
    }

    /// The repository that a directory belongs to.
    pub(crate) fn repository_at(&self, directory: &Path) -> Result<PathBuf, Error> {
        self.core.repository_at(directory)
    }

    /// Tells it in every way that was asked for; gives back what did not work.
    pub(crate) fn notify(&self, notification: &Notification) -> Vec<String> {
        self.core.notify(notification)
    }

    /// Looked at, not read.
    pub(crate) fn sources(&self) -> Sources {
        self.core.sources()
    }

    /// Titles and ids of the living, for completion.
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

    /// Refuses what a process inside an instance may not do. `targets` are the instances that it is
    /// about, as they were typed.
    pub(crate) fn require(&self, verb: Verb, targets: &[String]) -> Result<(), Error> {
        self.core.require(verb, targets)
    }

    /// Takes the lock of the daemon; an error says who has it.
    pub(crate) fn lock_daemon(&self) -> Result<DaemonLock, Error> {
        self.core.lock_daemon()
    }

    /// Whether somebody has it.
    pub(crate) fn daemon_lock_is_held(&self) -> bool {
        self.core.daemon_lock_is_held()
    }

    /// The process that has it, as far as it has said so; None where nobody has it.
    pub(crate) fn daemon_lock_holder(&self) -> Option<Option<u32>> {
        self.core.daemon_lock_holder()
    }

    pub(crate) fn daemon_socket(&self) -> PathBuf {
        self.core.daemon_socket()
    }

    pub(crate) fn daemon_log(&self) -> PathBuf {
        self.core.daemon_log()
    }

    /// Opens the socket for requests. Whoever has the lock owns the place.
    pub(crate) fn open_daemon_socket(&self, _lock: &DaemonLock) -> Result<UnixListener, Error> {
        self.core.open_daemon_socket(_lock)
    }

    /// A connection to the daemon of this home.
    pub(crate) fn connect_to_daemon(&self) -> std::io::Result<UnixStream> {
        self.core.connect_to_daemon()
    }

    /// Who is at the other end.
    pub(crate) fn peer(&self, stream: &UnixStream) -> Peer {
        self.core.peer(stream)
    }

    /// Starts a daemon for this home that outlives this process. What says that a process belongs to
    /// an instance or sits at a terminal is not passed on: it belongs to nobody.
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

    /// The two programs that everything stands on.
    pub(crate) fn programs(&self) -> Vec<Finding> {
        self.core.programs()
    }

    /// The bundle, as text.
    pub(crate) fn bundle(&self, findings: &[Finding]) -> Result<String, Error> {
        self.core.bundle(findings)
    }

    /// Presses a key in an agent's pane, as a person who is attached would.
    pub(crate) fn press_key(&self, given: &str, key: &str) -> Result<(), Error> {
        self.core.press_key(given, key)
    }

    /// Stages one file, as a person would.
    pub(crate) fn stage(&self, given: &str, file: &str) -> Result<(), Error> {
        self.core.stage(given, file)
    }

    /// What git says of the files of an instance, in its short form.
    pub(crate) fn status(&self, given: &str) -> Result<String, Error> {
        self.core.status(given)
    }
}
