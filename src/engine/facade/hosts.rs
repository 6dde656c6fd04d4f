//! Other machines.

use std::path::PathBuf;

use crate::engine::*;

impl Engine {
    pub(crate) fn host_names(&self) -> Vec<HostName> {
        self.core.host_names()
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

    /// Nothing on the host is changed.
    pub(crate) fn remove_host(&self, name: &HostName) -> Result<(), Error> {
        self.core.remove_host(name)
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

    /// The instances of hosts.
    pub(crate) fn list_hosts(
        &self,
        which: &WhichHosts,
        freshness: Freshness,
    ) -> Result<Vec<HostListing>, Error> {
        self.core.list_hosts(which, freshness)
    }

    /// Asks all hosts and keeps their answers.
    pub(crate) fn renew_hosts(&self) -> Result<(), Error> {
        self.core.renew_hosts()
    }
}
