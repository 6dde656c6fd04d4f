//! The size of a window that nobody looks at.

use crate::tmux::error::TmuxError;
use crate::tmux::server::{Server, no_pane};

impl Server {
    /// Gives a pane this size if no client is attached to its session. tmux keeps the size of the last client,
    /// which may be too small for the agent; a program whose terminal changes its size draws itself anew.
    pub(crate) fn resize_unattended(
        &self,
        pane: &str,
        columns: u16,
        rows: u16,
    ) -> Result<(), TmuxError> {
        // `resize-window` alone would hold the size for the next client, too.
        let resize = format!(
            "resize-window -t {pane} -x {columns} -y {rows} ; set-option -w -u -t {pane} window-size"
        );
        self.client()
            .args(["-N", "if-shell", "-F", "-t", pane])
            .args(["#{==:#{session_attached},0}", &resize])
            .run()
            .map_err(|error| no_pane(error, pane))?;
        Ok(())
    }
}
