//! What a host has, and how this program gets there.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::connect::Connector;
use super::error::{HostError, Trouble};
use super::request::hexadecimal;
use crate::model::printable_line;
use crate::process::Failure;

/// How long the program may take to get there.
const SENDING: Duration = Duration::from_secs(600);

/// What a host says of itself without biv. Empty: it is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Platform {
    pub system: String,
    pub machine: String,
    pub git: String,
    pub tmux: String,
}

impl Platform {
    /// That of this machine, as far as programs depend on it.
    fn here() -> Self {
        let name = rustix::system::uname();
        Self {
            system: name.sysname().to_string_lossy().into_owned(),
            machine: name.machine().to_string_lossy().into_owned(),
            ..Self::default()
        }
    }

    fn words(&self) -> String {
        format!("{} {}", self.system, self.machine)
    }
}

impl Connector {
    /// Connects, and asks for the programs that biv needs.
    pub(crate) fn platform(&self, deadline: Duration) -> Result<Platform, HostError> {
        // Neither quotes nor backslashes: see `connect`.
        let script = "echo biv-platform; uname -s; uname -m; \
                      git --version 2>/dev/null || echo; tmux -V 2>/dev/null || echo";
        let command = self.script(script, deadline).deadline(deadline);
        let output = match command.output() {
            Ok(output) => output,
            Err(Failure::Deadline { .. }) => {
                let seconds = deadline.as_secs().max(1);
                return Err(self.trouble(Trouble::Slow { seconds }, Vec::new()));
            }
            Err(failure) => {
                return Err(self.trouble(Trouble::Unreachable, vec![failure.to_string()]));
            }
        };
        let text = output.stdout_text();
        // A login shell may print something first.
        let mut lines = text
            .lines()
            .skip_while(|line| line.trim() != "biv-platform")
            .skip(1)
            .map(|line| printable_line(line.trim()));
        let (Some(system), Some(machine)) = (lines.next(), lines.next()) else {
            let said = output.stderr_text();
            let said = said.lines().map(printable_line).collect();
            return Err(self.trouble(Trouble::Unreachable, said));
        };
        let mut program = |before: &str| {
            let said = lines.next().unwrap_or_default();
            said.strip_prefix(before).unwrap_or(&said).trim().to_owned()
        };
        Ok(Platform {
            system,
            machine,
            git: program("git version"),
            tmux: program("tmux"),
        })
    }

    /// Sends this program, if it can run there. It is compared by its hash, tried, and then put into its
    /// place by a rename.
    pub(crate) fn install(&self, program: &Path, deadline: Duration) -> Result<String, HostError> {
        let there = self.platform(deadline)?;
        let here = Platform::here();
        if (&there.system, &there.machine) != (&here.system, &here.machine) {
            return Err(HostError::Platform {
                host: self.host().name.clone(),
                there: there.words(),
                here: here.words(),
            });
        }
        let unreadable = |error: std::io::Error| HostError::File {
            file: program.to_owned(),
            message: error.to_string(),
        };
        let hash = hash_of(program).map_err(unreadable)?;
        let place = match self.host().settings.program.as_deref() {
            Some(path) if path.starts_with('/') => path.to_owned(),
            _ => "$HOME/.local/bin/biv".to_owned(),
        };
        let script = format!(
            "p=\"{place}\"; d=${{p%/*}}; t=\"$d/.biv-install.$$\"; mkdir -p \"$d\" || exit 8; \
             cat > \"$t\" || {{ rm -f \"$t\"; exit 8; }}; \
             h=$(sha256sum \"$t\" 2>/dev/null || shasum -a 256 \"$t\"); \
             case \"$h\" in {hash}*) ;; *) rm -f \"$t\"; exit 9;; esac; \
             chmod 755 \"$t\"; \"$t\" --version || {{ rm -f \"$t\"; exit 10; }}; mv -f \"$t\" \"$p\""
        );
        let mut file = std::fs::File::open(program).map_err(unreadable)?;
        let command = self.script(&script, deadline).deadline(SENDING);
        let output = command
            .output_fed(|pipe| std::io::copy(&mut file, pipe).map(|_| ()))
            .map_err(|failure| self.trouble(Trouble::Unreachable, vec![failure.to_string()]))?;
        let said = || output.stderr_text().lines().map(printable_line).collect();
        match output.status.code() {
            Some(0) => {
                let version = output.stdout_text();
                let version = version.lines().last().unwrap_or_default();
                Ok(printable_line(version.trim_start_matches("biv ")))
            }
            Some(9) => Err(HostError::NotWhole {
                host: self.host().name.clone(),
            }),
            Some(10) => Err(HostError::Platform {
                host: self.host().name.clone(),
                there: format!("{} with other libraries", there.words()),
                here: here.words(),
            }),
            _ => Err(self.trouble(Trouble::Unreachable, said())),
        }
    }
}

fn hash_of(file: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(file)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            length => hash.update(&piece[..length]),
        }
    }
}
