//! A question to a host: its whole answer, within a deadline, with nobody there to help.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::time::Duration;

use super::answer::Marks;
use super::connect::{Attended, Connector};
use super::error::{HostError, Trouble};
use super::request::{Request, Screen};
use crate::process::{Failure, Output};

/// No answer is larger: 20,000 instances.
const LARGEST: u64 = 64 << 20;

/// One command line whose output is wanted.
#[derive(Debug)]
pub(crate) struct Question {
    pub words: Vec<OsString>,
    pub input: Option<File>,
    pub deadline: Duration,
    /// It changes nothing there, so that nobody needs the answer when this process ends.
    pub only_looks: bool,
}

impl Question {
    pub(crate) fn new<S: Into<OsString>>(
        words: impl IntoIterator<Item = S>,
        deadline: Duration,
    ) -> Self {
        Self {
            words: words.into_iter().map(Into::into).collect(),
            input: None,
            deadline,
            only_looks: false,
        }
    }

    /// For a command that changes nothing: what connects to the host ends with this process.
    pub(crate) fn that_only_looks(self) -> Self {
        Self {
            only_looks: true,
            ..self
        }
    }

    /// A text that the command reads, of any size.
    pub(crate) fn with_text(self, text: String) -> std::io::Result<Self> {
        let (reader, mut writer) = std::io::pipe()?;
        // A side that has ended does not read the rest.
        std::thread::spawn(move || writer.write_all(text.as_bytes()).ok());
        Ok(self.with_input(Some(File::from(std::os::fd::OwnedFd::from(reader)))))
    }

    /// What the command reads, from where the file stands.
    pub(crate) fn with_input(mut self, input: Option<File>) -> Self {
        self.input = input;
        self
    }
}

/// What the command of a host printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Reply {
    pub status: u8,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Of the biv there.
    pub version: String,
}

impl Connector {
    pub(crate) fn ask(&self, question: Question) -> Result<Reply, HostError> {
        let request = Request {
            host: self.host().name.clone(),
            screen: Screen::default(),
            words: question.words,
        };
        let command = self
            .command(&request, Attended::No, question.deadline)?
            .at_most(LARGEST)
            .deadline(question.deadline);
        let command = match question.only_looks {
            true => self.bound(command),
            false => command,
        };
        let asked = match question.input {
            None => command.output(),
            Some(mut input) => {
                command.output_fed(|pipe| std::io::copy(&mut input, pipe).map(|_| ()))
            }
        };
        let output = match asked {
            Ok(output) => output,
            Err(Failure::Deadline { deadline, .. }) => {
                let seconds = deadline.as_secs().max(1);
                return Err(self.trouble(Trouble::Slow { seconds }, Vec::new()));
            }
            Err(Failure::TooMuch { limit, .. }) => {
                return Err(self.trouble(Trouble::TooMuch { limit }, Vec::new()));
            }
            Err(failure) => {
                let said = vec![failure.to_string()];
                return Err(self.trouble(Trouble::Unreachable, said));
            }
        };
        let mut marks = Marks::default();
        let stderr = marks.take(&output.stderr);
        let status = self.status_of(&marks, output.status.code())?;
        let Output { stdout, .. } = output;
        let version = marks.begun.map(|begun| begun.version).unwrap_or_default();
        Ok(Reply {
            status,
            stdout,
            stderr,
            version,
        })
    }

    /// The exit status of the command there; an error unless it began and ended.
    pub(super) fn status_of(&self, marks: &Marks, code: Option<i32>) -> Result<u8, HostError> {
        let said = marks.said_lines();
        match (&marks.begun, marks.ended) {
            (Some(begun), _) if !begun.understood => {
                let there = Some(crate::model::printable_line(&begun.version));
                Err(self.trouble(Trouble::Version { there }, said))
            }
            (Some(_), Some(status)) => Ok(status),
            (Some(_), None) => Err(self.trouble(Trouble::Cut, said)),
            (None, _) => Err(self.trouble(unbegun(&said, code), said)),
        }
    }

    pub(super) fn trouble(&self, trouble: Trouble, said: Vec<String>) -> HostError {
        HostError::Trouble {
            host: self.host().name.clone(),
            trouble,
            said,
        }
    }
}

/// Why the other side has not begun, from what a shell or clap says.
fn unbegun(said: &[String], code: Option<i32>) -> Trouble {
    let has = |part: &str| said.iter().any(|line| line.contains(part));
    if has("unrecognized subcommand") {
        Trouble::Version { there: None }
    } else if code == Some(127) || has("biv: not found") || has("biv: command not found") {
        Trouble::NoProgram
    } else {
        Trouble::Unreachable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_from_what_is_not_there() {
        let line = |text: &str| vec![text.to_owned()];
        let check = |said: &str, code: i32, expected: Trouble| {
            assert_eq!(unbegun(&line(said), Some(code)), expected, "{said}");
        };
        check("sh: 1: exec: biv: not found", 127, Trouble::NoProgram);
        check(
            "error: unrecognized subcommand '__host'",
            2,
            Trouble::Version { there: None },
        );
        check(
            "ssh: connect to host box port 22: Connection refused",
            255,
            Trouble::Unreachable,
        );
    }
}
