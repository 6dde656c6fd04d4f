//! A command on a host whose output is too large for memory: it goes into a file.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::time::Duration;

use super::answer::Marks;
use super::connect::{Attended, Connector};
use super::error::HostError;
use super::request::{Request, Screen};
use crate::model::printable_line;
use crate::process::Input;

const PATIENCE: Duration = Duration::from_secs(15);

/// More than this is not kept of what a host says beside its output.
const LONGEST_WORDS: usize = 256 << 10;

impl Connector {
    /// Writes the output of a command into a file, and gives back the lines that it said beside that. An
    /// error unless it succeeded, and if the output is larger than `limit`.
    pub(crate) fn fetch(
        &self,
        words: impl IntoIterator<Item = OsString>,
        mut file: &File,
        limit: u64,
    ) -> Result<Vec<String>, HostError> {
        let request = Request {
            host: self.host().name.clone(),
            screen: Screen::default(),
            words: words.into_iter().collect(),
        };
        let command = self.command(&request, Attended::No, PATIENCE)?;
        let mut marks = Marks::default();
        let mut said = Vec::new();
        let mut written = Ok(());
        let mut length = 0_u64;
        let status = command.relayed(
            Input::None,
            |bytes| {
                length = length.saturating_add(bytes.len() as u64);
                if length > limit {
                    return Err(ErrorKind::FileTooLarge.into());
                }
                written = file.write_all(bytes);
                match &written {
                    Ok(()) => Ok(()),
                    Err(error) => Err(error.kind().into()),
                }
            },
            |bytes| {
                let more = marks.take(bytes);
                if said.len() < LONGEST_WORDS {
                    said.extend(more);
                }
                Ok(())
            },
        )?;
        if length > limit {
            let host = self.host().name.clone();
            return Err(HostError::TooLarge { host, limit });
        }
        written.map_err(HostError::NotKept)?;
        let said = String::from_utf8_lossy(&said);
        let mut lines = said.lines().map(printable_line);
        if self.status_of(&marks, status.code())? == 0 {
            return Ok(lines.collect());
        }
        let first = lines.next().unwrap_or_default();
        Err(HostError::Refused {
            host: self.host().name.clone(),
            message: first.trim_start_matches("error: ").to_owned(),
            causes: lines.collect(),
        })
    }
}
