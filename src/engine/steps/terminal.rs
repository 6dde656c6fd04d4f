//! What stood on the terminal, kept for later.

use serde::{Deserialize, Serialize};

use super::{Work, fact};
use crate::engine::Error;
use crate::lifecycle::Facts;
use crate::store::replace_file;
use crate::tmux::TmuxError;

/// What is known of a terminal besides its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::engine) struct SavedTerminal {
    pub lines: u64,
    pub columns: u16,
    pub rows: u16,
    pub title: String,
}

impl Work<'_> {
    /// Scrollback and screen with their colours. An agent that is gone with its server has none left.
    pub(super) fn save_terminal(&mut self) -> Result<Facts, Error> {
        let server = self.engine.server_of(&self.record);
        let Some(pane) = server.pane_of(&self.record.id)? else {
            return Ok(Facts::none());
        };
        let history = match server.history(&pane.id) {
            Ok(history) => history,
            Err(TmuxError::NoPane(_) | TmuxError::NoServer) => return Ok(Facts::none()),
            Err(error) => return Err(error.into()),
        };
        let history = history.trim_end();
        if !history.is_empty() {
            replace_file(&self.dir.terminal().join("scrollback"), history.as_bytes())?;
        }
        let saved = SavedTerminal {
            lines: history.lines().count() as u64,
            columns: pane.columns,
            rows: pane.rows,
            title: pane.title,
        };
        let exit_code = pane.death.map(crate::tmux::Death::exit_code);
        Ok(Facts::none()
            .with(fact::TERMINAL, &saved)
            .with(fact::EXIT_CODE, &exit_code))
    }
}
