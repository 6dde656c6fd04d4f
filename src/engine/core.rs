//! What every verb works with.

use std::path::PathBuf;
use std::sync::OnceLock;

use super::Error;
use super::versions::Versions;
use crate::agents::{Catalog, Host, Provider};
use crate::config::{self, Home, Settings};
use crate::model::{InstanceRecord, Timestamp};
use crate::store::{Store, ensure_private};
use crate::tmux::{Configuration, Server, validate_key_name};

/// The file name of the socket that new sessions are opened on.
const SOCKET: &str = "tmux.sock";

#[derive(Debug)]
pub(crate) struct Engine {
    pub(super) home: Home,
    pub(super) config: config::LoadedConfig,
    pub(super) store: Store,
    pub(super) catalog: Catalog,
    pub(super) host: Host,
    /// Read when the first agent is looked at.
    pub(super) versions: OnceLock<Versions>,
}

impl Engine {
    /// Reads the configuration of a home. Nothing is made or changed by that.
    pub(crate) fn open(home: Home) -> Result<Self, Error> {
        let config = config::load(&home.config_file())?;
        validate_key_name(&config.settings.terminal.detach_key)?;
        let agents = home.agents_dir();
        let catalog = Catalog::load(agents.is_dir().then_some(agents.as_path()))?;
        let host = Host {
            biv: this_program(),
            state: home.state.clone(),
            shell: std::env::var_os("SHELL")
                .map_or_else(|| PathBuf::from("/bin/sh"), PathBuf::from),
            path: std::env::var_os("PATH"),
        };
        Ok(Self {
            store: Store::new(home.state.clone()),
            home,
            config,
            catalog,
            host,
            versions: OnceLock::new(),
        })
    }

    /// The same home with its settings, agents and versions as they are now.
    pub(crate) fn reopened(&self) -> Result<Self, Error> {
        Self::open(self.home.clone())
    }

    pub(crate) fn config(&self) -> &config::LoadedConfig {
        &self.config
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.config.settings
    }

    /// Makes sure, before anything else is touched, that what is about to happen can be recorded.
    pub(super) fn prepare(&self) -> Result<(), Error> {
        self.store.prepare()?;
        ensure_private(&self.home.run)?;
        ensure_private(&self.home.worktrees)?;
        Ok(())
    }

    /// The server on which new sessions are opened.
    pub(super) fn server(&self) -> Server {
        self.server_at(SOCKET)
    }

    /// The server on which an instance sits: it stays where it was started.
    pub(super) fn server_of(&self, record: &InstanceRecord) -> Server {
        self.server_at(record.place.as_ref().map_or(SOCKET, |place| &place.socket))
    }

    pub(super) fn provider_of(&self, record: &InstanceRecord) -> Result<&Provider, Error> {
        self.provider(&record.agent)
    }

    /// The key that leaves an attached session, as people say it.
    pub(super) fn detach_key(&self) -> String {
        let key = &self.settings().terminal.detach_key;
        key.replace("C-", "ctrl-").replace("M-", "alt-")
    }

    fn server_at(&self, socket: &str) -> Server {
        let terminal = &self.settings().terminal;
        let configuration = Configuration {
            history: terminal.history,
            detach_key: terminal.detach_key.clone(),
        };
        Server::new(&self.home.run, socket, configuration)
    }
}

/// The time of day; durations are measured with `Instant`.
pub(super) fn now() -> Timestamp {
    Timestamp::new(chrono::Utc::now())
}

/// This very program, also after it was replaced by an upgrade.
fn this_program() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("biv"));
    // So Linux calls the file of a process that runs on after its program was replaced.
    match program
        .to_str()
        .and_then(|path| path.strip_suffix(" (deleted)"))
    {
        Some(path) if !program.exists() => PathBuf::from(path),
        _ => program,
    }
}
