//! What the command line, the UI and the daemon may call. Each method is one line; the work is done
//! in the rooms.

mod hosts;
mod instances;
mod landing;
mod operations;
mod talk;
mod watching;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{self, Home};
use crate::engine::base::Core;
use crate::engine::operate::repo_moved::RepositoryMove;
use crate::engine::*;

#[derive(Debug)]
pub(crate) struct Engine {
    core: Arc<Core>,
}

impl Engine {
    /// Reads the configuration of a home. Nothing is made or changed by that.
    pub(crate) fn open(home: Home) -> Result<Self, Error> {
        Ok(Self {
            core: Arc::new(Core::open(home)?),
        })
    }

    /// The same for a command that only looks, once.
    pub(crate) fn open_for_a_look(home: Home) -> Result<Self, Error> {
        Ok(Self {
            core: Arc::new(Core::open_for_a_look(home)?),
        })
    }

    /// The same home with its settings, agents and versions as they are now.
    pub(crate) fn reopened(&self) -> Result<Self, Error> {
        Ok(Self {
            core: Arc::new(self.core.reopened()?),
        })
    }

    pub(crate) fn config(&self) -> &config::LoadedConfig {
        self.core.config()
    }

    /// Makes a repository with one commit in an empty directory.
    pub(crate) fn make_playground(directory: &Path) -> Result<(), Error> {
        Core::make_playground(directory)
    }

    /// `biv repo moved`: every instance of the repository that was at `old` follows it to `new`.
    pub(crate) fn repository_moved(&self, old: &Path, new: &Path) -> Result<RepositoryMove, Error> {
        self.core.repository_moved(old, new)
    }

    /// Looks at everything; with `fix`, mends what can be mended without risk.
    pub(crate) fn doctor(&self, fix: bool) -> Result<Vec<Finding>, Error> {
        self.core.doctor(fix)
    }

    /// The two programs that everything needs: git and tmux.
    pub(crate) fn programs(&self) -> Vec<Finding> {
        self.core.programs()
    }

    /// The bundle, as text.
    pub(crate) fn bundle(&self, findings: &[Finding]) -> Result<String, Error> {
        self.core.bundle(findings)
    }

    /// Presses a key in an agent's pane, as an attached user would.
    pub(crate) fn press_key(&self, given: &str, key: &str) -> Result<(), Error> {
        self.core.press_key(given, key)
    }

    /// The file that a new agent of this name would have. An error if there is one already.
    pub(crate) fn new_agent_file(&self, name: &str) -> Result<PathBuf, Error> {
        self.core.new_agent_file(name)
    }

    /// Makes an agent of what was recorded of a program.
    pub(crate) fn write_agent(
        &self,
        name: &str,
        recording: &Recording,
    ) -> Result<(PathBuf, RecordedFile), Error> {
        self.core.write_agent(name, recording)
    }

    /// What a program shows now; None if it has ended.
    pub(crate) fn frame(&self, given: &str) -> Result<Option<Frame>, Error> {
        self.core.frame(given)
    }

    /// Pastes a text into a program, as an attached user would.
    pub(crate) fn paste_text(&self, given: &str, text: &str) -> Result<(), Error> {
        self.core.paste_text(given, text)
    }

    /// Stages one file, as a user would.
    pub(crate) fn stage(&self, given: &str, file: &str) -> Result<(), Error> {
        self.core.stage(given, file)
    }

    /// What git says of the files of an instance, in its short form.
    pub(crate) fn status(&self, given: &str) -> Result<String, Error> {
        self.core.status(given)
    }
}
