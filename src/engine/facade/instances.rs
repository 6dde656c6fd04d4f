//! Instances: made, looked at, attached to.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::detect::Verdict;
use crate::engine::operate::push::Pushed;
use crate::engine::operate::rename::Renamed;
use crate::engine::*;
use crate::model::{InstanceId, State};

impl Engine {
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

    /// Runs a command in the seal of a directory, on this process's own terminal.
    pub(crate) fn try_seal(&self, asked: &SealTrial<'_>) -> Result<SealTried, Error> {
        self.core.try_seal(asked)
    }

    /// Gathers a paused instance, to be written into any pipe.
    pub(crate) fn prepare_export(
        &self,
        given: &str,
        options: ExportOptions,
    ) -> Result<PreparedExport, Error> {
        self.core.prepare_export(given, options)
    }

    /// An instance of another home arrives from a file, paused; `-` is standard input.
    pub(crate) fn import_file(
        &self,
        path: &std::path::Path,
        options: &ImportOptions,
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        self.core.import_file(path, options, progress)
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

    /// All that are not killed, without their changes, which take most of the time.
    pub(crate) fn list_briefly(&self) -> Result<Listing, Error> {
        self.core.list_briefly()
    }

    /// Gives an instance another title.
    pub(crate) fn rename(&self, given: &str, title: &str) -> Result<Renamed, Error> {
        self.core.rename(given, title)
    }

    /// The worktree of an instance that has one in place.
    pub(crate) fn worktree_path(&self, given: &str) -> Result<PathBuf, Error> {
        self.core.worktree_path(given)
    }

    /// Runs a command in the worktree of an instance, in this terminal and with the environment of its
    /// agent. The idle timer leaves the instance alone meanwhile. Returns its exit status, as a shell
    /// reports it.
    pub(crate) fn run_in_worktree(&self, given: &str, command: &[OsString]) -> Result<u8, Error> {
        self.core.run_in_worktree(given, command)
    }

    /// One instance, killed ones too.
    pub(crate) fn show(&self, given: &str) -> Result<InstanceView, Error> {
        self.core.show(given)
    }

    /// What its files take on the disk; killed ones too.
    pub(crate) fn sizes(&self, given: &str) -> Result<SizeView, Error> {
        self.core.sizes(given)
    }

    /// The history of an instance, oldest run first.
    pub(crate) fn runs(&self, given: &str) -> Result<RunHistory, Error> {
        self.core.runs(given)
    }

    /// What pauses, restarts, kills and autoyes have saved of an instance.
    pub(crate) fn snapshots(&self, given: &str) -> Result<SnapshotList, Error> {
        self.core.snapshots(given)
    }

    /// Writes the files of a snapshot into a directory that does not exist yet.
    pub(crate) fn write_snapshot(
        &self,
        given: &str,
        snapshot: &str,
        directory: &Path,
    ) -> Result<SnapshotWritten, Error> {
        self.core.write_snapshot(given, snapshot, directory)
    }

    /// The agents that are known, with what is installed of them.
    pub(crate) fn agents(&self) -> Result<Vec<AgentView>, Error> {
        self.core.agents()
    }

    /// The same without asking a program: only versions that are remembered.
    pub(crate) fn agents_at_once(&self) -> Result<Vec<AgentView>, Error> {
        self.core.agents_at_once()
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

    /// Makes the next look at an instance count its changes again.
    pub(crate) fn recount(&self, id: &InstanceId) {
        self.core.recount(id)
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

    /// Attaches this terminal to the user's shell in the worktree, which is started if there is none.
    pub(crate) fn shell(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<Attached, Error> {
        self.core.shell(given, progress)
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
}
