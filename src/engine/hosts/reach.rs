//! One host: its settings, what it has, and command lines that it carries out.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::engine::base::{Core, Error, Scope};
use crate::hosts::{
    Bounds, Connector, Host, HostError, HostName, HostSettings, Known, KnownHosts, Passing,
    Question, Registry, Reply, Trouble,
};
use crate::model::{InstanceRecord, RestingState, Timestamp};
use crate::store::ensure_private;

/// How long `host check` and `host install` wait for an answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// One host, as `host list` shows it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HostView {
    pub name: HostName,
    pub connect: Vec<String>,
    /// When it answered last.
    pub answered_at: Option<Timestamp>,
    /// Why it did not answer the last time.
    pub failure: Option<String>,
}

/// What `host check` has found. Later questions are not asked where an earlier one failed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HostCheck {
    pub host: HostName,
    pub ok: bool,
    pub findings: Vec<HostFinding>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct HostFinding {
    /// `reachable`, `git`, `tmux`, `biv`.
    pub what: &'static str,
    pub ok: bool,
    pub detail: String,
}

impl Core {
    pub(in crate::engine) fn registry(&self) -> Registry {
        Registry::new(&self.home.config)
    }

    pub(in crate::engine) fn known_hosts(&self) -> KnownHosts {
        KnownHosts::new(&self.home.state)
    }

    /// The connector of a host.
    pub(in crate::engine) fn connector(&self, name: &HostName) -> Result<Connector, Error> {
        let host = self.registry().get(name)?;
        let connector = Connector::new(host, &self.home.run, &self.host.biv);
        ensure_private(connector.sockets())?;
        Ok(connector)
    }

    pub(crate) fn host_names(&self) -> Vec<HostName> {
        self.registry().names()
    }

    pub(crate) fn hosts(&self) -> Result<Vec<HostView>, Error> {
        let registry = self.registry();
        let known = self.known_hosts();
        let mut views = Vec::new();
        for name in registry.names() {
            let known = known.get(&name);
            views.push(HostView {
                connect: registry.get(&name)?.settings.connect,
                answered_at: known.at,
                failure: known.failure,
                name,
            });
        }
        Ok(views)
    }

    /// Returns the place of its file.
    pub(crate) fn add_host(
        &self,
        name: &HostName,
        settings: HostSettings,
    ) -> Result<PathBuf, Error> {
        let host = Host {
            name: name.clone(),
            settings,
        };
        self.known_hosts().forget(name);
        Ok(self.registry().add(&host)?)
    }

    /// Nothing on the host is changed. Refused while it has instances that were moved there: without the host
    /// they could not be brought back.
    pub(crate) fn remove_host(&self, name: &HostName, force: bool) -> Result<(), Error> {
        let titles = self.moved_to(name)?;
        if !titles.is_empty() && !force {
            let name = name.clone();
            return Err(HostError::HasInstances { name, titles }.into());
        }
        // A file that cannot be read can be removed all the same.
        if let Ok(connector) = self.connector(name) {
            connector.hang_up();
        }
        self.registry().remove(name)?;
        self.known_hosts().forget(name);
        Ok(())
    }

    /// The instances that a host has of this machine.
    fn moved_to(&self, name: &HostName) -> Result<Vec<String>, Error> {
        let there = |record: &InstanceRecord| {
            let lease = record.lease.as_ref()?;
            let host = lease
                .host()
                .filter(|_| record.state == RestingState::Away)?;
            (host.host == name.as_str()).then(|| format!("`{}`", record.title))
        };
        let all = self.all(Scope::Living)?.0;
        Ok(all
            .iter()
            .filter_map(|found| there(&found.record))
            .collect())
    }

    /// The host and the instance there, if `HOST:INSTANCE` was given and there is such a host.
    pub(crate) fn on_host(&self, given: &str) -> Result<Option<(HostName, String)>, Error> {
        let Some((host, instance)) = given.split_once(':') else {
            return Ok(None);
        };
        let Ok(host) = HostName::parse(host) else {
            return Ok(None);
        };
        if !self.host_names().contains(&host) {
            return Ok(None);
        }
        // A title may contain a colon. A whole one is then no prefix by accident.
        let here = self.find(given, Scope::WithKilled);
        if here.is_ok_and(|found| found.record.title.as_str() == given) {
            return Err(HostError::TwoMeanings {
                given: given.to_owned(),
                host,
                instance: instance.to_owned(),
            }
            .into());
        }
        Ok(Some((host, instance.to_owned())))
    }

    /// Carries out a command line on a host and returns its exit status.
    pub(crate) fn pass_to_host(&self, name: &HostName, passing: &Passing) -> Result<u8, Error> {
        let status = self.connector(name)?.pass(passing)?;
        // With a terminal it may be the status of ssh itself.
        if !passing.screen.terminal {
            self.heard_from(name);
        }
        Ok(status)
    }

    /// Carries out a command line on a host and returns what it printed, with nobody there to be asked.
    pub(crate) fn ask_host(&self, name: &HostName, question: Question) -> Result<Reply, Error> {
        let reply = self.connector(name)?.ask(question)?;
        self.heard_from(name);
        Ok(reply)
    }

    /// A host that has answered is not down: the next list asks it again.
    pub(super) fn heard_from(&self, name: &HostName) {
        let known = self.known_hosts();
        if known.standing(name).failed_at.is_none() {
            return;
        }
        let now = Known {
            failed_at: None,
            failure: None,
            ..known.get(name)
        };
        if let Err(error) = known.set(name, &now) {
            tracing::warn!(%error, "that a host has answered was not kept");
        }
    }

    /// How much may be fetched from a host at once, which is stored a second time when it is unpacked; and how
    /// long is waited for it.
    pub(super) fn fetch_bounds(&self) -> Result<Bounds, Error> {
        Ok(Bounds {
            limit: self.arrival_limit(&self.home.run, 2)?.bytes,
            silence: self.settings().hosts.silence,
        })
    }

    pub(crate) fn check_host(&self, name: &HostName) -> Result<HostCheck, Error> {
        let connector = self.connector(name)?;
        let mut check = HostCheck {
            host: name.clone(),
            ok: true,
            findings: Vec::new(),
        };
        let platform = match connector.platform(PATIENCE) {
            Ok(platform) => platform,
            Err(error) => {
                check.put("reachable", Err(told(&error)));
                return Ok(check);
            }
        };
        check.put(
            "reachable",
            Ok(format!("{} {}", platform.system, platform.machine)),
        );
        for (what, version) in [("git", platform.git), ("tmux", platform.tmux)] {
            let missing = || format!("{what} is not installed there");
            let found = Some(version).filter(|version| !version.is_empty());
            check.put(what, found.ok_or_else(missing));
        }
        let asked = connector.ask(Question::new(["--version"], PATIENCE).that_only_looks());
        if asked.is_ok() {
            self.heard_from(name);
        }
        check.put(
            "biv",
            asked
                .map(|reply| crate::model::printable_line(&reply.version))
                .map_err(|error| told(&error)),
        );
        Ok(check)
    }

    /// Sends this very program to a host. Returns its version there.
    pub(crate) fn install_on_host(&self, name: &HostName) -> Result<String, Error> {
        let connector = self.connector(name)?;
        let version = connector.install(&self.host.biv, PATIENCE)?;
        self.heard_from(name);
        Ok(version)
    }
}

impl HostCheck {
    fn put(&mut self, what: &'static str, found: Result<String, String>) {
        self.ok &= found.is_ok();
        self.findings.push(HostFinding {
            what,
            ok: found.is_ok(),
            detail: found.unwrap_or_else(|missing| missing),
        });
    }
}

/// The sentence, and what was heard.
pub(in crate::engine) fn told(error: &HostError) -> String {
    match error {
        HostError::Trouble { said, trouble, .. } if !said.is_empty() => {
            let heard = said.join("; ");
            match trouble {
                Trouble::Unreachable | Trouble::Nonsense => format!("{error}: {heard}"),
                _ => error.to_string(),
            }
        }
        _ => error.to_string(),
    }
}
