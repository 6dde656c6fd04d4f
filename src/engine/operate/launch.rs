//! How an agent is started: the pane runs our launcher, which waits for its orders on a socket and
//! then becomes the agent.
//!
//! The orders (command line, environment, directory) travel through the socket, so that secrets of
//! the environment reach neither the disk nor a process list. The launcher checks everything that
//! can be checked before it reports ready, which is before the operation's line; "go" is behind it.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::engine::base::error::{LAUNCH_PATIENCE, LaunchError};
use crate::engine::base::socket;
use crate::engine::operate::sealed_launch::{self, NO_SEAL, Program, SEALED, SealOrders};
use crate::model::{InstanceId, SealLayer};
use crate::process::{CANNOT_START, Command, adopt_orphans};
use crate::tmux::release_this_pane;

/// What the launcher is to become.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::engine) struct LaunchOrders {
    pub argv: Vec<String>,
    /// Names and values as bytes: an environment need not be text.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    pub directory: PathBuf,
    /// Printed above the agent: the scrollback of the earlier session.
    pub replay: Option<PathBuf>,
    /// The line below the scrollback.
    pub banner: Option<String>,
    /// The seal to build around it.
    pub seal: Option<SealOrders>,
}

/// Where a launcher that is about to be started will report.
#[derive(Debug)]
pub(in crate::engine) struct LaunchSocket {
    listener: UnixListener,
    path: PathBuf,
}

/// A launcher that has read its orders and waits for "go".
#[derive(Debug)]
pub(in crate::engine) struct Waiting {
    stream: UnixStream,
    /// The layers of its seal.
    pub seal: Option<Vec<SealLayer>>,
}

impl LaunchSocket {
    /// One socket for each instance, so that recovery finds and removes it. Callers hold the instance's
    /// lock.
    pub(in crate::engine) fn open(
        directory: &Path,
        instance: &InstanceId,
    ) -> Result<Self, LaunchError> {
        Self::remove(directory, instance);
        Self::at(Self::path(directory, instance))
    }

    /// The same for the shell of an instance.
    pub(in crate::engine) fn for_shell(
        directory: &Path,
        instance: &InstanceId,
    ) -> Result<Self, LaunchError> {
        let path = directory.join(format!("launch-{instance}-shell.sock"));
        // One that a killed process has left.
        drop(std::fs::remove_file(&path));
        Self::at(path)
    }

    fn at(path: PathBuf) -> Result<Self, LaunchError> {
        let broken = |source| LaunchError::Socket {
            path: path.clone(),
            source,
        };
        let listener = socket::bind(&path).map_err(broken)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(broken)?;
        listener.set_nonblocking(true).map_err(broken)?;
        Ok(Self { listener, path })
    }

    /// Removes the socket of a launch that was cut off.
    pub(in crate::engine) fn remove(directory: &Path, instance: &InstanceId) {
        // Usually the file does not exist.
        drop(std::fs::remove_file(Self::path(directory, instance)));
    }

    fn path(directory: &Path, instance: &InstanceId) -> PathBuf {
        directory.join(format!("launch-{instance}.sock"))
    }

    /// The command line of the launcher for this socket.
    pub(in crate::engine) fn launcher(&self, biv: &Path) -> Vec<OsString> {
        vec![
            biv.into(),
            "__launch".into(),
            self.path.file_name().unwrap_or_default().to_owned(),
        ]
    }

    /// Waits for the launcher in the pane with this pid and sends it its orders.
    pub(in crate::engine) fn admit(
        self,
        pane_pid: i32,
        orders: &LaunchOrders,
    ) -> Result<Waiting, LaunchError> {
        let broken = |source| LaunchError::Socket {
            path: self.path.clone(),
            source,
        };
        let deadline = Instant::now() + LAUNCH_PATIENCE;
        let stream = loop {
            match self.listener.accept() {
                // The orders hold the user's environment: only our own launcher gets them.
                Ok((stream, _)) if socket::peer_is(&stream, pane_pid) => break stream,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    if Instant::now() > deadline {
                        return Err(LaunchError::Silent);
                    }
                    socket::wait_readable(&self.listener, Duration::from_millis(100));
                }
                Err(error) => return Err(broken(error)),
            }
        };
        stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_read_timeout(Some(LAUNCH_PATIENCE)))
            .map_err(broken)?;
        let mut line = serde_json::to_vec(orders).unwrap_or_default();
        line.push(b'\n');
        (&stream).write_all(&line).map_err(broken)?;
        let mut answer = String::new();
        BufReader::new(&stream)
            .read_line(&mut answer)
            .map_err(broken)?;
        match answer.trim_end() {
            "ready" => Ok(Waiting { stream, seal: None }),
            "" => Err(LaunchError::Gone),
            sealed if sealed.starts_with(SEALED) => {
                let layers = sealed.strip_prefix(SEALED).unwrap_or_default();
                let layers = serde_json::from_str(layers)
                    .map_err(|error| LaunchError::NoSeal(error.to_string()))?;
                Ok(Waiting {
                    stream,
                    seal: Some(layers),
                })
            }
            refusal if refusal.starts_with(NO_SEAL) => {
                let why = refusal.strip_prefix(NO_SEAL).unwrap_or_default();
                Err(LaunchError::NoSeal(why.to_owned()))
            }
            refusal => Err(LaunchError::Refused(refusal.to_owned())),
        }
    }
}

impl Drop for LaunchSocket {
    fn drop(&mut self) {
        // A launcher that comes too late finds no socket and ends. `doctor` removes one that stays.
        drop(std::fs::remove_file(&self.path));
    }
}

impl Waiting {
    /// Lets the launcher become the agent. The socket closes by itself when that has happened.
    pub(in crate::engine) fn go(mut self) -> Result<(), LaunchError> {
        self.stream
            .write_all(b"go\n")
            .map_err(|_| LaunchError::Gone)?;
        let mut failure = String::new();
        match self.stream.read_to_string(&mut failure) {
            Ok(0) => Ok(()),
            Ok(_) => Err(LaunchError::Refused(failure.trim_end().to_owned())),
            Err(_) => Err(LaunchError::Silent),
        }
    }
}

/// The launcher itself: the program of every pane until it becomes the agent.
pub(crate) fn run_launcher(socket: &OsStr) -> ExitCode {
    // Our directory is the one of the socket: the server runs there.
    if let Ok(stream) = UnixStream::connect(Path::new(socket)) {
        let begun = Cell::new(false);
        match follow_orders(&stream, &begun) {
            Ok(status) => return status,
            // From here on it counts as the agent: one that says why it cannot start, and ends.
            Err(problem) if begun.get() => {
                drop(writeln!(std::io::stderr(), "{problem}"));
                return ExitCode::from(CANNOT_START);
            }
            // If the other end is gone, the problem cannot be reported.
            Err(problem) => drop((&stream).write_all(format!("{problem}\n").as_bytes())),
        }
    }
    // A tmux server runs a request even if the client was killed meanwhile, perhaps after the operation
    // was taken back. Then no other process knows of this session.
    release_this_pane();
    ExitCode::FAILURE
}

/// Returns only what a sealed agent has ended with: without a seal this process becomes the agent.
fn follow_orders(stream: &UnixStream, begun: &Cell<bool>) -> Result<ExitCode, String> {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    reader
        .read_until(b'\n', &mut line)
        .map_err(|error| error.to_string())?;
    let orders: LaunchOrders = serde_json::from_slice(&line).map_err(|error| error.to_string())?;
    let program = orders.argv.first().ok_or("there is no command to run")?;
    let path = orders
        .environment
        .iter()
        .find(|(name, _)| name == b"PATH")
        .map(|(_, value)| OsString::from_vec(value.clone()));
    which::which_in(program, path.as_ref(), &orders.directory)
        .map_err(|_| format!("the command `{program}` was not found on PATH"))?;
    std::env::set_current_dir(&orders.directory)
        .map_err(|error| format!("{}: {error}", orders.directory.display()))?;
    if let Some(seal) = &orders.seal {
        let program = Program {
            argv: orders.argv.clone(),
            environment: orders.environment.clone(),
            directory: orders.directory.clone(),
        };
        return sealed_launch::run(program, seal, stream, &mut || {
            await_go(&mut reader)?;
            begun.set(true);
            replay(&orders);
            Ok(())
        });
    }
    (&*stream)
        .write_all(b"ready\n")
        .map_err(|error| error.to_string())?;
    await_go(&mut reader)?;
    begun.set(true);
    replay(&orders);
    let mut command = Command::new(program)
        .args(orders.argv.iter().skip(1))
        .env_clear();
    for (name, value) in &orders.environment {
        command = command.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
    }
    // The agent's terminal is tmux, whatever the user's terminal is.
    if let Some(term) = std::env::var_os("TERM") {
        command = command.env("TERM", term);
    }
    adopt_orphans();
    Err(command.exec().to_string())
}

fn await_go(reader: &mut impl BufRead) -> Result<(), String> {
    let mut word = String::new();
    match reader.read_line(&mut word) {
        Ok(_) if word == "go\n" => Ok(()),
        // The operation that wanted this agent is gone: the agent must not start.
        _ => Err("not started".to_owned()),
    }
}

/// Prints the scrollback of the earlier session. The agent starts even if that fails, so errors are
/// ignored.
fn replay(orders: &LaunchOrders) {
    let mut screen = std::io::stdout().lock();
    if let Some(text) = orders
        .replay
        .as_ref()
        .and_then(|path| std::fs::read(path).ok())
    {
        drop(screen.write_all(&text));
        drop(screen.write_all(b"\x1b[0m\r\n"));
    }
    if let Some(banner) = &orders.banner {
        drop(write!(screen, "\x1b[2m{banner}\x1b[0m\r\n"));
    }
    drop(screen.flush());
}
