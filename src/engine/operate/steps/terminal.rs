//! Saves the terminal of an agent, and restores it in a new session.

use std::path::PathBuf;
use std::time::Duration;

use crate::engine::base::{Error, now};
use crate::engine::operate::steps::fact;
use crate::engine::operate::steps::work::Work;
use crate::engine::watch::archive::{
    RESTARTED, RESUMED, SavedTerminal, archive, forget_live, line_below, remember, scrollback,
};
use crate::lifecycle::{Facts, Operation};
use crate::model::{InstanceRecord, RestingState};
use crate::store::replace_file;
use crate::tmux::{Pane, Server};

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

impl Work<'_> {
    /// Saves scrollback and screen with their colours. An agent that ended with its server has none left.
    pub(super) fn save_terminal(&mut self) -> Result<Facts, Error> {
        let server = self.core.server_of(&self.record);
        let panes = server.panes()?;
        self.without_session = !Server::has_session(&panes, &self.record.id);
        let of_agent = |pane: &Pane| pane.instance.as_ref() == Some(&self.record.id);
        let Some(pane) = panes.into_iter().find(of_agent) else {
            return Ok(Facts::none());
        };
        let most = self.core.scrollback_lines(&pane);
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
            .with_option(fact::EXIT_CODE, &exit_code))
    }

    /// The size and the history that a session starts with.
    pub(super) fn stage(&self) -> Result<Stage, Error> {
        let terminal = &self.core.settings().terminal;
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

fn banner(record: &InstanceRecord, operation: Operation) -> String {
    let at = now();
    // It may never have been paused, or long ago.
    if operation == Operation::Restart {
        return format!("{RESTARTED}{} ──", at.local_minute());
    }
    let (what, since) = match record.state {
        RestingState::Interrupted => ("interrupted", record.interrupted_at),
        RestingState::Completed | RestingState::Failed => ("ended", None),
        RestingState::Running
        | RestingState::Paused
        | RestingState::Away
        | RestingState::Killed => ("paused", record.paused_at),
    };
    let since = since.unwrap_or(record.updated_at);
    format!(
        "{RESUMED}{} · {what} {} ──",
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
