//! `biv hook AGENT EVENT`: called by the agents themselves, see `[hooks]` in their files.
//!
//! It must never disturb the agent that calls it. So it runs before arguments are parsed, prints nothing but
//! an answer, and exits with 0 even after an error: the agent would show another status to the user, and
//! stop on status 2.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::context::home;
use crate::engine::{SEAL_VARIABLE, handle_hook, pass_hook_on};

/// The most bytes of an event that are kept; agents send whole files.
const LONGEST: usize = 1024 * 1024;
/// How long to wait for more input.
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
    let event = event.to_str()?;
    let answer = match std::env::var_os(SEAL_VARIABLE) {
        // The state is out of reach: the process outside the seal handles it.
        Some(socket) => pass_hook_on(Path::new(&socket), event, &input),
        None => home()
            .ok()
            .and_then(|home| handle_hook(&home, &instance, event, &input)),
    };
    if let Some(answer) = answer {
        // The agent may have closed the pipe: then it does not want the answer.
        std::io::stdout().write_all(answer.as_bytes()).ok();
    }
    Some(ExitCode::SUCCESS)
}

/// Reads all input, so that the agent can write it; keeps only the first bytes.
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
