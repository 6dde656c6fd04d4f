//! Programs that are not waited for by a deadline: on this terminal, in place of this process, or beyond it.

use std::io::{IsTerminal, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{ExitStatus, Stdio};

use super::command::{Command, Failure};

/// Two free rows below the cursor, which is remembered …
pub(crate) const ROOM_BELOW: &str = "\r\n\n\x1b[2A\x1b7";
/// … and what was written there is cleared away.
pub(crate) const CLEAR_BELOW: &str = "\x1b8\x1b[J";

impl Command {
    /// Runs the program on this process's own terminal until it ends, without a deadline.
    pub(crate) fn in_foreground(&self) -> Result<ExitStatus, Failure> {
        self.prepared()
            .status()
            .map_err(|source| self.not_started(source))
    }

    /// The same for a program with a screen of its own, which says below the cursor that it has ended: that is
    /// cleared away, unless it has failed.
    pub(crate) fn in_foreground_tidily(&self) -> Result<ExitStatus, Failure> {
        write_to_terminal(ROOM_BELOW);
        let status = self.in_foreground()?;
        if status.success() {
            write_to_terminal(CLEAR_BELOW);
        }
        Ok(status)
    }

    /// The same as [`Self::in_foreground`], with its standard input from a file.
    pub(crate) fn in_foreground_reading(
        &self,
        input: std::fs::File,
    ) -> Result<ExitStatus, Failure> {
        self.prepared()
            .stdin(input)
            .status()
            .map_err(|source| self.not_started(source))
    }

    /// Starts the program so that it outlives this process. Its output goes to a file. The program
    /// starts its own session.
    pub(crate) fn spawn_detached(
        &self,
        words: std::fs::File,
    ) -> Result<std::process::Child, Failure> {
        let again = words
            .try_clone()
            .map_err(|source| self.not_started(source))?;
        self.prepared()
            .stdin(Stdio::null())
            .stdout(words)
            .stderr(again)
            .spawn()
            .map_err(|source| self.not_started(source))
    }

    /// Starts the program with this standard input and our output, in a process group of its own if
    /// wanted. Without a deadline: the caller waits for it.
    pub(crate) fn spawn_on(
        &self,
        stdin: OwnedFd,
        own_group: bool,
    ) -> Result<std::process::Child, Failure> {
        let mut command = self.prepared();
        command.stdin(stdin);
        if own_group {
            command.process_group(0);
        }
        command.spawn().map_err(|source| self.not_started(source))
    }

    /// As [`Self::exec`], with this standard input.
    pub(crate) fn exec_on(&self, stdin: OwnedFd) -> Failure {
        let source = self.prepared().stdin(stdin).exec();
        self.not_started(source)
    }

    /// Replaces this process by the program; returns only on failure.
    pub(crate) fn exec(&self) -> Failure {
        let source = self.prepared().exec();
        self.not_started(source)
    }
}

/// A terminal that is gone needs no tidying.
fn write_to_terminal(sequence: &str) {
    let mut out = std::io::stdout();
    if out.is_terminal() {
        drop(
            out.write_all(sequence.as_bytes())
                .and_then(|()| out.flush()),
        );
    }
}
