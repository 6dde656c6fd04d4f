//! Pushing a branch to the remote of its repository.
//!
//! This one call runs with the user's hooks, transports and credentials. It has no terminal, so
//! nothing may ask for a password.

use std::time::Duration;

use super::{GitError, Repo};
use crate::process::Command;

/// Long enough for a slow line and a large branch.
const DEADLINE: Duration = Duration::from_secs(600);

impl Repo {
    /// Where a branch is pushed to: where it was before, else where this repository pushes, else
    /// `origin`, else the only remote there is.
    pub(crate) fn push_remote(&self, branch: &str) -> Result<Option<String>, GitError> {
        for key in [
            format!("branch.{branch}.pushRemote"),
            "remote.pushDefault".to_owned(),
            format!("branch.{branch}.remote"),
        ] {
            let output = self.git().args(["config", "--get", &key]).output()?;
            let value = output.stdout_text();
            if output.success() && !value.is_empty() && value != "." {
                return Ok(Some(value));
            }
        }
        let remotes = self.git().arg("remote").text()?;
        let mut remotes = remotes.lines();
        let first = remotes.next();
        if first == Some("origin") || remotes.any(|remote| remote == "origin") {
            return Ok(Some("origin".to_owned()));
        }
        Ok(first.map(str::to_owned))
    }

    /// Pushes what is committed on a branch, under its own name. Never by force.
    pub(crate) fn push(&self, remote: &str, branch: &str) -> Result<(), GitError> {
        let mut command = Command::new("git")
            .directory(self.root())
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "true")
            .env("SSH_ASKPASS_REQUIRE", "never")
            .deadline(DEADLINE);
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
            command = command.env_remove(variable);
        }
        if std::env::var_os("GIT_SSH_COMMAND").is_none() && !self.has_ssh_command()? {
            command = command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        let name = format!("refs/heads/{branch}");
        command
            .args(["push", "--quiet", "--set-upstream", "--", remote])
            .arg(format!("{name}:{name}"))
            .run()?;
        Ok(())
    }

    fn has_ssh_command(&self) -> Result<bool, GitError> {
        let set = self.git().args(["config", "--get", "core.sshCommand"]);
        Ok(set.output()?.success())
    }
}
