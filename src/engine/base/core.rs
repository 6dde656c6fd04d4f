//! The object that every verb of the engine works with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use crate::agents::{Catalog, Host};
use crate::config::{self, Home, Settings};
use crate::engine::base::Error;
use crate::model::{InstanceRecord, Timestamp};
use crate::store::{Store, ensure_private};
use crate::tmux::{Configuration, EarlyClient, Server, key_hint, validate_key_name};
use crate::vault::ThinPolicy;

/// The file name of the socket that new sessions are opened on.
const SOCKET: &str = "tmux.sock";

/// What was learned, by agent.
pub(in crate::engine) type Versions = BTreeMap<String, Learned>;

/// A version, and the program file that it was asked of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::engine) struct Learned {
    pub program: PathBuf,
    pub stamp: (i64, u64),
    pub version: String,
}

#[derive(Debug)]
pub(crate) struct Core {
    pub(in crate::engine) home: Home,
    pub(in crate::engine) config: config::LoadedConfig,
    pub(in crate::engine) store: Store,
    pub(in crate::engine) catalog: Catalog,
    pub(in crate::engine) host: Host,
    /// Read when the first agent is looked at.
    pub(in crate::engine) versions: OnceLock<Versions>,
    /// For the first look.
    early: Mutex<Option<EarlyClient>>,
}

impl Core {
    /// Reads the configuration of a home. Nothing is made or changed by that.
    pub(crate) fn open(home: Home) -> Result<Self, Error> {
        let config = config::load(&home.config_file())?;
        let keys = &config.settings.terminal;
        for key in [&keys.detach_key, &keys.next_key] {
            validate_key_name(key)?;
        }
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
            early: Mutex::default(),
        })
    }

    /// The same for a command that only looks: the client of tmux that it will ask starts before anything is read.
    pub(crate) fn open_for_a_look(home: Home) -> Result<Self, Error> {
        // No option of a server matters to a client of one that runs.
        let early = Server::new(&home.run, SOCKET, Configuration::default()).early_client();
        Ok(Self {
            early: Mutex::new(early),
            ..Self::open(home)?
        })
    }

    /// A client of tmux that has been started already, or is started now.
    pub(in crate::engine) fn early_client(&self) -> Option<EarlyClient> {
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        early.take().or_else(|| self.server().early_client())
    }

    /// The same home with its settings, agents and versions as they are now.
    pub(crate) fn reopened(&self) -> Result<Self, Error> {
        Self::open(self.home.clone())
    }

    pub(crate) fn config(&self) -> &config::LoadedConfig {
        &self.config
    }

    pub(in crate::engine) fn settings(&self) -> &Settings {
        &self.config.settings
    }

    /// Creates the directories, so that what is about to happen can be recorded.
    pub(in crate::engine) fn prepare(&self) -> Result<(), Error> {
        self.store.prepare()?;
        ensure_private(&self.home.run)?;
        ensure_private(&self.home.worktrees)?;
        Ok(())
    }

    /// The server on which new sessions are opened.
    pub(in crate::engine) fn server(&self) -> Server {
        self.server_at(SOCKET)
    }

    /// The tmux server of an instance: it stays on the one where it was started.
    pub(in crate::engine) fn server_of(&self, record: &InstanceRecord) -> Server {
        self.server_at(record.place.as_ref().map_or(SOCKET, |place| &place.socket))
    }

    /// The key that detaches from a session, as text for the user.
    pub(in crate::engine) fn detach_key(&self) -> String {
        key_hint(&self.settings().terminal.detach_key)
    }

    /// The idle timeout in force for an instance, in seconds.
    pub(in crate::engine) fn idle_timeout(&self, stored: Option<u64>) -> Option<u64> {
        match stored {
            Some(0) => None,
            Some(seconds) => Some(seconds),
            None => {
                let idle = &self.settings().idle;
                idle.suspend.then_some(idle.timeout.as_secs())
            }
        }
    }

    /// What thinning may delete without a copy, by the settings.
    pub(in crate::engine) fn thin_policy(&self) -> ThinPolicy {
        ThinPolicy {
            ignored_limit_bytes: self.settings().snapshots.ignored_limit,
            ..ThinPolicy::default()
        }
    }

    /// Whether an instance's dialogs are answered now. A switch that cannot be read is off.
    pub(in crate::engine) fn is_autoyes(&self, record: &InstanceRecord) -> bool {
        let dir = self.store.instance(&record.id);
        dir.autoyes(record).is_ok_and(|switch| switch.is_on(now()))
    }

    fn server_at(&self, socket: &str) -> Server {
        let terminal = &self.settings().terminal;
        let configuration = Configuration {
            history: terminal.history,
            detach_key: terminal.detach_key.clone(),
            next_key: terminal.next_key.clone(),
        };
        Server::new(&self.home.run, socket, configuration)
    }
}

/// The time of day; durations are measured with `Instant`.
pub(in crate::engine) fn now() -> Timestamp {
    Timestamp::new(chrono::Utc::now())
}

/// The path of this program, also after an upgrade has replaced it.
fn this_program() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("biv"));
    // Linux appends this to the path of a running program that was replaced.
    match program
        .to_str()
        .and_then(|path| path.strip_suffix(" (deleted)"))
    {
        Some(path) if !program.exists() => PathBuf::from(path),
        _ => program,
    }
}
