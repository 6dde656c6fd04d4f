//! One call of an outside program: arguments in, output out, within a deadline.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process_group};

use super::pipes::{Excess, KeptPipe, read_pipes};

/// How long a program may take unless the caller sets another deadline.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(30);

/// The most output that is kept in memory. A caller that expects more reads it as a stream.
const MOST_OUTPUT: u64 = 512 << 20;
/// The most that is kept of its standard error.
const MOST_STDERR: u64 = 1 << 20;

/// A program to be run. Arguments are passed as they are: no shell is ever involved.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    directory: Option<PathBuf>,
    environment: Vec<(OsString, Option<OsString>)>,
    clear_environment: bool,
    stdin: Vec<u8>,
    deadline: Duration,
    most_output: u64,
}

/// A program that was started.
struct Running {
    child: Child,
    started: Instant,
    deadline: Duration,
}

/// The exit status and the output of a program that has ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Why a program's result cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{program} is not installed, or not on PATH")]
    NotFound { program: String },
    #[error("{program} could not be started")]
    Start {
        program: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{call} did not finish within {}", humantime::format_duration(*deadline))]
    Deadline { call: String, deadline: Duration },
    #[error("{call} printed more than {limit} bytes")]
    TooMuch { call: String, limit: u64 },
    #[error("{call} failed: {message}")]
    Status {
        call: String,
        status: ExitStatus,
        message: String,
    },
}

impl Command {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            directory: None,
            environment: Vec::new(),
            clear_environment: false,
            stdin: Vec::new(),
            deadline: DEFAULT_DEADLINE,
            most_output: MOST_OUTPUT,
        }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<I, S>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    pub(crate) fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), None));
        self
    }

    /// Starts from an empty environment instead of ours.
    pub(crate) fn env_clear(mut self) -> Self {
        self.clear_environment = true;
        self
    }

    /// What the program reads on its standard input. Empty by default.
    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    pub(crate) fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// A program that prints more is ended, and that is an error.
    pub(crate) fn at_most(mut self, bytes: u64) -> Self {
        self.most_output = bytes;
        self
    }

    /// Runs the program and returns its output, whatever its exit status is.
    pub(crate) fn output(&self) -> Result<Output, Failure> {
        if self.stdin.is_empty() {
            return self.communicate(None::<fn(&mut dyn Write) -> std::io::Result<()>>);
        }
        self.output_fed(|pipe| pipe.write_all(&self.stdin))
    }

    /// As [`Self::output`], with an input that is produced while the program reads it, so that it need
    /// not fit into memory. A program may end without reading all of it; its exit status tells.
    pub(crate) fn output_fed<F>(&self, feed: F) -> Result<Output, Failure>
    where
        F: FnOnce(&mut dyn Write) -> std::io::Result<()> + Send,
    {
        self.communicate(Some(feed))
    }

    /// Runs the program and passes its standard output to `read` as it is printed, so that it need not
    /// fit into memory. The program ends if `read` returns early.
    pub(crate) fn streamed<T: Send>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> T + Send,
    ) -> Result<(T, ExitStatus), Failure> {
        let feed = |pipe: &mut dyn Write| pipe.write_all(&self.stdin);
        std::thread::scope(|scope| {
            let mut running = self.start(scope, (!self.stdin.is_empty()).then_some(feed))?;
            let (sender, receiver) = mpsc::channel();
            if let Some(mut pipe) = running.child.stdout.take() {
                // The receiver is gone once the deadline has passed: then the result has no use.
                scope.spawn(move || drop(sender.send(read(&mut pipe))));
            }
            let printed = read_pipes([running.stderr()], || running.left());
            let read = printed.and_then(|_| receiver.recv_timeout(running.left()).ok());
            self.ended(running, read)
        })
    }

    fn communicate<F>(&self, feed: Option<F>) -> Result<Output, Failure>
    where
        F: FnOnce(&mut dyn Write) -> std::io::Result<()> + Send,
    {
        let limit = self.most_output;
        let ([stdout, stderr], status) = std::thread::scope(|scope| {
            let mut running = self.start(scope, feed)?;
            let pipes = [running.stdout(limit.saturating_add(1)), running.stderr()];
            let printed = read_pipes(pipes, || running.left());
            self.ended(running, printed)
        })?;
        if stdout.len() as u64 > limit {
            return Err(Failure::TooMuch {
                call: self.call(),
                limit,
            });
        }
        Ok(Output {
            status,
            stdout,
            stderr,
        })
    }

    fn start<'scope, F>(
        &self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        feed: Option<F>,
    ) -> Result<Running, Failure>
    where
        F: FnOnce(&mut dyn Write) -> std::io::Result<()> + Send + 'scope,
    {
        let mut command = self.prepared();
        command
            .stdin(if feed.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its own process group: past the deadline, its children are killed with it.
            .process_group(0);
        let started = Instant::now();
        let mut child = command.spawn().map_err(|source| self.not_started(source))?;

        // Input has a thread of its own: a program that writes before it has read all of its input would
        // otherwise block both sides. The thread ends when the program does, because its pipe breaks.
        if let (Some(pipe), Some(feed)) = (child.stdin.take(), feed) {
            scope.spawn(move || {
                let mut pipe = std::io::BufWriter::with_capacity(1 << 16, pipe);
                // A broken pipe is normal: a program need not read its input. Its status tells.
                if let Err(error) = feed(&mut pipe).and_then(|()| pipe.flush()) {
                    tracing::debug!(%error, "the input of a program was not read to its end");
                }
            });
        }
        Ok(Running {
            child,
            started,
            deadline: self.deadline,
        })
    }

    /// Waits for a program whose output was read to its end; kills one whose output was not, in time.
    fn ended<T>(&self, running: Running, read: Option<T>) -> Result<(T, ExitStatus), Failure> {
        let mut child = running.child;
        let Some(read) = read else {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // An error means that the group has ended already.
                kill_process_group(group, Signal::KILL).ok();
            }
            if let Err(error) = child.wait() {
                tracing::warn!(%error, "a program past its deadline could not be waited for");
            }
            return Err(Failure::Deadline {
                call: self.call(),
                deadline: self.deadline,
            });
        };
        let status = child.wait().map_err(|source| self.not_started(source))?;
        Ok((read, status))
    }

    /// Runs the program and returns its standard output; an error unless it exited with 0.
    pub(crate) fn run(&self) -> Result<Vec<u8>, Failure> {
        let output = self.output()?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(self.status_failure(&output))
        }
    }

    /// As [`Self::run`], as text without the final newline.
    pub(crate) fn text(&self) -> Result<String, Failure> {
        let mut text = String::from_utf8_lossy(&self.run()?).into_owned();
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }

    /// The error for this output, for callers that check the status themselves.
    pub(crate) fn status_failure(&self, output: &Output) -> Failure {
        Failure::Status {
            call: self.call(),
            status: output.status,
            message: output.failure_message(),
        }
    }

    pub(super) fn deadline_after(&self) -> Duration {
        self.deadline
    }

    pub(super) fn prepared(&self) -> std::process::Command {
        let mut command = match self.found_on_own_path() {
            Some(found) => {
                let mut command = std::process::Command::new(found);
                command.arg0(&self.program);
                command
            }
            None => std::process::Command::new(&self.program),
        };
        command.args(&self.args);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        if self.clear_environment {
            command.env_clear();
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Where the PATH that is set for the program has it. The standard library would search it only after it
    /// has copied this whole process; with the place known, it can start the program without a copy.
    fn found_on_own_path(&self) -> Option<PathBuf> {
        if self.program.as_bytes().contains(&b'/') {
            return None;
        }
        let path = self
            .environment
            .iter()
            .rev()
            .find(|(name, _)| name == "PATH");
        let (_, path) = path?;
        std::env::split_paths(path.as_ref()?)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(&self.program))
            .find(|found| found.is_file() && access(found, Access::EXEC_OK).is_ok())
    }

    pub(super) fn not_started(&self, source: std::io::Error) -> Failure {
        let program = self.program.to_string_lossy().into_owned();
        let missing_directory = self.directory.as_ref().is_some_and(|d| !d.exists());
        if source.kind() == std::io::ErrorKind::NotFound && !missing_directory {
            Failure::NotFound { program }
        } else {
            Failure::Start { program, source }
        }
    }

    /// The call in short, for messages: the program and its first arguments.
    fn call(&self) -> String {
        let mut words = vec![self.program.to_string_lossy().into_owned()];
        let mut args = self.args.iter().map(|arg| arg.to_string_lossy());
        // Leading options (`-c core.x=y`, `-S socket`) say nothing about what was attempted.
        while let Some(arg) = args.next() {
            if arg == "-c" || arg == "-S" || arg == "-C" || arg == "-f" {
                args.next();
            } else if !arg.starts_with('-') {
                words.push(arg.into_owned());
                break;
            }
        }
        words.extend(
            args.filter(|arg| arg.chars().count() < 60)
                .take(2)
                .map(std::borrow::Cow::into_owned),
        );
        format!("`{}`", words.join(" "))
    }
}

impl Output {
    pub(crate) fn success(&self) -> bool {
        self.status.success()
    }

    pub(crate) fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout)
            .trim_end_matches('\n')
            .to_owned()
    }

    pub(crate) fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }

    /// Its standard error; how it ended where that is empty.
    fn failure_message(&self) -> String {
        let said = self.stderr_text();
        if !said.is_empty() {
            return said;
        }
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("ended by signal {signal}"),
            (None, None) => "no exit status".to_owned(),
        }
    }
}

impl Running {
    /// What is left of its time.
    fn left(&self) -> Duration {
        self.deadline.saturating_sub(self.started.elapsed())
    }

    fn stdout(&mut self, most: u64) -> Option<KeptPipe> {
        Some(KeptPipe::new(
            self.child.stdout.take()?,
            most,
            Excess::Unread,
        ))
    }

    fn stderr(&mut self) -> Option<KeptPipe> {
        let pipe = self.child.stderr.take()?;
        Some(KeptPipe::new(pipe, MOST_STDERR, Excess::Discarded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_input_and_output_pass_through_unharmed() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
        let output = Command::new("cat").stdin(bytes.clone()).run().unwrap();
        assert_eq!(output, bytes);
    }

    #[test]
    fn a_program_that_prints_without_end_is_ended() {
        let endless = Command::new("yes").at_most(100_000).run().unwrap_err();
        assert!(
            matches!(endless, Failure::TooMuch { limit: 100_000, .. }),
            "{endless}"
        );
        let exactly = ["-c", "head -c 100000 /dev/zero"];
        let enough = Command::new("sh").args(exactly).at_most(100_000).run();
        assert_eq!(enough.unwrap().len(), 100_000);
    }

    #[test]
    fn a_stream_is_read_as_it_comes_and_may_be_left() {
        let read_some = |pipe: &mut dyn Read| {
            let mut start = [0; 4];
            pipe.read_exact(&mut start).map(|()| start)
        };
        let (start, status) = Command::new("yes").streamed(read_some).unwrap();
        assert_eq!((&start.unwrap(), status.success()), (b"y\ny\n", false));
        let count = |pipe: &mut dyn Read| std::io::copy(pipe, &mut std::io::sink()).unwrap();
        let program = ["-c", "head -c 3000000 /dev/zero"];
        let (bytes, status) = Command::new("sh").args(program).streamed(count).unwrap();
        assert_eq!((bytes, status.success()), (3_000_000, true));
    }

    #[test]
    fn a_deadline_ends_the_whole_group() {
        let started = Instant::now();
        let failure = Command::new("sh")
            .args(["-c", "sleep 60 & sleep 60"])
            .deadline(Duration::from_millis(100))
            .run()
            .unwrap_err();
        assert!(matches!(failure, Failure::Deadline { .. }), "{failure}");
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_missing_program_is_told_from_a_failing_one() {
        let missing = Command::new("biv-no-such-program").run().unwrap_err();
        assert!(matches!(missing, Failure::NotFound { .. }));
        let failing = Command::new("sh")
            .args(["-c", "echo no luck >&2; exit 3"])
            .run()
            .unwrap_err();
        assert_eq!(failing.to_string(), "`sh` failed: no luck");
    }
}
