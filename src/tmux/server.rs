//! Our own tmux server: its start, its sessions, its commands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::pane::{format, parse_panes};
use super::sessions_lock::SessionsLock;
use super::{Configuration, Death, Pane, TmuxError, Version};
use crate::model::{InstanceId, SessionName};
use crate::process::{Command, Failure, Identity, Output, Signal};

/// The session that control clients are attached to. It holds no agent.
///
/// It outlives its clients on purpose: a server (3.3a) that takes a session down while the control
/// client in it is going away falls over, and every agent with it.
pub(crate) const HUB: &str = "biv-hub";

const DEADLINE: Duration = Duration::from_secs(10);
/// How long tmux may take to tell how a program ended that has ended.
const REAPING: Duration = Duration::from_millis(500);
/// The same where many start and end at once on a busy machine.
const LONG_REAPING: Duration = Duration::from_secs(2);
const PROBE: Duration = Duration::from_millis(5);

/// Variables that the server, and so every pane, starts with. An agent gets the rest of its
/// environment from the command that launches it: what the server has, it would keep for ever.
const SERVER_ENVIRONMENT: [&str; 9] = [
    "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR",
];

/// A tmux server, known by its socket. Calls run in the socket's directory and name it relatively:
/// the path of a socket is limited to 107 bytes, a home may be deeper.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    directory: PathBuf,
    socket: String,
    configuration: Configuration,
}

/// What a new session is made of.
#[derive(Debug)]
pub(crate) struct SessionOptions<'a> {
    pub instance: &'a InstanceId,
    pub columns: u16,
    pub rows: u16,
    pub title: &'a str,
    pub branch: &'a str,
    /// Run as it is, without a shell.
    pub argv: &'a [OsString],
}

/// A session that was just opened.
#[derive(Debug, Clone)]
pub(crate) struct OpenSession {
    pub pane: String,
    pub pane_pid: i32,
    pub server: Identity,
}

impl Server {
    pub(crate) fn new(directory: &Path, socket: &str, configuration: Configuration) -> Self {
        Self {
            directory: directory.to_owned(),
            socket: socket.to_owned(),
            configuration,
        }
    }

    pub(crate) fn socket(&self) -> &str {
        &self.socket
    }

    pub(crate) fn socket_path(&self) -> PathBuf {
        self.directory.join(&self.socket)
    }

    /// The installed tmux, or why it will not do.
    pub(crate) fn installed_version() -> Result<Version, TmuxError> {
        let answer = match Command::new("tmux").arg("-V").deadline(DEADLINE).text() {
            Ok(answer) => answer,
            Err(Failure::NotFound { .. }) => return Err(TmuxError::Missing),
            Err(error) => return Err(error.into()),
        };
        match Version::parse(&answer) {
            Some(version) if version >= Version::OLDEST => Ok(version),
            Some(_) => Err(TmuxError::TooOld {
                found: answer.trim_start_matches("tmux ").to_owned(),
            }),
            // A development build: newer than anything that is numbered.
            None => Ok(Version::OLDEST),
        }
    }

    /// Opens a session; starts the server if there is none.
    pub(crate) fn open_session(
        &self,
        options: &SessionOptions<'_>,
    ) -> Result<OpenSession, TmuxError> {
        let configuration = self.directory.join("tmux.conf");
        std::fs::write(&configuration, self.configuration.text()).map_err(|source| {
            TmuxError::Write {
                path: configuration.clone(),
                source,
            }
        })?;
        raise_file_limit();
        let name = SessionName::of(options.instance);
        let target = format!("={name}:");
        let mut command = self
            .client()
            .args(["-f", "tmux.conf", "new-session", "-d", "-P", "-F"])
            .arg("#{pane_id} #{pane_pid} #{pid}")
            .args(["-s", name.as_str()])
            .args(["-x", &options.columns.to_string()])
            .args(["-y", &options.rows.to_string()])
            .arg("--");
        for word in options.argv {
            command = command.arg(literal(word));
        }
        for (option, value) in [
            ("@biv_id", options.instance.as_str()),
            ("@biv_title", options.title),
            ("@biv_branch", options.branch),
        ] {
            command = command
                .args([";", "set-option", "-t", &target, "--", option])
                .arg(literal(value.as_ref()));
        }
        let mut attempts = 3;
        let answer = loop {
            attempts -= 1;
            let opened = {
                let _lock = self.lock_sessions();
                command.text()
            };
            match opened {
                // The last session of a server that is just going down takes the new one with it.
                Err(Failure::Status { message, .. }) if attempts > 0 && no_server(&message) => {}
                // One that was asked for by somebody who was killed, and that came late.
                Err(Failure::Status { message, .. })
                    if attempts > 0 && message.contains("duplicate session") =>
                {
                    self.close_session(options.instance)?;
                }
                other => break other.map_err(not_installed)?,
            }
        };
        let unreadable = || TmuxError::Answer(answer.clone());
        let mut words = answer.split_whitespace();
        let pane = words.next().ok_or_else(unreadable)?.to_owned();
        let pane_pid = words
            .next()
            .and_then(|word| word.parse().ok())
            .ok_or_else(unreadable)?;
        let server = words
            .next()
            .and_then(|word| word.parse().ok())
            .and_then(Identity::of_pid)
            .ok_or_else(unreadable)?;
        self.remember(&server);
        Ok(OpenSession {
            pane,
            pane_pid,
            server,
        })
    }

    /// All panes of the server; none where no server runs.
    ///
    /// A terminal closes a moment before its program is reaped: a pane that is dead without a
    /// status yet is asked again, or an agent that exited 0 would count as failed.
    pub(crate) fn panes(&self) -> Result<Vec<Pane>, TmuxError> {
        let deadline = Instant::now() + REAPING;
        let mut last_time = false;
        loop {
            let panes = self.ask_for_panes()?;
            let unclear: Vec<&Pane> = panes.iter().filter(|pane| pane.is_unclear()).collect();
            if unclear.is_empty() || last_time || Instant::now() > deadline {
                return Ok(panes);
            }
            let unreaped = unclear
                .into_iter()
                .find(|pane| Identity::of_pid(pane.pid).is_some());
            match unreaped.and_then(|pane| Identity::of_pid(pane.server_pid)) {
                // The signal that a child has ended can get lost; the next one makes up for it.
                Some(server) => server.signal(Signal::CHILD),
                // Reaped since tmux answered: now it knows, or never will.
                None => last_time = true,
            }
            std::thread::sleep(PROBE);
        }
    }

    /// How the program of a pane ended, where its process is known to have ended: tmux may be a
    /// moment behind.
    pub(crate) fn death_of(&self, pane: &str) -> Result<Option<Death>, TmuxError> {
        let deadline = Instant::now() + LONG_REAPING;
        loop {
            let found = self.panes()?.into_iter().find(|found| found.id == pane);
            match found {
                Some(Pane { death: None, .. }) if Instant::now() < deadline => {
                    std::thread::sleep(PROBE);
                }
                found => return Ok(found.and_then(|pane| pane.death)),
            }
        }
    }

    fn ask_for_panes(&self) -> Result<Vec<Pane>, TmuxError> {
        if !self.has_socket() {
            return Ok(Vec::new());
        }
        let command = self
            .client()
            .args(["-N", "list-panes", "-a", "-F", &format()]);
        let output = command.output().map_err(not_installed)?;
        if output.success() {
            parse_panes(&output.stdout_text())
        } else if says_no_server(&output) {
            Ok(Vec::new())
        } else {
            Err(command.status_failure(&output).into())
        }
    }

    /// The pane in which an instance sits now.
    pub(crate) fn pane_of(&self, instance: &InstanceId) -> Result<Option<Pane>, TmuxError> {
        Ok(self
            .panes()?
            .into_iter()
            .find(|pane| pane.instance.as_ref() == Some(instance)))
    }

    /// Takes the session of an instance down; one that is gone already is no error.
    pub(crate) fn close_session(&self, instance: &InstanceId) -> Result<(), TmuxError> {
        if !self.has_socket() {
            return Ok(());
        }
        if self.kill_session(SessionName::of(instance).as_str())? {
            return Ok(());
        }
        // Somebody may have given it another name.
        if let Some(pane) = self.pane_of(instance)? {
            self.kill_session(&pane.session)?;
        }
        Ok(())
    }

    /// Whether there was such a session to take down.
    fn kill_session(&self, name: &str) -> Result<bool, TmuxError> {
        let command = self
            .client()
            .args(["-N", "kill-session", "-t", &format!("={name}"), ";"])
            // A hub that somebody who died has left must not be what keeps the server alive.
            .args(["if-shell", "-F", "-t", &format!("={HUB}:")])
            .arg("#{?session_attached,0,#{==:#{server_sessions},1}}")
            .arg(format!("kill-session -t ={HUB}"));
        let lock = self.lock_sessions();
        let output = command.output().map_err(not_installed)?;
        drop(lock);
        let said = output.stderr_text();
        if said.contains(&format!("can't find session: {name}")) {
            Ok(false)
        // What else cannot be found is the hub, and there need not be one.
        } else if output.success() || says_no_server(&output) || said.contains("can't find") {
            Ok(true)
        } else {
            Err(command.status_failure(&output).into())
        }
    }

    /// The command that puts this terminal into the session of an instance.
    pub(crate) fn attach_command(&self, instance: &InstanceId, inside: Option<&str>) -> Command {
        let target = format!("={}", SessionName::of(instance));
        let within_ours = inside
            .and_then(|variable| variable.split(',').next())
            .is_some_and(|socket| Path::new(socket) == self.socket_path());
        if within_ours {
            self.client().args(["-N", "switch-client", "-t", &target])
        } else {
            self.client()
                .args(["-N", "attach-session", "-t", &target])
                // tmux refuses to be nested unless it is not told.
                .env_remove("TMUX")
                .env(
                    "TERM",
                    std::env::var_os("TERM").unwrap_or_else(|| "xterm".into()),
                )
        }
    }

    /// The terminals of the people who are attached, with the session that each looks at.
    pub(crate) fn client_terminals(&self) -> Vec<(PathBuf, String)> {
        let format = "#{client_control_mode} #{client_tty} #{session_name}";
        let listed = self
            .client()
            .args(["-N", "list-clients", "-F", format])
            .text();
        listed
            .unwrap_or_default()
            .lines()
            .filter_map(|line| {
                let mut words = line.splitn(3, ' ');
                let person = words.next()? == "0";
                let terminal = words.next()?;
                let session = words.next()?;
                person.then(|| (PathBuf::from(terminal), session.to_owned()))
            })
            .collect()
    }

    /// Makes sure that there is a hub for control clients. Never starts a server.
    pub(super) fn open_hub(&self) -> Result<(), TmuxError> {
        let command = self
            .client()
            .args(["-N", "new-session", "-d", "-s", HUB, "-x", "80", "-y", "24"])
            .args(["--", "cat", ";", "set-option", "-w", "-t"])
            .args([&format!("={HUB}:"), "remain-on-exit", "off"]);
        let lock = self.lock_sessions();
        let output = command.output().map_err(not_installed)?;
        drop(lock);
        if output.success() || output.stderr_text().contains("duplicate session") {
            Ok(())
        } else if says_no_server(&output) {
            Err(TmuxError::NoServer)
        } else {
            Err(command.status_failure(&output).into())
        }
    }

    /// Takes the hub down, unless somebody is attached to it.
    pub(super) fn close_hub(&self) {
        let _lock = self.lock_sessions();
        let closed = self
            .client()
            .args(["-N", "if-shell", "-F", "-t", &format!("={HUB}:")])
            .args(["#{session_attached}", ""])
            .arg(format!("kill-session -t ={HUB}"))
            .output();
        // Without a server there is none.
        drop(closed);
    }

    /// Held while sessions come or go.
    fn lock_sessions(&self) -> Option<SessionsLock> {
        SessionsLock::shared(&self.directory)
    }

    /// Held while a control client connects.
    pub(super) fn lock_out_sessions(&self, wait: Duration) -> Option<SessionsLock> {
        SessionsLock::exclusive(&self.directory, wait)
    }

    /// The identity of the running server, if there is one.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let text = std::fs::read_to_string(self.memory()).ok()?;
        let identity: Identity = serde_json::from_str(&text).ok()?;
        identity.is_alive().then_some(identity)
    }

    /// A call of the tmux program on our socket, not yet saying what.
    pub(super) fn client(&self) -> Command {
        let mut command = Command::new(self.program())
            .directory(&self.directory)
            .deadline(DEADLINE)
            .env_clear()
            // Answers are matched: they must be in one language and in full (`-u`).
            .args(["-u", "-S", &self.socket]);
        for name in SERVER_ENVIRONMENT {
            if let Some(value) = std::env::var_os(name) {
                command = command.env(name, value);
            }
        }
        command
    }

    /// The program of the running server where it is not the installed one any more: after an
    /// upgrade, old server and new client do not understand each other.
    fn program(&self) -> PathBuf {
        let installed = PathBuf::from("tmux");
        let Some(server) = self.identity() else {
            return installed;
        };
        let running = PathBuf::from(format!("/proc/{}/exe", server.pid));
        match std::fs::read_link(&running) {
            Ok(target) if !target.exists() => running,
            _ => installed,
        }
    }

    /// Without a socket there is nobody to ask, which is worth knowing before a process is made.
    fn has_socket(&self) -> bool {
        self.socket_path().exists() || self.call_back()
    }

    /// A server whose socket was deleted (by a cleaner of temporary files, say) makes it anew when
    /// asked; starting a second server instead would lose sight of every agent of the first.
    fn call_back(&self) -> bool {
        let Some(server) = self.identity() else {
            return false;
        };
        server.signal(Signal::USR1);
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline {
            if self.socket_path().exists() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    fn remember(&self, server: &Identity) {
        if let Ok(text) = serde_json::to_string(server) {
            // Only `call_back` and `program` want it; they do without where it is missing.
            drop(std::fs::write(self.memory(), text));
        }
    }

    fn memory(&self) -> PathBuf {
        self.directory.join(format!("{}.server", self.socket))
    }
}

/// An argument as tmux will understand it: a last `;` would end the command.
fn literal(word: &std::ffi::OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    match word.as_bytes().strip_suffix(b";") {
        Some(front) => OsString::from_vec([front, b"\\;"].concat()),
        None => word.to_owned(),
    }
}

pub(super) fn not_installed(error: Failure) -> TmuxError {
    match error {
        Failure::NotFound { .. } => TmuxError::Missing,
        other => TmuxError::Failed(other),
    }
}

pub(super) fn no_pane(error: Failure, pane: &str) -> TmuxError {
    match &error {
        Failure::NotFound { .. } => TmuxError::Missing,
        Failure::Status { message, .. } if message.contains("can't find") => {
            TmuxError::NoPane(pane.to_owned())
        }
        Failure::Status { message, .. } if no_server(message) => TmuxError::NoServer,
        _ => TmuxError::Failed(error),
    }
}

fn says_no_server(output: &Output) -> bool {
    no_server(&output.stderr_text())
}

/// There is none, or one that has lost its last session and is about to go.
fn no_server(message: &str) -> bool {
    [
        "no server running",
        "error connecting",
        "server exited",
        "lost server",
        "no sessions",
        "no current target",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// Called by the program of a pane: the pane, and a session that holds nothing else, goes when the
/// program does, and leaves no last words behind.
pub(crate) fn let_this_pane_go() {
    let Some(pane) = std::env::var_os("TMUX_PANE") else {
        return;
    };
    let gone = Command::new("tmux")
        .args(["-N", "set-option", "-p", "-t"])
        .arg(pane)
        .args(["remain-on-exit", "off"])
        .deadline(DEADLINE)
        .output();
    // A server that is gone has taken the pane along.
    drop(gone);
}

/// Each agent costs the server descriptors; the usual soft limit ends at some 300 agents, and a
/// server that has run out hangs all of its clients.
pub(crate) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Refused is no reason to stop: the server then has what everyone has.
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).ok();
}
