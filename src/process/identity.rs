//! The identity of a process, which a later process with the same pid does not share.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::process::Pid;
pub(crate) use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::table;

/// Identifies a process: its pid, when it was started, and in which boot of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub pid: i32,
    /// Start time in the kernel's own unit; meaningful only together with `boot`.
    pub started: u64,
    pub boot: String,
}

impl Identity {
    /// The process that has this pid now, if there is one.
    pub(crate) fn of_pid(pid: i32) -> Option<Self> {
        let started = table::start_time(pid)?;
        Some(Self {
            pid,
            started,
            boot: boot_id().to_owned(),
        })
    }

    pub(crate) fn of_this_process() -> Self {
        let pid = i32::try_from(std::process::id()).unwrap_or(0);
        Self::of_pid(pid).unwrap_or(Self {
            pid,
            started: 0,
            boot: boot_id().to_owned(),
        })
    }

    /// Whether this very process still runs. A zombie has ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.boot == boot_id()
            && table::start_time(self.pid) == Some(self.started)
            && !table::is_zombie(self.pid)
    }

    /// A file descriptor that becomes readable when this process ends. None where the system has none,
    /// or the process has ended already.
    pub(crate) fn end_signal(&self) -> Option<OwnedFd> {
        let pidfd = end_signal(self.pid)?;
        self.is_alive().then_some(pidfd)
    }

    /// Sends the signal to this process, unless it has ended.
    pub(crate) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return;
        };
        send(self, pid, signal);
    }
}

#[cfg(target_os = "linux")]
fn end_signal(pid: i32) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_signal(_: i32) -> Option<OwnedFd> {
    None
}

/// With a pidfd, the pid cannot be reused between the check and the signal.
#[cfg(target_os = "linux")]
fn send(identity: &Identity, pid: Pid, signal: Signal) {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) => {
            if identity.is_alive()
                && let Err(error) = pidfd_send_signal(&pidfd, signal)
            {
                note_failed_signal(error);
            }
        }
        // Kernels before 5.3 have no pidfd: the pid could be reused between the check and the signal.
        Err(rustix::io::Errno::NOSYS) if identity.is_alive() => {
            if let Err(error) = rustix::process::kill_process(pid, signal) {
                note_failed_signal(error);
            }
        }
        Err(_) => {}
    }
}

#[cfg(not(target_os = "linux"))]
fn send(identity: &Identity, pid: Pid, signal: Signal) {
    if identity.is_alive()
        && let Err(error) = rustix::process::kill_process(pid, signal)
    {
        note_failed_signal(error);
    }
}

/// A process that has ended in between needs no signal. Callers look again whether it runs.
fn note_failed_signal(error: rustix::io::Errno) {
    tracing::debug!(%error, "a signal was not delivered");
}

/// The id of the current boot of the machine.
pub(crate) fn boot_id() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| pretended_boot().unwrap_or_else(table::boot_id))
}

/// For tests that simulate a power cut without a reboot: they set another boot id.
fn pretended_boot() -> Option<String> {
    if cfg!(debug_assertions) {
        std::env::var("BIV_TEST_BOOT").ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_a_forged_start_time_is_not() {
        let own = Identity::of_this_process();
        assert!(own.is_alive());
        let forged = Identity {
            started: own.started + 1,
            ..own.clone()
        };
        assert!(!forged.is_alive());
        let other_boot = Identity {
            boot: "another".to_owned(),
            ..own
        };
        assert!(!other_boot.is_alive());
    }

    #[test]
    fn a_signal_reaches_only_the_process_that_was_meant() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let identity = Identity::of_pid(i32::try_from(child.id()).unwrap()).unwrap();
        let forged = Identity {
            started: identity.started + 1,
            ..identity.clone()
        };
        forged.signal(Signal::KILL);
        assert!(identity.is_alive());
        identity.signal(Signal::KILL);
        child.wait().unwrap();
        assert!(!identity.is_alive());
    }
}
