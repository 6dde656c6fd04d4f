//! Recording the screens of a program, to make an agent of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::agents::{Frame, RecordedFile, Recording, describe};
use crate::engine::base::{Core, Error, Scope};

impl Core {
    /// The file that a new agent of this name would have. An error if there is one already.
    pub(crate) fn new_agent_file(&self, name: &str) -> Result<PathBuf, Error> {
        Ok(self.catalog.new_file(&self.home.agents_dir(), name)?)
    }

    /// Makes the file of a new agent from what was recorded, reads the recorded screens by it, and writes it. A
    /// file that is there is left alone.
    pub(crate) fn write_agent(
        &self,
        name: &str,
        recording: &Recording,
    ) -> Result<(PathBuf, RecordedFile), Error> {
        let path = self.new_agent_file(name)?;
        let described = describe(name, &path, recording)?;
        write_new(&path, &described.text).map_err(Error::files("write", &path))?;
        Ok((path, described))
    }

    /// What a program shows now; None if it has ended.
    pub(crate) fn frame(&self, given: &str) -> Result<Option<Frame>, Error> {
        let found = self.settled(given, Scope::Living)?;
        let server = self.server_of(&found.record);
        let Some(pane) = server.pane_of(&found.record.id)? else {
            return Ok(None);
        };
        let shot = server.look(&[&pane.id])?.into_iter().next();
        Ok(shot.filter(|shot| !shot.dead).map(|shot| Frame {
            text: shot.text,
            title: shot.title,
        }))
    }

    /// Pastes a text into a program, as an attached user would.
    pub(crate) fn paste_text(&self, given: &str, text: &str) -> Result<(), Error> {
        let found = self.settled(given, Scope::Living)?;
        let server = self.server_of(&found.record);
        if let Some(pane) = server.pane_of(&found.record.id)? {
            server.paste(&pane.id, text)?;
        }
        Ok(())
    }
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let mut file = std::fs::File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
