//! A program that ends with the one that started it, however that ends.

use std::ffi::OsString;
use std::process::ExitCode;

use super::Command;

impl Command {
    /// The same program on a leash: `biv` (this program) asks the kernel to end it together with the
    /// thread that starts it, and then becomes it. Where the kernel knows no such thing, it is just
    /// started.
    pub(crate) fn leashed(self, biv: &std::path::Path) -> Self {
        let mut leashed = self.clone();
        leashed.program = biv.as_os_str().to_owned();
        leashed.args = vec!["__leash".into(), std::process::id().to_string().into()];
        leashed.args.push(self.program);
        leashed.args.extend(self.args);
        leashed
    }
}

/// The leash itself.
pub(crate) fn run_leashed(parent: i32, words: &[OsString]) -> ExitCode {
    let Some((program, args)) = words.split_first() else {
        return ExitCode::FAILURE;
    };
    if !hold(parent) {
        return ExitCode::FAILURE;
    }
    // Comes back only where there is no such program.
    drop(Command::new(program).args(args).replace_this_process());
    ExitCode::FAILURE
}

/// False where the process that wanted this is gone already. The signal is one that a program can
/// prepare for: a control client of tmux that is killed while it connects takes its server along.
#[cfg(target_os = "linux")]
fn hold(parent: i32) -> bool {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::TERM)).is_ok()
        && getppid().is_some_and(|now| now.as_raw_nonzero().get() == parent)
}

#[cfg(not(target_os = "linux"))]
fn hold(_: i32) -> bool {
    true
}
