//! A command line of the user, carried out on a host, with the standard streams of this process.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::answer::Marks;
use super::connect::{Attended, Connector};
use super::error::{HostError, Trouble};
use super::filter::TerminalFilter;
use super::request::{Request, Screen};
use crate::process::{Input, shell_status};

/// How long ssh may take to connect while the user waits.
const PATIENCE: Duration = Duration::from_secs(15);

/// How a command line is passed on.
#[derive(Debug, Clone)]
pub(crate) struct Passing {
    pub words: Vec<OsString>,
    pub screen: Screen,
    /// Whether the command reads our standard input.
    pub reads_input: bool,
    /// A file that it reads instead.
    pub input: Option<PathBuf>,
    /// Whether its output is that of a program which the user has chosen, and goes to the terminal as it is.
    pub raw: bool,
}

impl Connector {
    /// Returns the exit status of the command there.
    pub(crate) fn pass(&self, passing: &Passing) -> Result<u8, HostError> {
        let request = Request {
            host: self.host().name.clone(),
            screen: passing.screen.clone(),
            words: passing.words.clone(),
        };
        let attended = match std::io::stderr().is_terminal() {
            true => Attended::Yes,
            false => Attended::No,
        };
        let command = self.command(&request, attended, PATIENCE)?;
        if passing.screen.terminal {
            let status = command.in_foreground()?;
            return match status.code() {
                // A program of the user's has statuses of its own; ssh says itself what went wrong.
                _ if passing.raw => Ok(shell_status(status)),
                // ssh itself, or the shell that has found no biv.
                Some(255) if self.is_ssh() => Err(self.trouble(Trouble::Unreachable, Vec::new())),
                Some(127) => Err(self.trouble(Trouble::NoProgram, Vec::new())),
                _ => Ok(shell_status(status)),
            };
        }
        let input = match (&passing.input, passing.reads_input) {
            (Some(path), _) => {
                let opened = std::fs::File::open(path);
                Input::File(opened.map_err(|error| HostError::File {
                    file: path.clone(),
                    message: error.to_string(),
                })?)
            }
            (None, true) => Input::Ours,
            (None, false) => Input::None,
        };
        let guards =
            |is_terminal: bool| (is_terminal && !passing.raw).then(TerminalFilter::default);
        let mut of_stdout = guards(std::io::stdout().is_terminal());
        let mut of_stderr = guards(std::io::stderr().is_terminal());
        let mut marks = Marks::default();
        let status = command.relayed(
            input,
            |bytes| {
                let mut stdout = std::io::stdout().lock();
                let bytes = match &mut of_stdout {
                    Some(filter) => &filter.take(bytes),
                    None => bytes,
                };
                stdout.write_all(bytes).and_then(|()| stdout.flush())
            },
            |bytes| {
                let bytes = marks.take(bytes);
                let bytes = match &mut of_stderr {
                    Some(filter) => filter.take(&bytes),
                    None => bytes,
                };
                std::io::stderr().lock().write_all(&bytes)
            },
        );
        let code = match status {
            Ok(status) => status.code(),
            Err(failure) => {
                return Err(self.trouble(Trouble::Unreachable, vec![failure.to_string()]));
            }
        };
        self.status_of(&marks, code)
    }
}
