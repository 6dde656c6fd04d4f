//! A saved terminal: the scrollback, and further facts about the terminal.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::engine::base::{Core, Error};
use crate::model::last_lines;
use crate::store::{InstanceDir, replace_file};
use crate::tmux::{Pane, Server, TmuxError, without_control_sequences};

/// Facts about a terminal besides its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::engine) struct SavedTerminal {
    pub lines: u64,
    pub columns: u16,
    pub rows: u16,
    pub title: String,
    /// When the agent last printed something, in seconds since the epoch.
    #[serde(default)]
    pub active_at: i64,
    pub cursor: (u16, u16),
    /// The variables of the environment that say how the terminal was used. Nothing else of it is kept.
    pub environment: Vec<(String, String)>,
}

impl SavedTerminal {
    pub(in crate::engine) fn of(pane: Pane, lines: usize) -> Self {
        Self {
            lines: lines as u64,
            columns: pane.columns,
            rows: pane.rows,
            cursor: pane.cursor,
            active_at: pane.active_at,
            title: pane.title,
            environment: Vec::new(),
        }
    }
}

/// Begin the line below a replayed scrollback; [`crate::detect`] looks only below it.
pub(in crate::engine) const RESUMED: &str = "── resumed ";
pub(in crate::engine) const RESTARTED: &str = "── restarted ";
pub(in crate::engine) const BANNERS: &[&str] = &[RESUMED, RESTARTED];

impl Core {
    /// How many lines of a terminal are kept: its history, and the screen below it.
    pub(in crate::engine) fn scrollback_lines(&self, pane: &Pane) -> usize {
        let history = usize::try_from(self.settings().terminal.history).unwrap_or(usize::MAX);
        history.saturating_add(pane.rows.into())
    }
}

/// Two files: one that may not be on the disk yet must not replace one that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Saving {
    /// At rest: nothing more comes for a while, so this one is worth the wait for the disk.
    AtRest,
    WhileBusy,
}

impl Saving {
    pub(in crate::engine) fn path(self, dir: &InstanceDir) -> PathBuf {
        dir.terminal().join(match self {
            Self::AtRest => "live",
            Self::WhileBusy => "live-busy",
        })
    }
}

/// The name of the archive.
pub(in crate::engine) const SCROLLBACK: &str = "scrollback";

/// Saves the history of a pane. What a resumed session shows above its line is the archive itself;
/// where the agent has cleared that away, the archive is kept and the new part goes below it: `most`
/// lines together, but never less than the terminal held, which may be older than the setting.
pub(in crate::engine) fn archive(
    server: &Server,
    pane: &Pane,
    dir: &InstanceDir,
    most: usize,
) -> Result<Option<u64>, Error> {
    let Some(text) = history(server, pane, dir, most)? else {
        return Ok(None);
    };
    if !text.is_empty() {
        replace_file(&scrollback(dir), text.as_bytes())?;
    }
    forget_live(dir);
    Ok(Some(text.lines().count() as u64))
}

/// What the archive would be now. None if the pane is gone.
pub(in crate::engine) fn history(
    server: &Server,
    pane: &Pane,
    dir: &InstanceDir,
    most: usize,
) -> Result<Option<String>, Error> {
    let captured = match server.history(pane) {
        Ok(history) => history,
        Err(TmuxError::NoPane(_) | TmuxError::NoServer) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let text = without_control_sequences(captured.trim_end());
    Ok(Some(combined(dir, text, most)))
}

/// What was captured, below what was saved before where it is not a part of it any more.
pub(in crate::engine) fn combined(dir: &InstanceDir, captured: String, most: usize) -> String {
    let earlier = std::fs::read_to_string(scrollback(dir)).unwrap_or_default();
    let line = std::fs::read_to_string(line_below(dir)).unwrap_or_else(|_| RESUMED.to_owned());
    if earlier.is_empty() || captured.contains(&line) {
        captured
    } else if captured.is_empty() {
        earlier
    } else {
        let most = most.max(captured.lines().count());
        last_lines(&format!("{earlier}\x1b[0m\n{captured}"), most).to_owned()
    }
}

/// Saves the facts about a terminal besides its text.
pub(in crate::engine) fn remember(dir: &InstanceDir, saved: &SavedTerminal) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(saved).unwrap_or_default();
    Ok(replace_file(&dir.terminal().join("terminal.json"), &text)?)
}

pub(in crate::engine) fn scrollback(dir: &InstanceDir) -> PathBuf {
    dir.terminal().join(SCROLLBACK)
}

/// The exact line that the session shows below its archive. An agent may print a similar one.
pub(in crate::engine) fn line_below(dir: &InstanceDir) -> PathBuf {
    dir.terminal().join("line")
}

/// The scrollback is saved whole, or another session begins.
pub(in crate::engine) fn forget_live(dir: &InstanceDir) {
    for saving in [Saving::AtRest, Saving::WhileBusy] {
        // Usually the file does not exist.
        drop(std::fs::remove_file(saving.path(dir)));
    }
}
