//! The UI on a terminal of our own, so that nothing stands between its output and the clock.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{BIV, Camp, cpu_of};

const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Screen {
    child: Child,
    terminal: File,
    started: Instant,
    seen: String,
}

impl Screen {
    pub(crate) fn open(camp: &Camp, directory: &Path) -> Self {
        let mut biv = Command::new(BIV);
        biv.current_dir(directory).env("BIV_HOME", camp.home());
        Self::of(biv)
    }

    /// Any program that draws on a terminal.
    pub(crate) fn of(mut program: Command) -> Self {
        let Ok((terminal, other)) = terminal() else {
            panic!("there is no pseudo-terminal to be had");
        };
        let end = || match other.try_clone() {
            Ok(end) => Stdio::from(end),
            Err(error) => panic!("{error}"),
        };
        let started = Instant::now();
        let child = program
            .env("TERM", "xterm-256color")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn();
        let Ok(child) = child else {
            panic!("{program:?} cannot be started");
        };
        Self {
            child,
            terminal,
            started,
            seen: String::new(),
        }
    }

    /// Milliseconds from the start until this was written.
    pub(crate) fn until(&mut self, text: &str) -> f64 {
        while !self.seen.contains(text) {
            assert!(
                self.started.elapsed() < PATIENCE,
                "the UI never showed {text:?}: {:?}",
                self.seen
            );
            self.read(PATIENCE);
        }
        self.started.elapsed().as_secs_f64() * 1000.0
    }

    /// Milliseconds from a key until something is written about it.
    pub(crate) fn pressed(&mut self, key: &[u8]) -> f64 {
        self.drain_for(Duration::from_millis(30));
        let started = Instant::now();
        self.terminal.write_all(key).ok();
        self.read(PATIENCE);
        started.elapsed().as_secs_f64() * 1000.0
    }

    /// Until everything has been looked at and hung up.
    pub(crate) fn settle(&mut self) {
        self.drain_for(Duration::from_secs(12));
    }

    pub(crate) fn drain_for(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            self.read(left);
        }
    }

    /// Milliseconds of CPU that it and its children have used so far.
    pub(crate) fn cpu(&self) -> f64 {
        cpu_of(self.child.id())
    }

    fn read(&mut self, limit: Duration) {
        let timeout = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        let mut fds = [PollFd::new(&self.terminal, PollFlags::IN)];
        if matches!(poll(&mut fds, Some(&timeout)), Ok(1..)) {
            let mut buffer = [0; 65_536];
            let count = self.terminal.read(&mut buffer).unwrap_or(0);
            let text = String::from_utf8_lossy(buffer.get(..count).unwrap_or_default());
            // A cursor that jumps over blanks is a blank.
            self.seen.push_str(&text.replace("\x1b[1C", " "));
            if self.seen.len() > 1 << 20 {
                self.seen.clear();
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.terminal.write_all(b"q").ok();
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline && !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.read(Duration::from_millis(5));
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn terminal() -> std::io::Result<(File, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let size = Winsize {
        ws_row: 50,
        ws_col: 180,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(ours.as_fd(), size)?;
    let name = ptsname(&ours, Vec::new())?;
    let path = std::path::PathBuf::from(name.to_string_lossy().into_owned());
    let other = File::options().read(true).write(true).open(path)?;
    Ok((File::from(ours), OwnedFd::from(other)))
}
