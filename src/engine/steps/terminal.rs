//! What stood on the terminal: kept when it is taken down, shown again when it is back.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::live::forget_live;
use super::{Work, fact};
use crate::engine::core::now;
use crate::engine::{Engine, Error};
use crate::lifecycle::{Facts, Operation};
use crate::model::{InstanceRecord, RestingState, last_lines};
use crate::store::{InstanceDir, replace_file};
use crate::tmux::{Pane, Server, TmuxError, without_control_sequences};

/// What is known of a terminal besides its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::engine) struct SavedTerminal {
    pub lines: u64,
    pub columns: u16,
    pub rows: u16,
    pub title: String,
    /// When the agent said something last, in seconds since the epoch.
    #[serde(default)]
    pub active_at: i64,
    pub cursor: (u16, u16),
    /// The variables of the environment that say how the terminal was used. Nothing else of it is kept.
    pub environment: Vec<(String, String)>,
}

impl SavedTerminal {
    pub(super) fn of(pane: Pane, lines: usize) -> Self {
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

/// What a new session is opened with.
pub(super) struct Stage {
    pub columns: u16,
    pub rows: u16,
    pub replay: Option<PathBuf>,
    pub banner: Option<String>,
}

/// Variables that may be written down: how a terminal looks and speaks, nothing that could be a secret.
const HARMLESS_VARIABLES: [&str; 8] = [
    "TERM",
    "COLORTERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "SHELL",
    "EDITOR",
];

/// Begins the line below a replayed scrollback; [`crate::detect`] looks only below it.
pub(in crate::engine) const BANNER: &str = "── resumed ";

impl Engine {
    /// How much of what stood on a terminal is kept: its history, and the screen below it.
    pub(in crate::engine) fn scrollback_lines(&self, pane: &Pane) -> usize {
        let history = usize::try_from(self.settings().terminal.history).unwrap_or(usize::MAX);
        history.saturating_add(pane.rows.into())
    }
}

impl Work<'_> {
    /// Scrollback and screen with their colours. An agent that is gone with its server has none left.
    pub(super) fn save_terminal(&mut self) -> Result<Facts, Error> {
        let server = self.engine.server_of(&self.record);
        let Some(pane) = server.pane_of(&self.record.id)? else {
            return Ok(Facts::none());
        };
        let most = self.engine.scrollback_lines(&pane);
        let Some(lines) = archive(&server, &pane, &self.dir, most)? else {
            return Ok(Facts::none());
        };
        let exit_code = pane.death.map(crate::tmux::Death::exit_code);
        let saved = SavedTerminal {
            lines,
            environment: HARMLESS_VARIABLES
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
                .collect(),
            ..SavedTerminal::of(pane, 0)
        };
        remember(&self.dir, &saved)?;
        Ok(Facts::none()
            .with(fact::TERMINAL, &saved)
            .with(fact::EXIT_CODE, &exit_code))
    }

    /// The size and the history that a session starts with.
    pub(super) fn stage(&self) -> Result<Stage, Error> {
        let terminal = &self.engine.settings().terminal;
        let saved: Option<SavedTerminal> = std::fs::read(self.dir.terminal().join("terminal.json"))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok());
        // What was saved of an earlier session is in the scrollback by now.
        forget_live(&self.dir);
        let replay = Some(scrollback(&self.dir)).filter(|path| path.exists());
        let (columns, rows) = saved.map_or((terminal.columns, terminal.rows), |saved| {
            (saved.columns, saved.rows)
        });
        let banner = replay
            .is_some()
            .then(|| banner(&self.record, self.operation));
        if let Some(banner) = &banner {
            replace_file(&line_below(&self.dir), banner.as_bytes())?;
        }
        Ok(Stage {
            columns,
            rows,
            banner,
            replay,
        })
    }
}

/// Saves the history of a pane. What a resumed session shows above its line is the archive itself;
/// where the agent has cleared that away, the archive is kept and the new part goes below it: `most`
/// lines together, but never less than the terminal held, which may be older than the setting.
pub(in crate::engine) fn archive(
    server: &Server,
    pane: &Pane,
    dir: &InstanceDir,
    most: usize,
) -> Result<Option<u64>, Error> {
    let captured = match server.history(pane) {
        Ok(history) => history,
        Err(TmuxError::NoPane(_) | TmuxError::NoServer) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let text = combined(dir, without_control_sequences(captured.trim_end()), most);
    if !text.is_empty() {
        replace_file(&scrollback(dir), text.as_bytes())?;
    }
    forget_live(dir);
    Ok(Some(text.lines().count() as u64))
}

/// What was captured, below what was saved before where it is not a part of it any more.
pub(super) fn combined(dir: &InstanceDir, captured: String, most: usize) -> String {
    let earlier = std::fs::read_to_string(scrollback(dir)).unwrap_or_default();
    let line = std::fs::read_to_string(line_below(dir)).unwrap_or_else(|_| BANNER.to_owned());
    if earlier.is_empty() || captured.contains(&line) {
        captured
    } else if captured.is_empty() {
        earlier
    } else {
        let most = most.max(captured.lines().count());
        last_lines(&format!("{earlier}\x1b[0m\n{captured}"), most).to_owned()
    }
}

/// Writes down what is known of a terminal besides its text.
pub(super) fn remember(dir: &InstanceDir, saved: &SavedTerminal) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(saved).unwrap_or_default();
    Ok(replace_file(&dir.terminal().join("terminal.json"), &text)?)
}

pub(in crate::engine) fn scrollback(dir: &InstanceDir) -> PathBuf {
    dir.terminal().join("scrollback")
}

/// The very line that the session shows below its archive. An agent may print one that begins alike.
fn line_below(dir: &InstanceDir) -> PathBuf {
    dir.terminal().join("line")
}

fn banner(record: &InstanceRecord, operation: Operation) -> String {
    let at = now();
    let (what, since) = match record.state {
        RestingState::Interrupted => ("interrupted", record.interrupted_at),
        RestingState::Completed | RestingState::Failed => ("ended", None),
        RestingState::Running | RestingState::Paused | RestingState::Killed => {
            ("paused", record.paused_at)
        }
    };
    let since = since.unwrap_or(record.updated_at);
    let kind = if operation == Operation::Restart {
        " · restarted"
    } else {
        ""
    };
    format!(
        "{BANNER}{} · {what} {}{kind} ──",
        at.local_minute(),
        spoken(since.until(at))
    )
}

fn spoken(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}
