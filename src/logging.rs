//! The log of a home: what operations did and when, and errors that are not returned to a caller.
//!
//! Every room writes with the `tracing` macros. The lines go to `log/biv.log` below the state
//! directory, at most [`LARGEST`] bytes, and one older file of the same size. `BIV_LOG` sets the level.
//! Lines name instances by id. They must not contain titles, prompts or screens.
//!
//! A result that is dropped on purpose is logged at `debug` level, or at `warn` where it may explain a
//! later failure. Where the error means nothing, a comment says why.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

/// The environment variable that sets the level.
pub(crate) const VARIABLE: &str = "BIV_LOG";

/// A file that has grown beyond this becomes the older one.
const LARGEST: u64 = 4 * 1024 * 1024;

/// The level where `BIV_LOG` is not set.
const DEFAULT: LevelFilter = LevelFilter::INFO;

/// A level that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{VARIABLE}={0} is not a level")]
pub(crate) struct UnknownLevel(String);

/// The log file of a home with this state directory.
pub(crate) fn log_file(state: &Path) -> PathBuf {
    state.join("log").join("biv.log")
}

/// The previous log file, moved here when it had grown too large.
pub(crate) fn older_log_file(state: &Path) -> PathBuf {
    log_file(state).with_extension("log.1")
}

/// Sends everything that this process logs to the file. The first line creates the file: a command with
/// nothing to log touches nothing.
pub(crate) fn start(state: &Path, level: Option<&OsStr>) -> Result<(), UnknownLevel> {
    let (level, unknown) = match level.map(OsStr::to_string_lossy) {
        None => (DEFAULT, None),
        Some(text) if text.is_empty() => (DEFAULT, None),
        Some(text) => match text.parse() {
            Ok(level) => (level, None),
            Err(_) => (DEFAULT, Some(UnknownLevel(text.into_owned()))),
        },
    };
    let started = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        // The start of a step too: a step that hangs has no end.
        .with_span_events(FmtSpan::NEW | FmtSpan::CLOSE)
        .with_writer(LogFile::new(state))
        .try_init();
    // Fails only if a subscriber is set already, as in tests that start twice.
    drop(started);
    log_panics();
    unknown.map_or(Ok(()), Err)
}

/// A panic ends the program before a caller could log it.
fn log_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tracing::error!(%panic, "the program ended with a panic");
        before(panic);
    }));
}

/// A file that several processes append whole lines to.
struct LogFile {
    path: PathBuf,
    open: Mutex<Option<File>>,
}

impl LogFile {
    fn new(state: &Path) -> Self {
        Self {
            path: log_file(state),
            open: Mutex::new(None),
        }
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match open.take() {
            Some(file) if self.is_current(&file) => file,
            _ => self.reopen()?,
        };
        let mut whole = format!("[{}] ", std::process::id()).into_bytes();
        whole.extend_from_slice(line);
        file.write_all(&whole)?;
        *open = Some(file);
        Ok(())
    }

    /// Whether the open file is still the one at this path, and has room. Another process may have moved
    /// it.
    fn is_current(&self, file: &File) -> bool {
        let (Ok(ours), Ok(named)) = (file.metadata(), std::fs::symlink_metadata(&self.path)) else {
            return false;
        };
        (ours.dev(), ours.ino()) == (named.dev(), named.ino()) && ours.len() < LARGEST
    }

    fn reopen(&self) -> io::Result<File> {
        if let Some(directory) = self.path.parent()
            && !directory.is_dir()
        {
            // Only this directory: the state directory itself is created by the store.
            DirBuilder::new().mode(0o700).create(directory)?;
        }
        if std::fs::symlink_metadata(&self.path).is_ok_and(|found| found.len() >= LARGEST) {
            std::fs::rename(&self.path, self.path.with_extension("log.1"))?;
        }
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(&self.path)
    }
}

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(self)
    }
}

/// One line on its way to the file.
struct Line<'a>(&'a LogFile);

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A log that cannot be written must not make a command fail, and cannot be logged.
        drop(self.0.append(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_log_is_private_and_bounded() {
        let state = tempfile::tempdir().unwrap();
        let one = LogFile::new(state.path());
        let other = LogFile::new(state.path());
        let line = vec![b'x'; 1024 * 1024];
        for _ in 0..6 {
            one.append(&line).unwrap();
            other.append(b"from another process\n").unwrap();
        }
        let log = log_file(state.path());
        let older = older_log_file(state.path());
        for path in [&log, &older] {
            let found = std::fs::metadata(path).unwrap();
            assert_eq!(found.permissions().mode() & 0o777, 0o600);
            assert!(found.len() < LARGEST + 2 * 1024 * 1024, "{}", found.len());
        }
        // No line of either was lost on the way from one file to the other.
        let text = [std::fs::read(older).unwrap(), std::fs::read(log).unwrap()].concat();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.matches("from another process").count(), 6);
    }

    #[test]
    fn a_home_that_does_not_exist_is_not_made() {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("state");
        assert!(LogFile::new(&state).append(b"line\n").is_err());
        assert!(!state.exists());
    }

    #[test]
    fn a_link_is_not_followed() {
        let state = tempfile::tempdir().unwrap();
        let elsewhere = state.path().join("elsewhere");
        std::fs::write(&elsewhere, "mine").unwrap();
        std::fs::create_dir(state.path().join("log")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, log_file(state.path())).unwrap();
        assert!(LogFile::new(state.path()).append(b"line\n").is_err());
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "mine");
    }
}
