//! What changes an instance: pause, resume, restart, kill, one or many.

use crate::engine::*;
use crate::model::{InstanceId, PauseReason, Title};

impl Engine {
    /// Frees the disk that a killed instance holds, as far as its work is stored.
    pub(crate) fn purge(&self, id: &InstanceId) -> Result<Option<Collected>, Error> {
        self.core.purge(id)
    }

    /// Does the same for each of these, several at a time. A failure does not stop the others.
    pub(crate) fn for_each<T: Send>(
        &self,
        ids: &[InstanceId],
        progress: &mut dyn Progress,
        act: impl Fn(&InstanceId, &mut dyn Progress) -> Result<T, Error> + Sync,
    ) -> Bulk<T> {
        self.core.for_each(ids, progress, act)
    }

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

    /// The prompt that an instance began with, which a restart sends again.
    pub(crate) fn first_prompt(&self, given: &str) -> Result<Option<String>, Error> {
        self.core.first_prompt(given)
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
}
