//! The user's own shell in the worktree of an instance.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;

use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::attach::{Attached, AttachedTo, attached};
use crate::engine::operate::environment;
use crate::engine::operate::launch::{LaunchOrders, LaunchSocket};
use crate::engine::operate::options::ResumeOptions;
use crate::model::{InstanceRecord, printable_line};
use crate::tmux::Server;

impl Core {
    /// Attaches this terminal to the shell of an instance, which is started if there is none. Returns when
    /// the user detaches or the shell ends.
    pub(crate) fn shell(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<Attached, Error> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Err(Error::NoTerminal);
        }
        let attached = self.shell_once(given, progress)?;
        self.go_on(attached, progress)
    }

    fn shell_once(&self, given: &str, progress: &mut dyn Progress) -> Result<Attached, Error> {
        let found = self.find(given, Scope::Here)?;
        let _presence = found.dir.lock_presence("shell")?;
        let id = found.record.id;
        self.awake(id.as_str(), &ResumeOptions::quiet(), progress)?;
        // No operation takes the session down while the window is made.
        let held = self.lock_instance(id.as_str(), Scope::Living, "shell")?;
        let record = held.record;
        let server = self.server_of(&record);
        if server.pane_of(&record.id)?.is_none() {
            return Err(Error::WrongState {
                verb: "open a shell in",
                title: record.title,
                state: record.state.into(),
            });
        }
        if server.shell_of(&record.id)?.is_none() {
            self.start_shell(&server, &record)?;
        }
        drop(held.lock);
        let title = printable_line(&format!("{} · shell", record.title));
        let command = server.attach_shell_command(&record.id, &title)?;
        attached(&record, AttachedTo::Shell, &command, || {
            Ok(server.shell_of(&record.id)?.is_some())
        })
    }

    fn start_shell(&self, server: &Server, record: &InstanceRecord) -> Result<(), Error> {
        let shell = std::env::var("SHELL")
            .ok()
            .filter(|shell| !shell.is_empty());
        let shell = shell.unwrap_or_else(|| "/bin/sh".to_owned());
        let name = Path::new(&shell).file_name().map(OsString::from);
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        let directory = &record.worktree.path;
        let gate = LaunchSocket::for_shell(&self.home.run, &record.id)?;
        let pane = server.open_shell(&record.id, &name, &gate.launcher(&self.host.biv))?;
        let orders = LaunchOrders {
            argv: vec![shell],
            environment: environment::of_agent(&record.id, directory, &[]),
            directory: directory.clone(),
            replay: None,
            banner: None,
            seal: None,
        };
        let started = gate
            .admit(pane.pid, &orders)
            .and_then(|waiting| waiting.go());
        if started.is_err() {
            server.close_shell(&record.id)?;
        }
        Ok(started?)
    }
}
