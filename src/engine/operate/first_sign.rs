//! Whether an agent that was just started runs or has ended.

use std::time::{Duration, Instant};

use crate::engine::base::socket::wait_readable;
use crate::process::Identity;

/// How long an agent is watched that neither ends nor waits for input.
const LONGEST: Duration = Duration::from_millis(350);
const PROBE: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Sign {
    Life,
    Death,
}

/// Waits until the agent ends or waits for input. A wrong command line ends quickly; a working program
/// waits for input, mostly within a few milliseconds. The kernel reports its end at once.
pub(in crate::engine) fn first_sign(agent: &Identity) -> Sign {
    let end = agent.end_signal();
    let since = Instant::now();
    let mut waited = false;
    while agent.is_alive() {
        // Twice in a row: a program that is starting waits for a moment here and there.
        let waits = agent.waits_for_input();
        if waits && waited || since.elapsed() > LONGEST {
            return Sign::Life;
        }
        waited = waits;
        match &end {
            Some(end) => wait_readable(end, PROBE),
            None => std::thread::sleep(PROBE),
        }
    }
    Sign::Death
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn of(script: &str) -> Sign {
        let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let agent = Identity::of_pid(i32::try_from(child.id()).unwrap()).unwrap();
        let sign = first_sign(&agent);
        drop(child.kill());
        child.wait().unwrap();
        sign
    }

    #[test]
    fn one_that_ends_in_its_first_moments_is_seen_to() {
        assert_eq!(of("exit 3"), Sign::Death);
        assert_eq!(of("echo wrong >&2; sleep 0.03; exit 3"), Sign::Death);
        assert_eq!(of("sleep 60"), Sign::Life);
    }
}
