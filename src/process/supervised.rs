//! A program that may run for a long time and can be interrupted, with all its children.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Command, Failure, Identity, Survivors, Tree};

const PROBE: Duration = Duration::from_millis(20);
/// How long the remaining output of an ended program is waited for. A child that it left running may keep
/// the pipe open.
const DRAIN: Duration = Duration::from_secs(1);
/// How many bytes of the end of its output are kept.
const KEPT: usize = 64 * 1024;

/// How a supervised program ended.
#[derive(Debug)]
pub(crate) enum Supervised {
    Ended {
        status: ExitStatus,
        /// The end of its output, standard output and error in the order of arrival.
        said: String,
    },
    /// It was ended with everything that it had started, because the caller asked for it.
    Interrupted(Result<(), Survivors>),
    /// The same, because its deadline had passed.
    TooLate(Result<(), Survivors>),
}

impl Command {
    /// Runs the program until it ends, until `interrupted` returns true, or until its deadline. In the
    /// last two cases, all its descendants and all processes with the marker are ended with it.
    pub(crate) fn supervise(
        &self,
        marker: &str,
        grace: Duration,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Supervised, Failure> {
        self.supervise_into(marker, grace, interrupted, None)
    }

    /// As [`Self::supervise`], with a file for its whole output.
    pub(crate) fn supervise_into(
        &self,
        marker: &str,
        grace: Duration,
        interrupted: &dyn Fn() -> bool,
        log: Option<std::fs::File>,
    ) -> Result<Supervised, Failure> {
        let not_started = |source| self.not_started(source);
        // One pipe for both: two would be read in an order that is not the program's.
        let (output, stdout) = std::io::pipe().map_err(not_started)?;
        let stderr = stdout.try_clone().map_err(not_started)?;
        let mut child = self
            .prepared()
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            // A Ctrl+C at the terminal goes to this process only.
            .process_group(0)
            .spawn()
            .map_err(|source| self.not_started(source))?;
        let leader = i32::try_from(child.id()).ok().and_then(Identity::of_pid);
        let said = Arc::new(Mutex::new(Vec::new()));
        let reader = keep_end_of(output, &said, log);
        let deadline = Instant::now() + self.deadline_after();
        let stop = |child: &mut Child| {
            let stopped = Tree::of(leader.as_ref(), marker).stop(grace);
            if let Err(error) = child.wait() {
                tracing::warn!(%error, "a program that was ended could not be waited for");
            }
            stopped
        };
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => {}
                Err(source) => return Err(self.not_started(source)),
            }
            if interrupted() {
                return Ok(Supervised::Interrupted(stop(&mut child)));
            }
            if Instant::now() >= deadline {
                return Ok(Supervised::TooLate(stop(&mut child)));
            }
            std::thread::sleep(PROBE);
        };
        let enough = Instant::now() + DRAIN;
        while !reader.is_finished() && Instant::now() < enough {
            std::thread::sleep(PROBE);
        }
        let said = said.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Supervised::Ended {
            status,
            said: String::from_utf8_lossy(&said).into_owned(),
        })
    }
}

fn keep_end_of(
    mut pipe: impl Read + Send + 'static,
    said: &Arc<Mutex<Vec<u8>>>,
    mut log: Option<std::fs::File>,
) -> std::thread::JoinHandle<()> {
    let said = Arc::clone(said);
    std::thread::spawn(move || {
        let mut piece = [0; 8192];
        while let Ok(length @ 1..) = pipe.read(&mut piece) {
            if let Some(file) = &mut log
                && let Err(error) = file.write_all(piece.get(..length).unwrap_or_default())
            {
                tracing::warn!(%error, "the output of a program could not be kept");
                log = None;
            }
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.extend_from_slice(piece.get(..length).unwrap_or_default());
            let surplus = said.len().saturating_sub(KEPT);
            said.drain(..surplus);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        Command::new("sh").args(["-c", script])
    }

    #[test]
    fn output_and_errors_are_in_the_order_of_the_program() {
        let script = "i=0; while [ $i -lt 200 ]; do echo $i; echo $((i+1)) >&2; i=$((i+2)); done";
        let ended = sh(script)
            .supervise("NONE=1", Duration::ZERO, &|| false)
            .unwrap();
        let Supervised::Ended { said, .. } = ended else {
            panic!("{ended:?}");
        };
        let numbers: Vec<u32> = said.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(numbers, (0..200).collect::<Vec<u32>>());
    }

    #[test]
    fn the_end_of_what_it_says_is_kept() {
        let script = "i=0; while [ $i -lt 30000 ]; do echo line $i; i=$((i+1)); done; exit 3";
        let ended = sh(script)
            .supervise("NONE=1", Duration::ZERO, &|| false)
            .unwrap();
        let Supervised::Ended { status, said } = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(status.code(), Some(3));
        assert!(said.ends_with("line 29999\n"));
        assert!(said.len() <= KEPT);
    }

    #[test]
    fn an_interrupted_program_ends_with_its_children() {
        let marker = format!("BIV_INSTANCE=setup-{}", std::process::id());
        let (name, value) = marker.split_once('=').unwrap();
        let command = sh("setsid sleep 631 & trap '' TERM; sleep 632; sleep 633").env(name, value);
        let started = Instant::now();
        let grown = || {
            let tree = super::super::tree_of(None, &marker);
            tree.len() >= 3 || started.elapsed() > Duration::from_secs(20)
        };
        let ended = command.supervise(&marker, Duration::from_millis(200), &grown);
        assert!(matches!(ended, Ok(Supervised::Interrupted(Ok(())))));
        assert_eq!(super::super::tree_of(None, &marker), Vec::new());
    }

    #[test]
    fn one_that_takes_too_long_ends_too() {
        let command = sh("sleep 634").deadline(Duration::from_millis(50));
        let ended = command.supervise("NONE=1", Duration::from_secs(5), &|| false);
        assert!(matches!(ended, Ok(Supervised::TooLate(Ok(())))));
    }
}
