//! Attaches the user's terminal to the session of an agent.

use std::io::IsTerminal;

use crate::engine::base::{Core, Error, Progress, Scope};
use crate::engine::operate::options::ResumeOptions;
use crate::model::{InstanceId, Title};
use crate::process::Command;
use crate::tmux::Server;

/// How an attachment ended.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    pub title: Title,
    /// True if the user has detached; false if the session has ended.
    pub detached: bool,
}

impl Core {
    /// Attaches this terminal; returns when the user detaches or the session ends.
    pub(crate) fn attach(
        &self,
        given: &str,
        progress: &mut dyn Progress,
    ) -> Result<Attached, Error> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Err(Error::NoTerminal);
        }
        let found = self.find(given, Scope::Here)?;
        let _presence = found.dir.lock_presence("attach")?;
        let found = self.awake(found.record.id.as_str(), &ResumeOptions::quiet(), progress)?;
        let record = found.record;
        let server = self.server_of(&record);
        if server.pane_of(&record.id)?.is_none() {
            return Err(Error::WrongState {
                verb: "attach to",
                title: record.title,
                state: record.state.into(),
            });
        }
        let inside = std::env::var("TMUX").ok();
        let command = server.attach_command(&record.id, inside.as_deref());
        let attached = attached(record.title, &command, || {
            Ok(server.pane_of(&record.id)?.is_some())
        });
        self.resize_left(&server, &record.id);
        attached
    }

    /// When the last visitor has left, the agent's window gets its own size back.
    fn resize_left(&self, server: &Server, id: &InstanceId) {
        let terminal = &self.settings().terminal;
        let resized = server.pane_of(id).and_then(|pane| match pane {
            Some(pane) => server.resize_unattended(&pane.id, terminal.columns, terminal.rows),
            None => Ok(()),
        });
        if let Err(error) = resized {
            tracing::debug!(%error, "give a window its size back");
        }
    }
}

/// Runs a client of tmux in this terminal until it ends. `is_there` says whether what it was attached to still
/// exists.
pub(in crate::engine) fn attached(
    title: Title,
    command: &Command,
    is_there: impl Fn() -> Result<bool, Error>,
) -> Result<Attached, Error> {
    let status = command.in_foreground()?;
    let detached = is_there()?;
    if detached && !status.success() {
        return Err(Error::NotAttached { title, status });
    }
    Ok(Attached { title, detached })
}
