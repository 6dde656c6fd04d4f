//! The programs that the agent starts, as a real agent would: in the session of its terminal, with its
//! environment.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::agent::Input;
use super::message::Message;

/// How long the remaining output is waited for after the command has ended: a grandchild may keep the pipe
/// open.
const DRAIN: Duration = Duration::from_millis(200);

/// A running command. Its number distinguishes its output from that of an interrupted command.
#[derive(Debug)]
pub(super) struct Child {
    pub number: u64,
    group: Option<Pid>,
}

impl Child {
    /// Starts the shell command; its output and its end arrive as messages.
    pub(super) fn start(
        number: u64,
        command: &str,
        messages: &SyncSender<Message>,
    ) -> std::io::Result<Self> {
        // One pipe for both, so that the order of the output is kept.
        let (reader, writer) = std::io::pipe()?;
        let mut child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            // Its own process group, so that an interrupt ends all of it.
            .process_group(0)
            .spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);

        let (finished, drained) = std::sync::mpsc::channel::<()>();
        let lines = messages.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(reader).split(b'\n') {
                let Ok(line) = line else { break };
                let text = String::from_utf8_lossy(&line).into_owned();
                if lines
                    .send(Message::Command(number, Input::CommandSaid(text)))
                    .is_err()
                {
                    break;
                }
            }
            drop(finished);
        });
        let messages = messages.clone();
        std::thread::spawn(move || {
            let status = child.wait().ok().and_then(|status| status.code());
            // On a timeout a grandchild still holds the pipe; the command itself has ended.
            let _ = drained.recv_timeout(DRAIN);
            // The loop has ended where this fails.
            drop(messages.send(Message::Command(number, Input::CommandEnded(status))));
        });
        Ok(Self { number, group })
    }

    pub(super) fn stop(&self) {
        if let Some(group) = self.group {
            // An error means that it has ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Starts a script in the background.
pub(super) fn start_background(script: &str) -> std::io::Result<()> {
    let mut child = Command::new("sh")
        .args(["-c", script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // Reaped when it ends, so that no zombie is left; its status has no use.
    std::thread::spawn(move || drop(child.wait()));
    Ok(())
}
