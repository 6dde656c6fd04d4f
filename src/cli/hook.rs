//! `biv hook AGENT EVENT`: called by the agents themselves, see `[hooks]` in their files.
//!
//! It must never disturb the agent that calls it. So it comes before all parsing of arguments, prints
//! nothing but an answer, and ends with 0 whatever is wrong: another status is shown to the user, and
//! 2 stops the agent.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::context::home;
use crate::engine::hear;

/// More than this of an event is not looked at; agents send whole files.
const LONGEST: usize = 1024 * 1024;
/// How long more of an event is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The exit status, where this process was started as a hook.
pub(super) fn intercepted() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != "hook" {
        return None;
    }
    let event = words.nth(1).unwrap_or_default();
    let instance = std::env::var("BIV_INSTANCE").unwrap_or_default();
    let input = standard_input();
    if let (Some(event), Ok(home)) = (event.to_str(), home())
        && let Some(answer) = hear(&home, &instance, event, &input)
    {
        // An agent that does not listen any more gets no answer.
        std::io::stdout().write_all(answer.as_bytes()).ok();
    }
    Some(ExitCode::SUCCESS)
}

/// All that comes, so that the agent can write it; the beginning of it is kept.
fn standard_input() -> Vec<u8> {
    let mut stdin = std::io::stdin().lock();
    let mut kept = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    let timeout = Timespec {
        tv_sec: i64::try_from(PATIENCE.as_secs()).unwrap_or(1),
        tv_nsec: 0,
    };
    loop {
        let ready = poll(
            &mut [PollFd::new(&stdin.as_fd(), PollFlags::IN)],
            Some(&timeout),
        );
        if !matches!(ready, Ok(1..)) {
            return kept;
        }
        match stdin.read(&mut piece) {
            Ok(0) | Err(_) => return kept,
            Ok(length) => {
                let room = LONGEST.saturating_sub(kept.len()).min(length);
                kept.extend_from_slice(piece.get(..room).unwrap_or_default());
            }
        }
    }
}
