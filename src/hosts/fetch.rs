//! A command on a host whose output is too large for memory: it goes into a file.
//!
//! How long it takes is not known: a large worktree over a slow link takes hours. So there is no deadline for the
//! whole. The other side says every few seconds that it is there, and what does not even do that for
//! `hosts.silence` is given up. If it only says so and sends nothing, it is given up much later: it may be reading
//! a large disk.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::answer::Marks;
use super::connect::{Attended, Connector};
use super::error::{HostError, Trouble};
use super::request::{Request, Screen};
use crate::model::printable_line;
use crate::process::{TICK, Watched};

const PATIENCE: Duration = Duration::from_secs(15);

/// How long a host that is there may take for the next bytes of the output.
const STANDSTILL: Duration = Duration::from_secs(3600);

/// More than this is not kept of what a host says beside its output.
const LONGEST_WORDS: usize = 256 << 10;

/// How much is fetched, and how long is waited for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// In bytes.
    pub limit: u64,
    /// For as long nothing may be heard.
    pub silence: Duration,
}

/// What is known while it is waited.
#[derive(Default)]
struct Heard {
    /// An older biv has begun, which does not say that it is there, and has sent nothing yet.
    mute: AtomicBool,
    bytes: AtomicU64,
}

impl Connector {
    /// Writes the output of a command into a file, and gives back the lines that it said beside that. An
    /// error unless it succeeded, and if it went beyond the bounds.
    pub(crate) fn fetch(
        &self,
        words: impl IntoIterator<Item = OsString>,
        mut file: &File,
        bounds: Bounds,
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
        let heard = Heard::default();
        let limit = bounds.limit;
        let ended = command.watched(
            |bytes| {
                let more = bytes.len() as u64;
                let length = heard.bytes.fetch_add(more, Ordering::Relaxed) + more;
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
                let mute = marks.begun.is_some() && !marks.lively;
                heard.mute.store(mute, Ordering::Relaxed);
                Ok(())
            },
            waiting(&heard, bounds.silence),
        )?;
        if heard.bytes.load(Ordering::Relaxed) > limit {
            let host = self.host().name.clone();
            return Err(HostError::TooLarge { host, limit });
        }
        written.map_err(HostError::NotKept)?;
        let Watched::Ended(status) = ended else {
            let seconds = bounds.silence.as_secs().max(1);
            return Err(self.trouble(Trouble::Stalled { seconds }, marks.said_lines()));
        };
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

/// Whether to go on, asked in each tick with the time of silence.
fn waiting(heard: &Heard, silence: Duration) -> impl FnMut(Duration) -> bool {
    let mut standing = Duration::ZERO;
    let mut before = 0;
    move |quiet| {
        let bytes = heard.bytes.load(Ordering::Relaxed);
        standing = match bytes == before {
            true => standing + TICK,
            false => Duration::ZERO,
        };
        before = bytes;
        let prepares = heard.mute.load(Ordering::Relaxed) && bytes == 0;
        standing < STANDSTILL && (prepares || quiet < silence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENCE: Duration = Duration::from_secs(60);

    /// Asks as often as ticks pass in that time.
    fn goes_on(waits: &mut impl FnMut(Duration) -> bool, time: Duration, quiet: bool) -> bool {
        let mut passed = Duration::ZERO;
        while passed < time {
            passed += TICK;
            if !waits(if quiet { passed } else { Duration::ZERO }) {
                return false;
            }
        }
        true
    }

    #[test]
    fn silence_ends_it_and_a_host_that_only_says_it_is_there_ends_it_later() {
        let heard = Heard::default();
        let mut waits = waiting(&heard, SILENCE);
        assert!(goes_on(&mut waits, Duration::from_secs(59), true));
        assert!(!goes_on(&mut waits, Duration::from_secs(61), true));
        let mut waits = waiting(&heard, SILENCE);
        assert!(goes_on(&mut waits, Duration::from_secs(3500), false));
        assert!(!goes_on(&mut waits, Duration::from_secs(200), false));
        // With a few bytes now and then it may take days.
        let mut waits = waiting(&heard, SILENCE);
        for _ in 0..100 {
            heard.bytes.fetch_add(1, Ordering::Relaxed);
            assert!(goes_on(&mut waits, Duration::from_secs(3500), false));
        }
    }

    #[test]
    fn an_older_host_may_prepare_without_a_word() {
        let heard = Heard::default();
        heard.mute.store(true, Ordering::Relaxed);
        let mut waits = waiting(&heard, SILENCE);
        assert!(goes_on(&mut waits, Duration::from_secs(3500), true));
        heard.bytes.fetch_add(1, Ordering::Relaxed);
        assert!(!goes_on(&mut waits, Duration::from_secs(61), true));
    }
}
