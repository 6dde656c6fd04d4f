//! Whether a process waits for input. A program that does has started without an error.

use super::Identity;

impl Identity {
    /// Whether this process, or a child that it waits for, waits for input from a terminal, a socket or
    /// one of several descriptors. False on systems that do not show it.
    pub(crate) fn waits_for_input(&self) -> bool {
        self.is_alive() && system::waits_for_input(self.pid, GENERATIONS)
    }
}

/// A launch may be wrapped, as by a shell that runs a script that runs the program, but not deeper than
/// this.
const GENERATIONS: usize = 4;

#[cfg(target_os = "linux")]
mod system {
    /// Kernel functions in which a process waits for a terminal or a socket, for several descriptors, and
    /// for a child.
    const READING: [&str; 2] = ["wait_woken", "n_tty_read"];
    const CHOOSING: [&str; 3] = ["poll_schedule_timeout", "ep_poll", "do_select"];
    const WAITING_FOR_CHILD: &str = "do_wait";

    pub(super) fn waits_for_input(pid: i32, generations: usize) -> bool {
        let place = std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
        // The compiler may have added a suffix to the name.
        let is_at = |name: &&str| place.split('.').next() == Some(name);
        if READING.iter().chain(&CHOOSING).any(is_at) {
            return true;
        }
        generations > 1
            && is_at(&WAITING_FOR_CHILD)
            && children(pid).any(|child| waits_for_input(child, generations - 1))
    }

    fn children(pid: i32) -> impl Iterator<Item = i32> {
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children: Vec<i32> = children
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|child| child.parse().ok())
            .collect();
        children.into_iter()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn waits_for_input(_: i32, _: usize) -> bool {
        false
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    /// A shell that reads from a terminal of its own.
    fn at_a_terminal(script: &str) -> (Child, Identity) {
        let child = Command::new("script")
            .args(["-q", "-e", "-c", script, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let identity = Identity::of_pid(i32::try_from(child.id()).unwrap()).unwrap();
        (child, identity)
    }

    #[test]
    fn what_waits_for_input_is_told_from_what_sleeps_or_works() {
        let (mut reading, reader) = at_a_terminal("cat");
        let deadline = Instant::now() + Duration::from_secs(20);
        while !reader.waits_for_input() {
            assert!(Instant::now() < deadline, "it does not wait for input");
            std::thread::sleep(Duration::from_millis(2));
        }
        reading.kill().unwrap();
        reading.wait().unwrap();
        assert!(!reader.waits_for_input(), "it has ended");

        for script in ["while :; do :; done", "sleep 60"] {
            let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
            let identity = Identity::of_pid(i32::try_from(child.id()).unwrap()).unwrap();
            let seen: Vec<bool> = (0..30)
                .map(|_| {
                    std::thread::sleep(Duration::from_millis(1));
                    identity.waits_for_input()
                })
                .collect();
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!seen.contains(&true), "{script}");
        }
    }
}
