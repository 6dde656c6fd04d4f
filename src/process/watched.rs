//! A program whose output is passed on as it comes, and that is ended when it has been quiet for too long.

use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::relayed::copy;
use super::{Command, Failure};

/// Time is counted in these. Where this process itself was stopped, that is one, however long it took.
pub(crate) const TICK: Duration = Duration::from_millis(250);

/// What the threads know of each other.
#[derive(Default)]
struct Pulse {
    /// How often something came.
    heard: AtomicU64,
    /// How many of them hand on what came: the program is not to blame for that time.
    handing_on: AtomicUsize,
    over: AtomicBool,
}

/// How a watched program ended.
#[derive(Debug)]
pub(crate) enum Watched {
    Ended(ExitStatus),
    /// Nobody wanted to wait any longer.
    GivenUp,
}

impl Command {
    /// Runs the program until it ends, without input. Its output goes to the two functions; when one fails, the
    /// rest of that output is not read. `waits` is asked in each tick, with the time for which nothing has
    /// come; if it says no, the program is killed.
    pub(crate) fn watched(
        &self,
        out: impl FnMut(&[u8]) -> std::io::Result<()> + Send,
        err: impl FnMut(&[u8]) -> std::io::Result<()> + Send,
        mut waits: impl FnMut(Duration) -> bool,
    ) -> Result<Watched, Failure> {
        let mut child = self
            .prepared()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| self.not_started(source))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let pulse = Pulse::default();
        let given_up = std::thread::scope(|scope| {
            let (sender, readers) = mpsc::channel::<()>();
            let other = sender.clone();
            let pulse = &pulse;
            scope.spawn(move || pass_on(stdout, out, pulse, sender));
            scope.spawn(move || pass_on(stderr, err, pulse, other));
            let (mut quiet, mut heard) = (Duration::ZERO, 0);
            loop {
                match readers.recv_timeout(TICK) {
                    // Both have ended.
                    Err(mpsc::RecvTimeoutError::Disconnected) => return false,
                    Ok(()) | Err(mpsc::RecvTimeoutError::Timeout) => {}
                }
                let now = pulse.heard.load(Ordering::Relaxed);
                let busy = pulse.handing_on.load(Ordering::Relaxed) > 0;
                quiet = match busy || now != heard {
                    true => Duration::ZERO,
                    false => quiet + TICK,
                };
                heard = now;
                if !waits(quiet) {
                    pulse.over.store(true, Ordering::Relaxed);
                    return true;
                }
            }
        });
        if given_up {
            end(&mut child);
            return Ok(Watched::GivenUp);
        }
        let status = child.wait().map_err(|source| self.not_started(source))?;
        Ok(Watched::Ended(status))
    }
}

/// Nothing is sent when it ends: that its thread is gone is seen at the channel.
fn pass_on(
    pipe: Option<impl Read + AsFd>,
    mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    pulse: &Pulse,
    _alive: mpsc::Sender<()>,
) {
    let pipe = pipe.map(|pipe| Leavable { pipe, pulse });
    copy(pipe, |bytes| {
        pulse.handing_on.fetch_add(1, Ordering::Relaxed);
        let taken = take(bytes);
        pulse.heard.fetch_add(1, Ordering::Relaxed);
        pulse.handing_on.fetch_sub(1, Ordering::Relaxed);
        taken
    });
}

/// It ends when it is over, also where a child of the program still holds the other end.
struct Leavable<'a, R> {
    pipe: R,
    pulse: &'a Pulse,
}

impl<R: Read + AsFd> Read for Leavable<'_, R> {
    fn read(&mut self, piece: &mut [u8]) -> std::io::Result<usize> {
        let tick = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(TICK.subsec_nanos()),
        };
        while !self.pulse.over.load(Ordering::Relaxed) {
            let mut watched = [PollFd::new(&self.pipe, PollFlags::IN)];
            match poll(&mut watched, Some(&tick)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return self.pipe.read(piece),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(0)
    }
}

fn end(child: &mut Child) {
    // An error means that it has ended already.
    drop(child.kill());
    if let Err(error) = child.wait() {
        tracing::warn!(%error, "a program that was given up could not be waited for");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn run(script: &str, patience: Duration) -> (Watched, String) {
        let mut text = Vec::new();
        let ended = Command::new("sh").args(["-c", script]).watched(
            |bytes| {
                text.extend_from_slice(bytes);
                Ok(())
            },
            |_| Ok(()),
            |quiet| quiet < patience,
        );
        (ended.unwrap(), String::from_utf8(text).unwrap())
    }

    #[test]
    fn what_goes_on_is_waited_for_and_what_stops_is_ended() {
        let second = Duration::from_secs(1);
        let slow = "for n in 1 2 3 4 5 6; do sleep 0.4; echo $n >&2; done; echo end; exit 3";
        let (ended, text) = run(slow, second);
        assert!(matches!(ended, Watched::Ended(status) if status.code() == Some(3)));
        assert_eq!(text, "end\n");
        // Its child holds the pipe open, and lives longer.
        let started = Instant::now();
        let (ended, text) = run("echo begin; sleep 30 & wait", second);
        assert!(matches!(ended, Watched::GivenUp), "{ended:?}");
        assert_eq!(text, "begin\n");
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn time_in_which_its_output_is_handed_on_does_not_count() {
        let ended = Command::new("echo").arg("one").watched(
            |_| {
                std::thread::sleep(Duration::from_secs(2));
                Ok(())
            },
            |_| Ok(()),
            |quiet| quiet < Duration::from_secs(1),
        );
        assert!(matches!(ended, Ok(Watched::Ended(_))), "{ended:?}");
    }
}
