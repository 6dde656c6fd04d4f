//! The other side: carries out one request of a biv elsewhere.

use std::ffi::OsStr;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::answer::{alive_mark, begin_mark, end_mark};
use super::request::Request;
use crate::process::{CANNOT_START, Command, Identity, Signal, shell_status};

/// How often it is looked whether the caller is still there.
const PROBE: Duration = Duration::from_millis(500);
/// The caller is told as often that the connection and this machine work, whatever the command does.
const PROBES_PER_MARK: u32 = 4;

/// Runs the command line of a request with this program. Returns its exit status.
pub(crate) fn serve(word: &OsStr, program: &Path) -> u8 {
    let request = match Request::decode(word) {
        Ok(request) => request,
        Err(misunderstood) => {
            tracing::warn!(
                ?misunderstood,
                "a request of another biv was not understood"
            );
            // Our own protocol tells the caller which of the two is older.
            say(&begin_mark());
            say(&end_mark(2));
            return 2;
        }
    };
    let mut command = Command::new(program).args(["--via", request.host.as_str()]);
    if let Some(columns) = request.screen.columns {
        command = command.arg("--columns").arg(columns.to_string());
    }
    if request.screen.coloured {
        command = command.args(["--color", "always"]);
    }
    let command = command.args(&request.words);
    if request.screen.terminal {
        // Returns only if it cannot be started.
        let failure = command.exec();
        say(format!("{failure}\n").as_bytes());
        return CANNOT_START;
    }
    say(&begin_mark());
    let status = match std::io::stdin().as_fd().try_clone_to_owned() {
        Ok(stdin) => run(&command, stdin),
        Err(error) => {
            say(format!("{error}\n").as_bytes());
            CANNOT_START
        }
    };
    say(&end_mark(status));
    status
}

fn run(command: &Command, stdin: std::os::fd::OwnedFd) -> u8 {
    let mut child = match command.spawn_on(stdin, false) {
        Ok(child) => child,
        Err(failure) => {
            say(format!("{failure}\n").as_bytes());
            return CANNOT_START;
        }
    };
    let identity = i32::try_from(child.id()).ok().and_then(Identity::of_pid);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || drop(sender.send(child.wait())));
    let mut told = false;
    let mut probes = 0;
    // The first at once: the caller knows from it that more will come.
    say(&alive_mark());
    loop {
        match receiver.recv_timeout(PROBE) {
            Ok(Ok(status)) => return shell_status(status),
            Ok(Err(_)) | Err(mpsc::RecvTimeoutError::Disconnected) => return 1,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        // The caller has gone, or its connection: the same as Ctrl+C here.
        if !told && caller_is_gone() {
            told = true;
            if let Some(identity) = &identity {
                identity.signal(Signal::INT);
            }
        }
        probes += 1;
        if !told && probes % PROBES_PER_MARK == 0 {
            say(&alive_mark());
        }
    }
}

/// Whether nobody reads our output any more.
fn caller_is_gone() -> bool {
    let stdout = std::io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut watched, Some(&now)).is_ok()
        && watched[0]
            .revents()
            .intersects(PollFlags::ERR | PollFlags::HUP)
}

fn say(bytes: &[u8]) {
    // Where standard error is closed, nobody listens.
    drop(std::io::stderr().lock().write_all(bytes));
}
