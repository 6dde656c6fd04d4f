//! One agent's screen for frequent looks: reads one record and calls tmux once.

use std::path::{Path, PathBuf};

use crate::engine::base::{Core, Error};
use crate::engine::watch::watcher::Watcher;
use crate::git::Repo;
use crate::model::{InstanceId, RestingState};
use crate::tmux::{TmuxError, without_control_sequences};

/// The most lines that are shown of an agent that does not run.
const SAVED: usize = 5_000;

/// A screen with colours, and nothing else that a terminal would obey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScreenView {
    pub text: String,
    /// It is on a terminal now, as opposed to having been saved from one.
    pub live: bool,
}

impl Watcher {
    /// The screen of an instance as it is now, without starting a process; None where it has none.
    pub(crate) fn screen_view(&self, id: &InstanceId) -> Option<ScreenView> {
        let shot = self.picture(id, true)?;
        Some(ScreenView {
            text: without_control_sequences(&shot.text),
            live: true,
        })
    }
}

impl Core {
    /// The screen of an instance, with so many lines of what has scrolled away above it.
    pub(crate) fn screen_view(&self, id: &InstanceId, above: usize) -> Result<ScreenView, Error> {
        let dir = self.store.instance(id);
        let record = dir.record()?;
        if let (
            RestingState::Running | RestingState::Completed | RestingState::Failed,
            Some(place),
        ) = (record.state, &record.place)
        {
            match self.server_of(&record).screen_view(&place.pane, id, above) {
                Ok(Some(text)) => {
                    return Ok(ScreenView {
                        text: without_control_sequences(&text),
                        live: true,
                    });
                }
                Ok(None) | Err(TmuxError::Missing | TmuxError::NoServer | TmuxError::NoPane(_)) => {
                }
                Err(error) => return Err(error.into()),
            }
        }
        let path = crate::engine::watch::archive::scrollback(&dir);
        let saved = match std::fs::read(&path) {
            Ok(saved) => String::from_utf8_lossy(&saved).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::files("read", &path)(error)),
        };
        let lines: Vec<&str> = saved.trim_end().lines().collect();
        let start = lines.len().saturating_sub(SAVED);
        Ok(ScreenView {
            text: without_control_sequences(&lines[start..].join("\n")),
            live: false,
        })
    }

    /// The same of the user's shell in the worktree; not live where there is none.
    pub(crate) fn shell_view(&self, id: &InstanceId, above: usize) -> Result<ScreenView, Error> {
        let record = self.store.instance(id).record()?;
        let text = self.server_of(&record).shell_screen(id, above)?;
        Ok(ScreenView {
            live: text.is_some(),
            text: without_control_sequences(&text.unwrap_or_default()),
        })
    }

    /// The repository that a directory belongs to.
    pub(crate) fn repository_at(&self, directory: &Path) -> Result<PathBuf, Error> {
        Ok(Repo::discover(directory)?.root().to_owned())
    }
}
