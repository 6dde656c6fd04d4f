//! A question whose answer goes on: lines, as they come.

use std::io::Error;
use std::time::Duration;

use super::answer::Marks;
use super::connect::{Attended, Connector};
use super::error::HostError;
use super::request::{Request, Screen};
use crate::process::Input;

const PATIENCE: Duration = Duration::from_secs(15);
/// A longer line is dropped.
const LONGEST_LINE: usize = 1 << 20;

impl Connector {
    /// Passes each line on until `take` returns false, or until the other side ends. Returns whether more is
    /// wanted. The connecting program ends with this process.
    pub(crate) fn follow(
        &self,
        words: &[String],
        take: &mut (dyn FnMut(&str) -> bool + Send),
    ) -> Result<bool, HostError> {
        let request = Request {
            host: self.host().name.clone(),
            screen: Screen::default(),
            words: words.iter().map(Into::into).collect(),
        };
        let command = self.bound(self.command(&request, Attended::No, PATIENCE)?);
        let mut marks = Marks::default();
        let mut line = Vec::new();
        let mut more = true;
        let status = command.relayed(
            Input::None,
            |bytes| {
                for byte in bytes {
                    if *byte != b'\n' {
                        line.push(*byte);
                        continue;
                    }
                    let whole = std::mem::take(&mut line);
                    more = whole.len() > LONGEST_LINE || take(&String::from_utf8_lossy(&whole));
                    if !more {
                        return Err(Error::other("enough"));
                    }
                }
                line.truncate(LONGEST_LINE + 1);
                Ok(())
            },
            |bytes| {
                drop(marks.take(bytes));
                Ok(())
            },
        )?;
        if more {
            self.status_of(&marks, status.code())?;
        }
        Ok(more)
    }
}
