//! Opens and closes the session that control clients attach to.

use super::server::{HUB, not_installed, says_no_server};
use super::{Server, TmuxError};

impl Server {
    /// Creates the hub for control clients if needed. Never starts a server.
    pub(super) fn open_hub(&self) -> Result<(), TmuxError> {
        let command = self
            .client()
            .args(["-N", "new-session", "-d", "-s", HUB, "-x", "80", "-y", "24"])
            .args(["--", "cat", ";", "set-option", "-w", "-t"])
            .args([&format!("={HUB}:"), "remain-on-exit", "off"]);
        let lock = self.lock_sessions();
        let output = command.output().map_err(not_installed)?;
        drop(lock);
        if output.success() || output.stderr_text().contains("duplicate session") {
            Ok(())
        } else if says_no_server(&output) {
            Err(TmuxError::NoServer)
        } else {
            Err(command.status_failure(&output).into())
        }
    }

    /// Closes the hub, unless a client is attached to it.
    pub(super) fn close_hub(&self) {
        let _lock = self.lock_sessions();
        let closed = self
            .client()
            .args(["-N", "if-shell", "-F", "-t", &format!("={HUB}:")])
            .args(["#{session_attached}", ""])
            .arg(format!("kill-session -t ={HUB}"))
            .output();
        // Without a server or a hub there is nothing to close.
        if let Err(error) = closed {
            tracing::debug!(%error, "the hub session was not closed");
        }
    }
}
