//! A program whose output is passed on as it comes, without a deadline.

use std::io::Read;
use std::process::{ExitStatus, Stdio};

use super::{Command, Failure};

/// What the program reads.
#[derive(Debug)]
pub(crate) enum Input {
    None,
    /// The standard input of this process.
    Ours,
    File(std::fs::File),
}

impl Command {
    /// Runs the program until it ends. Its output goes to the two functions; when one fails, the rest of
    /// that output is not read, and the program's next write fails. It stays in our process group, so that
    /// Ctrl+C reaches it.
    pub(crate) fn relayed(
        &self,
        input: Input,
        out: impl FnMut(&[u8]) -> std::io::Result<()> + Send,
        err: impl FnMut(&[u8]) -> std::io::Result<()> + Send,
    ) -> Result<ExitStatus, Failure> {
        let mut child = self
            .prepared()
            .stdin(match input {
                Input::None => Stdio::null(),
                Input::Ours => Stdio::inherit(),
                Input::File(file) => Stdio::from(file),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| self.not_started(source))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        std::thread::scope(|scope| {
            scope.spawn(move || copy(stdout, out));
            scope.spawn(move || copy(stderr, err));
        });
        child.wait().map_err(|source| self.not_started(source))
    }
}

pub(super) fn copy(pipe: Option<impl Read>, mut take: impl FnMut(&[u8]) -> std::io::Result<()>) {
    let Some(mut pipe) = pipe else { return };
    let mut piece = [0; 16 << 10];
    loop {
        match pipe.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => {
                if take(piece.get(..length).unwrap_or_default()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::debug!(%error, "the output of a program was not read to its end");
                return;
            }
        }
    }
}
