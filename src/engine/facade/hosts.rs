//! Other machines.

use std::path::{Path, PathBuf};

use crate::engine::*;
use crate::model::{ExportName, InstanceId};

impl Engine {
    pub(crate) fn host_names(&self) -> Vec<HostName> {
        self.core.host_names()
    }

    /// What was last known on hosts, as `HOST:TITLE` and id.
    pub(crate) fn known_on_hosts(&self) -> Vec<(String, String)> {
        self.core.known_on_hosts()
    }

    pub(crate) fn hosts(&self) -> Result<Vec<HostView>, Error> {
        self.core.hosts()
    }

    /// Returns the place of its file.
    pub(crate) fn add_host(
        &self,
        name: &HostName,
        settings: HostSettings,
    ) -> Result<PathBuf, Error> {
        self.core.add_host(name, settings)
    }

    /// Nothing on the host is changed. Refused while it has instances of this machine, unless by force.
    pub(crate) fn remove_host(&self, name: &HostName, force: bool) -> Result<(), Error> {
        self.core.remove_host(name, force)
    }

    pub(crate) fn check_host(&self, name: &HostName) -> Result<HostCheck, Error> {
        self.core.check_host(name)
    }

    /// Sends this very program to a host. Returns its version there.
    pub(crate) fn install_on_host(&self, name: &HostName) -> Result<String, Error> {
        self.core.install_on_host(name)
    }

    /// The host and the instance there, if `HOST:INSTANCE` was given and there is such a host.
    pub(crate) fn on_host(&self, given: &str) -> Result<Option<(HostName, String)>, Error> {
        self.core.on_host(given)
    }

    /// Carries out a command line on a host and returns its exit status.
    pub(crate) fn pass_to_host(&self, name: &HostName, passing: &Passing) -> Result<u8, Error> {
        self.core.pass_to_host(name, passing)
    }

    /// Carries out a command line on a host and returns what it printed, with nobody there to be asked.
    pub(crate) fn ask_host(
        &self,
        name: &HostName,
        question: HostQuestion,
    ) -> Result<HostReply, Error> {
        self.core.ask_host(name, question)
    }

    /// What was last known of all hosts; none is asked.
    pub(crate) fn last_known_of_hosts(&self) -> Vec<HostListing> {
        self.core.last_known_of_hosts()
    }

    /// The instances of hosts.
    pub(crate) fn list_hosts(
        &self,
        which: &WhichHosts,
        freshness: Freshness,
    ) -> Result<Vec<HostListing>, Error> {
        self.core.list_hosts(which, freshness)
    }

    /// The hosts that are meant, in their order.
    pub(crate) fn meant_hosts(&self, which: &WhichHosts) -> Vec<HostName> {
        self.core.meant_hosts(which)
    }

    /// What has happened on hosts so far.
    pub(crate) fn events_of_hosts(
        &self,
        which: &WhichHosts,
        since: Option<&str>,
    ) -> Vec<HostEvents> {
        self.core.events_of_hosts(which, since)
    }

    /// Passes on what happens on a host, until `take` says that it is enough.
    pub(crate) fn follow_host(
        &self,
        name: &HostName,
        since: Option<&str>,
        take: &(dyn Fn(Result<String, String>) -> bool + Sync),
    ) {
        self.core.follow_host(name, since, take);
    }

    /// Sends what a new instance on a host starts from.
    pub(crate) fn send_commits(
        &self,
        host: &HostName,
        directory: &Path,
        base: Option<&str>,
    ) -> Result<Carried, Error> {
        self.core.send_commits(host, directory, base)
    }

    /// The other side of [`Self::send_commits`].
    pub(crate) fn receive(
        &self,
        key: &RepositoryKey,
        receive: &Receive,
        input: impl std::io::Read,
    ) -> Result<RepositoryThere, Error> {
        self.core.receive(key, receive, input)
    }

    /// What `--to` means for an instance: a git remote, a directory or a host.
    pub(crate) fn remote_for_export(&self, instance: &str, given: &str) -> Result<Remote, Error> {
        self.core.remote_for_export(instance, given)
    }

    /// What `--from` means in a repository.
    pub(crate) fn remote_for_import(
        &self,
        repository: &Path,
        given: &str,
    ) -> Result<Remote, Error> {
        self.core.remote_for_import(repository, given)
    }

    /// Puts an export on a remote, encrypted.
    pub(crate) fn export_to(
        &self,
        prepared: &PreparedExport,
        remote: &Remote,
        key: Option<&Path>,
        replace: bool,
    ) -> Result<Exported, Error> {
        self.core.export_to(prepared, remote, key, replace)
    }

    /// An instance arrives from a remote, paused: the one of this name, or the only one.
    pub(crate) fn import_from(
        &self,
        remote: &Remote,
        given: Option<&str>,
        options: &ImportOptions,
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        self.core.import_from(remote, given, options, progress)
    }

    /// The exports that other machines have put here.
    pub(crate) fn exports_here(&self) -> Result<Vec<ExportName>, Error> {
        self.core.exports_here()
    }

    /// Keeps the export of another machine.
    pub(crate) fn keep_export(
        &self,
        name: &ExportName,
        hash: &str,
        replace: bool,
        content: &mut dyn std::io::Read,
    ) -> Result<(), Error> {
        self.core.keep_export(name, hash, replace, content)
    }

    pub(crate) fn open_export(&self, name: &ExportName) -> Result<std::fs::File, Error> {
        self.core.open_export(name)
    }

    /// Moves an instance to a host, or ends a move there that was cut off.
    pub(crate) fn move_to(
        &self,
        given: &str,
        host: &HostName,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Moved, Error> {
        self.core.move_to(given, host, options, progress)
    }

    /// Brings an instance back from the host that has it.
    pub(crate) fn take_back(
        &self,
        given: &str,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Moved, Error> {
        self.core.take_back(given, options, progress)
    }

    /// The same, and if the host cannot be asked, what is kept here is taken.
    pub(crate) fn take_back_by_force(
        &self,
        given: &str,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Moved, Error> {
        self.core.take_back_by_force(given, options, progress)
    }

    /// The instance here that is this one on a host.
    pub(crate) fn known_as(&self, host: &HostName, given: &str) -> Result<InstanceId, Error> {
        self.core.known_as(host, given)
    }

    /// Moves all instances of this machine, or all that were moved to a host.
    pub(crate) fn drain(
        &self,
        from: Option<&HostName>,
        to: &DrainTo,
        options: MoveOptions,
        progress: &mut dyn Progress,
    ) -> Result<Bulk<Moved>, Error> {
        self.core.drain(from, to, options, progress)
    }

    /// The other side of a move: it arrives here and is not used yet.
    pub(crate) fn arrive_offered(
        &self,
        input: &mut (dyn std::io::Read + Send),
        offer: &Offer,
        progress: &mut dyn Progress,
    ) -> Result<Arrived, Error> {
        self.core.arrive_offered(input, offer, progress)
    }

    /// The other side of a way back: it is made ready and gathered.
    pub(crate) fn prepare_departure(
        &self,
        given: &str,
        options: ExportOptions,
        progress: &mut dyn Progress,
    ) -> Result<PreparedExport, Error> {
        self.core.prepare_departure(given, options, progress)
    }

    pub(crate) fn lease_of(&self, given: &str) -> Result<LeaseView, Error> {
        self.core.lease_of(given)
    }

    pub(crate) fn claim(&self, given: &str, number: u64) -> Result<LeaseView, Error> {
        self.core.claim(given, number)
    }

    pub(crate) fn release(
        &self,
        given: &str,
        number: u64,
        fetched: Option<&str>,
    ) -> Result<Release, Error> {
        self.core.release(given, number, fetched)
    }

    /// Asks all hosts and keeps their answers.
    pub(crate) fn renew_hosts(&self) -> Result<(), Error> {
        self.core.renew_hosts()
    }
}
