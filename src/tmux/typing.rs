//! Text and keys into a pane.

use super::server::no_pane;
use super::{Server, TmuxError};

impl Server {
    /// Pastes the text as one bracketed paste where the program has asked for that, byte for byte:
    /// through a buffer, which has no limit of size and no key names, with newlines as they are.
    /// A person who is scrolling is taken back to the bottom first.
    pub(crate) fn paste(&self, pane: &str, text: &str) -> Result<(), TmuxError> {
        // Unique, so that two senders never paste each other's text.
        let buffer = format!(
            "biv-{}-{}",
            std::process::id(),
            uuid::Uuid::new_v4().simple()
        );
        self.client()
            .args(["-N", "load-buffer", "-b", &buffer, "-"])
            .args([";", "copy-mode", "-q", "-t", pane])
            .args([
                ";",
                "paste-buffer",
                "-p",
                "-r",
                "-d",
                "-b",
                &buffer,
                "-t",
                pane,
            ])
            .stdin(text)
            .run()
            .map_err(|error| no_pane(error, pane))?;
        Ok(())
    }

    /// Presses keys by name, each of them from our own tables.
    pub(crate) fn press(&self, pane: &str, keys: &[&str]) -> Result<(), TmuxError> {
        self.client()
            .args(["-N", "copy-mode", "-q", "-t", pane])
            .args([";", "send-keys", "-t", pane, "--"])
            .args(keys)
            .run()
            .map_err(|error| no_pane(error, pane))?;
        Ok(())
    }
}
