//! The command that reaches a host: what the user gave, options for ssh, and the words for the other side.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::HostError;
use super::registry::Host;
use super::request::Request;
use crate::process::Command;

/// How long a shared connection stays open after its last use.
const PERSIST: &str = "ControlPersist=60";
/// The address of a socket is limited to 107 bytes, and ssh adds 17 to the name while it makes one.
const LONGEST_SOCKET: usize = 88;

/// Makes the commands for one host.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    host: Host,
    /// For the sockets of shared connections.
    sockets: PathBuf,
    /// This program: it starts what must end with us.
    biv: PathBuf,
}

/// Who is there to answer a question of ssh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attended {
    /// Nobody: a question is a failure.
    No,
    /// The user, at this terminal.
    Yes,
}

impl Connector {
    pub(crate) fn new(host: Host, run: &Path, biv: &Path) -> Self {
        Self {
            host,
            sockets: run.join("ssh"),
            biv: biv.to_owned(),
        }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// The directory for the sockets of shared connections.
    pub(crate) fn sockets(&self) -> &Path {
        &self.sockets
    }

    /// The same command, which the kernel ends when this process ends.
    pub(super) fn bound(&self, command: Command) -> Command {
        command.bound_to_parent(&self.biv)
    }

    pub(super) fn is_ssh(&self) -> bool {
        is_ssh(&self.host.settings.connect)
    }

    /// The command that carries out a request.
    pub(super) fn command(
        &self,
        request: &Request,
        attended: Attended,
        patience: Duration,
    ) -> Result<Command, HostError> {
        let encoded = request.encode().map_err(|bytes| HostError::TooLong {
            host: self.host.name.clone(),
            bytes,
        })?;
        let program = self.host.settings.program.as_deref().unwrap_or("biv");
        // `host install` puts it there, which is not on the PATH of every shell.
        let script = format!("PATH=\"$HOME/.local/bin:$PATH\"; exec {program} \"$@\"");
        let words = ["sh", "-c", &script, "biv", "__host", &encoded];
        if request.screen.terminal {
            let connect = self.terminal_words()?;
            Ok(self.line(&connect, &words, true, attended, patience))
        } else {
            let connect = &self.host.settings.connect;
            Ok(self.line(connect, &words, false, attended, patience))
        }
    }

    /// The command that runs a small script there, with words that mean the same in every shell.
    pub(super) fn script(&self, script: &str, patience: Duration) -> Command {
        let connect = &self.host.settings.connect;
        self.line(
            connect,
            &["sh", "-c", script],
            false,
            Attended::No,
            patience,
        )
    }

    /// Ends the shared connection, if there is one.
    pub(crate) fn hang_up(&self) {
        let Some(socket) = self.socket().filter(|socket| socket.exists()) else {
            return;
        };
        let ended = Command::new(&self.host.settings.connect[0])
            .args(["-O", "exit", "-o"])
            .arg(format!("ControlPath={}", socket.display()))
            .args(&self.host.settings.connect[1..])
            .deadline(Duration::from_secs(5))
            .output();
        if let Err(error) = ended {
            tracing::debug!(%error, "a shared connection was not ended");
        }
    }

    fn line(
        &self,
        connect: &[String],
        words: &[&str],
        terminal: bool,
        attended: Attended,
        patience: Duration,
    ) -> Command {
        let (program, given) = connect
            .split_first()
            .map_or(("false", connect), |(program, given)| {
                (program.as_str(), given)
            });
        let mut command = Command::new(program);
        if is_ssh(connect) {
            command = command.args(self.ssh_options(given, attended, patience));
            command = command.arg(if terminal { "-t" } else { "-T" });
        }
        command = command.args(given);
        if self.host.settings.shell.unwrap_or(is_ssh(connect)) {
            command.args(words.iter().map(|word| quoted(word)))
        } else {
            command.args(words)
        }
    }

    fn ssh_options(&self, given: &[String], attended: Attended, patience: Duration) -> Vec<String> {
        let mut options = vec![
            format!("ConnectTimeout={}", patience.as_secs().max(1)),
            "ServerAliveInterval=5".to_owned(),
            "ServerAliveCountMax=3".to_owned(),
        ];
        if attended == Attended::No {
            options.push("BatchMode=yes".to_owned());
        }
        // The user may share connections in another way.
        let shares = |word: &String| word.contains("Control") || word == "-S" || word == "-M";
        if !given.iter().any(shares)
            && let Some(socket) = self.socket()
        {
            options.push("ControlMaster=auto".to_owned());
            options.push(format!("ControlPath={}", socket.display()));
            options.push(PERSIST.to_owned());
        }
        options
            .into_iter()
            .flat_map(|option| ["-o".to_owned(), option])
            .collect()
    }

    /// The socket of the shared connection; None where its path is too long, or not for ssh.
    fn socket(&self) -> Option<PathBuf> {
        let mut hasher = DefaultHasher::new();
        self.host.settings.connect.hash(&mut hasher);
        let name = format!("{:012x}", hasher.finish() & 0xffff_ffff_ffff);
        let socket = self.sockets.join(name);
        // ssh expands per cent signs.
        let plain = !socket.to_string_lossy().contains(['%', ' ', '"']);
        let usable = plain && socket.as_os_str().len() <= LONGEST_SOCKET;
        (self.is_ssh() && usable).then_some(socket)
    }

    /// The words that connect with a terminal.
    fn terminal_words(&self) -> Result<Vec<String>, HostError> {
        let settings = &self.host.settings;
        if let Some(words) = &settings.connect_tty {
            return Ok(words.clone());
        }
        if self.is_ssh() {
            return Ok(settings.connect.clone());
        }
        // `docker exec -i`, `podman exec -i`, `kubectl exec -i`.
        let mut words = settings.connect.clone();
        let has_exec = words.iter().any(|word| word == "exec");
        match words.iter_mut().find(|word| *word == "-i") {
            Some(word) if has_exec => {
                "-it".clone_into(word);
                Ok(words)
            }
            _ => Err(HostError::NoTerminalCommand {
                host: self.host.name.clone(),
            }),
        }
    }
}

fn is_ssh(connect: &[String]) -> bool {
    let program = connect.first().map(Path::new).and_then(Path::file_name);
    program.is_some_and(|name| name == "ssh")
}

/// A word for the shell of the other side. Words have neither a single quote nor a backslash, so that this
/// means the same to sh, fish and csh.
fn quoted(word: &str) -> String {
    format!("'{word}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::name::HostName;
    use crate::hosts::registry::HostSettings;
    use crate::hosts::request::Screen;

    fn connector(connect: &[&str]) -> Connector {
        let host = Host {
            name: HostName::parse("box").unwrap(),
            settings: HostSettings {
                connect: connect.iter().map(ToString::to_string).collect(),
                connect_tty: None,
                shell: None,
                program: None,
            },
        };
        Connector::new(host, Path::new("/run/biv"), Path::new("/bin/biv"))
    }

    fn line(connect: &[&str], terminal: bool) -> String {
        let request = Request {
            host: HostName::parse("box").unwrap(),
            screen: Screen {
                terminal,
                ..Screen::default()
            },
            words: vec!["list".into()],
        };
        let seconds = Duration::from_secs(3);
        match connector(connect).command(&request, Attended::No, seconds) {
            Ok(command) => format!("{command:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn ssh_shares_its_connection_asks_nothing_and_gets_quoted_words() {
        let ssh = line(&["ssh", "-p", "22", "box"], false);
        for part in [
            "BatchMode=yes",
            "ControlPath=/run/biv/ssh/",
            "\"-T\"",
            "\"'sh'\"",
            "'-c'",
        ] {
            assert!(ssh.contains(part), "{part}: {ssh}");
        }
        assert!(line(&["/usr/bin/ssh", "box"], true).contains("\"-t\""));
        let own = line(&["ssh", "-S", "none", "box"], false);
        assert!(!own.contains("ControlPath"), "{own}");
    }

    #[test]
    fn others_get_words_as_they_are_and_a_terminal_where_it_is_known_how() {
        let docker = line(&["docker", "exec", "-i", "c"], false);
        assert!(docker.contains("\"sh\", \"-c\""), "{docker}");
        assert!(line(&["docker", "exec", "-i", "c"], true).contains("\"-it\""));
        let unknown = line(&["/opt/reach", "box"], true);
        assert_eq!(
            unknown,
            "the host `box` has no command that gives a terminal"
        );
    }
}
