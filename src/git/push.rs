//! Pushing a branch to the remote of its repository.
//!
//! Calls that reach a remote run with the user's hooks, transports and credentials. They have no terminal, so
//! nothing may ask for a password.

use std::time::Duration;

use super::{GitError, Repo};
use crate::process::Command;

/// Long enough for a slow line and a large branch.
const DEADLINE: Duration = Duration::from_secs(600);

/// Variables that select another repository, or parts of one.
const SELECTING: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

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
        let name = format!("refs/heads/{branch}");
        self.transport("git")?
            .args(["push", "--quiet", "--set-upstream", "--", remote])
            .arg(format!("{name}:{name}"))
            .run()?;
        Ok(())
    }

    /// A call with the user's hooks, transports and credentials, in which nothing may ask.
    pub(super) fn transport(&self, program: &str) -> Result<Command, GitError> {
        let mut command = Command::new(program)
            .directory(self.root())
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "true")
            .env("SSH_ASKPASS_REQUIRE", "never")
            .deadline(DEADLINE);
        for variable in SELECTING {
            command = command.env_remove(variable);
        }
        if std::env::var_os("GIT_SSH_COMMAND").is_none() && !self.has_ssh_command()? {
            command = command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        Ok(command)
    }

    fn has_ssh_command(&self) -> Result<bool, GitError> {
        let set = self.git().args(["config", "--get", "core.sshCommand"]);
        Ok(set.output()?.success())
    }
}
