//! Commands of the user in the worktree of an instance.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::engine::base::{Core, Error, Scope};
use crate::engine::operate::environment;
use crate::model::{InstanceRecord, printable_line};
use crate::process::{Command, shell_status};

impl Core {
    /// The worktree of an instance that has one in place.
    pub(crate) fn worktree_path(&self, given: &str) -> Result<PathBuf, Error> {
        worktree(&self.settled(given, Scope::Here)?.record)
    }

    /// Runs a command in the worktree of an instance, in this terminal and with the environment of its
    /// agent. The idle timer leaves the instance alone meanwhile. Returns its exit status, as a shell
    /// reports it.
    pub(crate) fn run_in_worktree(&self, given: &str, command: &[OsString]) -> Result<u8, Error> {
        let found = self.settled(given, Scope::Here)?;
        let directory = worktree(&found.record)?;
        let _presence = found.dir.lock_presence("exec")?;
        let (program, arguments) = command.split_first().ok_or(Error::NothingToRun)?;
        let mut command = Command::new(program)
            .args(arguments)
            .directory(&directory)
            .env_clear();
        for (name, value) in environment::of_agent(&found.record.id, &directory, &[]) {
            command = command.env(OsStr::from_bytes(&name), OsStr::from_bytes(&value));
        }
        // The terminal is this one, not that of the agent.
        if let Some(terminal) = std::env::var_os("TERM") {
            command = command.env("TERM", terminal);
        }
        let status = command.in_foreground();
        let status = status.map_err(|source| Error::NotRunnable {
            program: printable_line(&program.to_string_lossy()),
            title: found.record.title.clone(),
            source,
        });
        Ok(shell_status(status?))
    }
}

fn worktree(record: &InstanceRecord) -> Result<PathBuf, Error> {
    let path = &record.worktree.path;
    if path.is_dir() {
        Ok(path.clone())
    } else {
        Err(Error::WorktreeAway {
            title: record.title.clone(),
            state: record.state.into(),
            path: path.clone(),
        })
    }
}
