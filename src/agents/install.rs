//! Whether an agent is on this machine, and which version of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::launch::Host;
use super::provider::Provider;
use crate::detect::AgentVersion;
use crate::process::Command;

impl Provider {
    /// Where its program is; None where it is not installed.
    pub(crate) fn installed(&self, host: &Host) -> Option<PathBuf> {
        program(self.file.command.first()?, host)
    }

    /// Whether it runs any command, as a shell does.
    pub(crate) fn runs_any_command(&self) -> bool {
        self.file.command_from_args
    }

    /// The program that a launch with these arguments runs, and where it is.
    pub(crate) fn program(&self, extra_args: &[String], host: &Host) -> (String, Option<PathBuf>) {
        let from_args = extra_args.first().filter(|_| self.file.command_from_args);
        let name = from_args.or_else(|| self.file.command.first());
        let name = name.cloned().unwrap_or_default();
        let path = program(&name, host);
        (name, path)
    }
}

/// Asks this program of the agent. None where it does not say, or takes too long.
pub(crate) fn version(
    provider: &Provider,
    of: &Path,
    host: &Host,
    patience: Duration,
) -> Option<AgentVersion> {
    let (name, args) = provider.file.version_command.split_first()?;
    let asked = match provider.file.command.first() == Some(name) {
        true => of.to_owned(),
        false => program(name, host)?,
    };
    let output = Command::new(asked)
        .args(args)
        .deadline(patience)
        .output()
        .ok()?;
    AgentVersion::find(&output.stdout_text()).or_else(|| AgentVersion::find(&output.stderr_text()))
}

fn program(name: &str, host: &Host) -> Option<PathBuf> {
    let known: Option<&Path> = match name {
        "{biv}" => Some(&host.biv),
        "{shell}" => Some(&host.shell),
        _ => None,
    };
    match known {
        Some(path) => path.is_file().then(|| path.to_owned()),
        None => which::which_in(name, host.path.as_ref(), "/").ok(),
    }
}
