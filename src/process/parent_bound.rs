//! A program that the kernel ends when the process that started it ends.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use super::Command;

/// The status of a shell for a program that is there and cannot be started; 127 would mean that the other side of a
/// connection has no such program.
const NOT_STARTED: u8 = 126;

impl Command {
    /// The same program, started through `biv __leash`: that process asks the kernel for a signal when
    /// the thread that starts it ends, and then execs the program. On systems without such a signal the
    /// program is only started.
    pub(crate) fn bound_to_parent(self, biv: &std::path::Path) -> Self {
        let mut wrapper = self.clone();
        wrapper.program = biv.as_os_str().to_owned();
        wrapper.args = vec!["__leash".into(), std::process::id().to_string().into()];
        wrapper.args.push(self.program);
        wrapper.args.extend(self.args);
        wrapper
    }
}

/// `biv __leash`: asks for the signal, then execs the program.
pub(crate) fn run_bound_to_parent(parent: i32, words: &[OsString]) -> ExitCode {
    let Some((program, args)) = words.split_first() else {
        return ExitCode::FAILURE;
    };
    if !request_parent_death_signal(parent) {
        return ExitCode::FAILURE;
    }
    let error = Command::new(program).args(args).exec();
    tracing::warn!(%error, "a program bound to its parent could not be started");
    // Whoever started us reads it there, as what the program itself would have said.
    drop(writeln!(std::io::stderr(), "{error}"));
    ExitCode::from(NOT_STARTED)
}

/// False where the parent has ended already. The signal is SIGTERM, which a program can handle: a tmux
/// control client that is killed while it connects crashes its server.
#[cfg(target_os = "linux")]
fn request_parent_death_signal(parent: i32) -> bool {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::TERM)).is_ok()
        && getppid().is_some_and(|now| now.as_raw_nonzero().get() == parent)
}

#[cfg(not(target_os = "linux"))]
fn request_parent_death_signal(_: i32) -> bool {
    true
}
