//! The shell of an instance: a second window of its session, marked so that it is not taken for the agent.
//!
//! A terminal that shows it is attached to a session of its own, which has only this window. All terminals
//! of one session show the same window: otherwise what is typed to an agent could reach the shell.

use std::ffi::OsString;

use super::pane::SHELL_MARK as MARK;
use super::server::{literal, no_pane, not_installed};
use super::{Server, TmuxError};
use crate::model::{InstanceId, SessionName};
use crate::process::Command;

/// The name of the window.
const WINDOW: &str = "shell";

/// The shell of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellPane {
    pub pane: String,
    pub pid: i32,
    /// The program in its foreground, unless that is the shell itself.
    pub running: Option<String>,
}

impl Server {
    /// The shell of an instance, if it has one.
    pub(crate) fn shell_of(&self, instance: &InstanceId) -> Result<Option<ShellPane>, TmuxError> {
        if !self.has_socket() {
            return Ok(None);
        }
        let target = window(instance);
        let format = format!("#{{pane_id}} #{{pane_pid}} #{{{MARK}}} #{{pane_current_command}}");
        let answer = self
            .client()
            .args(["-N", "list-panes", "-t", &target, "-F", &format])
            .text();
        let answer = match answer.map_err(|error| no_pane(error, &target)) {
            Ok(answer) => answer,
            Err(TmuxError::NoPane(_) | TmuxError::NoServer) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(answer.lines().find_map(parse))
    }

    /// The screen of an instance's shell with `above` lines of history, with colours; None where it has none.
    pub(crate) fn shell_screen(
        &self,
        instance: &InstanceId,
        above: usize,
    ) -> Result<Option<String>, TmuxError> {
        if !self.has_socket() {
            return Ok(None);
        }
        let target = window(instance);
        let mark = format!("#{{{MARK}}}");
        let answer = self
            .client()
            .args(["-N", "display-message", "-p", "-t", &target, &mark])
            .args([";", "capture-pane", "-p", "-e", "-t", &target])
            .args(["-S", &format!("-{above}")])
            .text();
        let answer = match answer.map_err(|error| no_pane(error, &target)) {
            Ok(answer) => answer,
            Err(TmuxError::NoPane(_) | TmuxError::NoServer) => return Ok(None),
            Err(error) => return Err(error),
        };
        let (mark, text) = answer.split_once('\n').unwrap_or((&answer, ""));
        Ok((!mark.is_empty()).then(|| text.to_owned()))
    }

    /// Opens the shell's window behind that of the agent. `shell` is the name of its program.
    pub(crate) fn open_shell(
        &self,
        instance: &InstanceId,
        shell: &str,
        argv: &[OsString],
    ) -> Result<ShellPane, TmuxError> {
        let session = format!("={}:", SessionName::of(instance));
        let mut command = self
            .client()
            .args([
                "-N",
                "new-window",
                "-d",
                "-P",
                "-F",
                "#{pane_id} #{pane_pid}",
            ])
            .args(["-n", WINDOW, "-t", &session, "--"]);
        for word in argv {
            command = command.arg(literal(word));
        }
        let target = window(instance);
        let answer = command
            .args([";", "set-option", "-w", "-t", &target, MARK])
            .arg(literal(shell.as_ref()))
            .args([";", "set-option", "-w", "-t", &target])
            .args(["remain-on-exit", "off"])
            .text()
            .map_err(|error| no_pane(error, &session))?;
        let unreadable = || TmuxError::Answer(answer.clone());
        let (pane, pid) = answer.trim().split_once(' ').ok_or_else(unreadable)?;
        Ok(ShellPane {
            pane: pane.to_owned(),
            pid: pid.parse().map_err(|_| unreadable())?,
            running: None,
        })
    }

    /// Ends the shell of an instance; its program gets SIGHUP, as from a terminal that is closed.
    pub(crate) fn close_shell(&self, instance: &InstanceId) -> Result<(), TmuxError> {
        let target = window(instance);
        let closed = self
            .client()
            .args(["-N", "kill-window", "-t", &target])
            .run()
            .map_err(|error| no_pane(error, &target));
        match closed {
            Ok(_) | Err(TmuxError::NoPane(_) | TmuxError::NoServer) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The command that attaches this terminal to the shell of an instance.
    pub(crate) fn attach_shell_command(
        &self,
        instance: &InstanceId,
        title: &str,
    ) -> Result<Command, TmuxError> {
        let session = format!("biv-shell-{instance}");
        let target = format!("={session}:");
        // Its first program makes room for the linked window at once.
        let made = self
            .client()
            .args(["-N", "new-session", "-d", "-s", &session, "--", "cat"])
            .args([";", "link-window", "-k", "-s", &window(instance)])
            .args(["-t", &format!("{target}0")])
            .args([";", "set-option", "-t", &target, "--", "@biv_title"])
            .arg(literal(title.as_ref()))
            .output()
            .map_err(not_installed)?;
        if !made.success() && !made.stderr_text().contains("duplicate session") {
            return Err(TmuxError::Answer(made.stderr_text()));
        }
        Ok(self
            .terminal_client()
            .args(["-N", "attach-session", "-t", &format!("={session}")])
            .args([";", "set-option", "-t", &target, "destroy-unattached", "on"]))
    }
}

fn window(instance: &InstanceId) -> String {
    format!("={}:={WINDOW}", SessionName::of(instance))
}

fn parse(line: &str) -> Option<ShellPane> {
    let mut words = line.splitn(4, ' ');
    let (pane, pid) = (words.next()?, words.next()?.parse().ok()?);
    let shell = words.next().filter(|shell| !shell.is_empty())?;
    let running = words.next().filter(|program| *program != shell);
    Some(ShellPane {
        pane: pane.to_owned(),
        pid,
        running: running.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_at_its_prompt_runs_nothing() {
        let idle = parse("%4 100 bash bash").unwrap();
        assert_eq!((idle.pid, idle.running), (100, None));
        let busy = parse("%4 100 bash my program").unwrap();
        assert_eq!(busy.running.as_deref(), Some("my program"));
        // A window of that name that is not marked.
        assert_eq!(parse("%4 100  vim"), None);
    }
}
