//! A command on a host whose output is too large for memory: it goes into a file.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::time::Duration;

use super::answer::Marks;
use super::connect::{Attended, Connector};
use super::error::HostError;
use super::request::{Request, Screen};
use crate::process::Input;

const PATIENCE: Duration = Duration::from_secs(15);

/// How it ended.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub status: u8,
    /// What the command said beside its output.
    pub said: Vec<u8>,
}

impl Connector {
    /// Writes the output of a command into a file. An error unless it began and ended.
    pub(crate) fn fetch(
        &self,
        words: impl IntoIterator<Item = OsString>,
        mut file: &File,
    ) -> Result<Fetched, HostError> {
        let request = Request {
            host: self.host().name.clone(),
            screen: Screen::default(),
            words: words.into_iter().collect(),
        };
        let command = self.command(&request, Attended::No, PATIENCE)?;
        let mut marks = Marks::default();
        let mut said = Vec::new();
        let mut written = Ok(());
        let status = command.relayed(
            Input::None,
            |bytes| {
                written = file.write_all(bytes);
                match &written {
                    Ok(()) => Ok(()),
                    Err(error) => Err(error.kind().into()),
                }
            },
            |bytes| {
                said.extend(marks.take(bytes));
                Ok(())
            },
        )?;
        written.map_err(HostError::NotKept)?;
        let status = self.status_of(&marks, status.code())?;
        Ok(Fetched { status, said })
    }
}
