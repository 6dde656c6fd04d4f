//! Bivouac's own tmux server: start, sessions, commands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::pane::{format, parse_panes};
use super::sessions_lock::SessionsLock;
use super::{Configuration, Death, Pane, TmuxError, TmuxVersion};
use crate::model::{InstanceId, SessionName};
use crate::process::{Command, Failure, Identity, Output, Signal};

/// The session that control clients attach to. It has no agent.
///
/// It outlives its clients on purpose: tmux 3.3a crashes if a session is closed while its control client
/// detaches, and every agent ends with the server.
pub(crate) const HUB: &str = "biv-hub";

const DEADLINE: Duration = Duration::from_secs(10);
/// How long tmux may take to report the exit status of a program that has ended.
const REAPING: Duration = Duration::from_millis(500);
/// The same on a busy machine where many programs start and end.
const LONG_REAPING: Duration = Duration::from_secs(2);
const PROBE: Duration = Duration::from_millis(5);

/// Variables that the server, and so every pane, starts with. An agent gets its other variables from the
/// command that launches it: the server would keep the values of its own start.
const SERVER_ENVIRONMENT: [&str; 9] = [
    "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR",
];

/// A tmux server, identified by its socket. Calls run in the socket's directory and use a relative path: the
/// path of a socket is limited to 107 bytes, and a home may be deeper.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    directory: PathBuf,
    socket: String,
    configuration: Configuration,
}

/// The options of a new session.
#[derive(Debug)]
pub(crate) struct SessionOptions<'a> {
    pub instance: &'a InstanceId,
    pub columns: u16,
    pub rows: u16,
    pub title: &'a str,
    pub branch: &'a str,
    /// Executed without a shell.
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

    /// The version of the installed tmux; an error if there is none or it is too old.
    pub(crate) fn installed_version() -> Result<TmuxVersion, TmuxError> {
        let answer = match Command::new("tmux").arg("-V").deadline(DEADLINE).text() {
            Ok(answer) => answer,
            Err(Failure::NotFound { .. }) => return Err(TmuxError::Missing),
            Err(error) => return Err(error.into()),
        };
        match TmuxVersion::parse(&answer) {
            Some(version) if version >= TmuxVersion::OLDEST => Ok(version),
            Some(_) => Err(TmuxError::TooOld {
                found: answer.trim_start_matches("tmux ").to_owned(),
            }),
            // A development build: newer than any release.
            None => Ok(TmuxVersion::OLDEST),
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
                // The server was about to exit, and the new session ended with it.
                Err(Failure::Status { message, .. }) if attempts > 0 && no_server(&message) => {}
                // A session that a killed process had requested, and that was created late.
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
    /// A terminal closes shortly before tmux reaps its program. A pane that is dead without a status is
    /// asked again; otherwise an agent that exited with 0 would count as failed.
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
                // SIGCHLD can get lost; the next one makes up for it.
                Some(server) => server.signal(Signal::CHILD),
                // Reaped since tmux answered: now it knows the status, or never will.
                None => last_time = true,
            }
            std::thread::sleep(PROBE);
        }
    }

    /// How the program of a pane ended, where its process is known to have ended. tmux may report it
    /// late.
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

    /// Whether any of these panes is in the session of an instance, whatever that is called by now.
    pub(crate) fn has_session(panes: &[Pane], instance: &InstanceId) -> bool {
        let name = SessionName::of(instance);
        panes
            .iter()
            .any(|pane| pane.instance.as_ref() == Some(instance) || pane.session == name.as_str())
    }

    /// The pane of an instance.
    pub(crate) fn pane_of(&self, instance: &InstanceId) -> Result<Option<Pane>, TmuxError> {
        Ok(self
            .panes()?
            .into_iter()
            .find(|pane| pane.instance.as_ref() == Some(instance)))
    }

    /// Closes the session of an instance. No error if it is gone already.
    pub(crate) fn close_session(&self, instance: &InstanceId) -> Result<(), TmuxError> {
        if !self.has_socket() {
            return Ok(());
        }
        if self.kill_session(SessionName::of(instance).as_str())? {
            return Ok(());
        }
        // The user may have renamed it.
        if let Some(pane) = self.pane_of(instance)? {
            self.kill_session(&pane.session)?;
        }
        Ok(())
    }

    /// Sets the title that the status line of a session shows.
    pub(crate) fn set_title(&self, instance: &InstanceId, title: &str) -> Result<(), TmuxError> {
        let target = format!("={}:", SessionName::of(instance));
        self.client()
            .args(["-N", "set-option", "-t", &target, "--", "@biv_title"])
            .arg(literal(title.as_ref()))
            .run()
            .map_err(not_installed)?;
        Ok(())
    }

    /// Closes a session; returns whether it existed.
    fn kill_session(&self, name: &str) -> Result<bool, TmuxError> {
        let command = self
            .client()
            .args(["-N", "kill-session", "-t", &format!("={name}"), ";"])
            // A hub that a killed process has left must not keep the server running.
            .args(["if-shell", "-F", "-t", &format!("={HUB}:")])
            // Sessions are counted by a loop: tmux 3.3 has no variable for their number.
            .arg("#{?session_attached,0,#{==:#{S:x},x}}")
            .arg(format!("kill-session -t ={HUB}"));
        let lock = self.lock_sessions();
        let output = command.output().map_err(not_installed)?;
        drop(lock);
        let said = output.stderr_text();
        if said.contains(&format!("can't find session: {name}")) {
            Ok(false)
        // The other session that may not be found is the hub, which need not exist.
        } else if output.success() || says_no_server(&output) || said.contains("can't find") {
            Ok(true)
        } else {
            Err(command.status_failure(&output).into())
        }
    }

    /// The command that attaches this terminal to the session of an instance.
    pub(crate) fn attach_command(&self, instance: &InstanceId, inside: Option<&str>) -> Command {
        let target = format!("={}", SessionName::of(instance));
        let within_ours = inside
            .and_then(|variable| variable.split(',').next())
            .is_some_and(|socket| Path::new(socket) == self.socket_path());
        if within_ours {
            self.client().args(["-N", "switch-client", "-t", &target])
        } else {
            self.terminal_client()
                .args(["-N", "attach-session", "-t", &target])
        }
    }

    /// A call of tmux that takes over this terminal.
    pub(super) fn terminal_client(&self) -> Command {
        self.client()
            // tmux refuses to be nested if this variable is set.
            .env_remove("TMUX")
            .env(
                "TERM",
                std::env::var_os("TERM").unwrap_or_else(|| "xterm".into()),
            )
    }

    /// The terminals of attached clients, with the session of each.
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

    /// Held while a session is opened or closed.
    pub(super) fn lock_sessions(&self) -> Option<SessionsLock> {
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

    /// A call of tmux on this socket, without a command yet.
    pub(super) fn client(&self) -> Command {
        let mut command = Command::new(self.program())
            .directory(&self.directory)
            .deadline(DEADLINE)
            .env_clear()
            // Messages are compared, so they must be in English and in UTF-8 (`-u`).
            .args(["-u", "-S", &self.socket]);
        for name in SERVER_ENVIRONMENT {
            if let Some(value) = std::env::var_os(name) {
                command = command.env(name, value);
            }
        }
        command
    }

    /// The tmux program to call: that of the running server, if it is not the installed one any more.
    /// After an upgrade, an old server does not understand a new client.
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

    fn remember(&self, server: &Identity) {
        if let Ok(text) = serde_json::to_string(server) {
            // Only `recreate_socket` and `program` use it, and both work without it.
            if let Err(error) = std::fs::write(self.memory(), text) {
                tracing::debug!(%error, "the identity of the tmux server was not stored");
            }
        }
    }

    fn memory(&self) -> PathBuf {
        self.directory.join(format!("{}.server", self.socket))
    }
}

/// An argument for tmux: an unescaped `;` at its end would end the command.
pub(super) fn literal(word: &std::ffi::OsStr) -> OsString {
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

pub(super) fn says_no_server(output: &Output) -> bool {
    no_server(&output.stderr_text())
}

/// Whether the message means that no server runs, or that it is about to exit.
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

/// Called by the program of a pane: the pane closes when the program ends, instead of staying with its last
/// output.
pub(crate) fn release_this_pane() {
    let Some(pane) = std::env::var_os("TMUX_PANE") else {
        return;
    };
    let set = Command::new("tmux")
        .args(["-N", "set-option", "-p", "-t"])
        .arg(pane)
        .args(["remain-on-exit", "off"])
        .deadline(DEADLINE)
        .output();
    // Without a server the pane is gone already.
    if let Err(error) = set {
        tracing::debug!(%error, "the pane was not set to close");
    }
}

/// Raises the limit of open files. Each agent needs descriptors in the server. The usual soft limit allows
/// some 300 agents, and a server without free descriptors blocks all of its clients.
pub(crate) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // If this is refused, the server has the usual limit.
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "the limit of open files was not raised");
    }
}
