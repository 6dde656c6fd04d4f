//! Standard output while a command of the user runs in the foreground.

use std::os::fd::OwnedFd;

use super::output::Output;

/// Runs `act`. With `--json` what the command prints goes to standard error: the document alone is on
/// standard output.
pub(super) fn foreground<T>(output: &Output, act: impl FnOnce() -> T) -> T {
    let kept = output.wants_json().then(own_stdout).flatten();
    let done = act();
    if let Some(kept) = kept {
        rustix::stdio::dup2_stdout(kept).ok();
    }
    done
}

/// Sends what the command prints to standard error, and returns the old standard output.
fn own_stdout() -> Option<OwnedFd> {
    let kept = rustix::io::dup(rustix::stdio::stdout()).ok()?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr()).ok()?;
    Some(kept)
}
