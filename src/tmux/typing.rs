//! Sends text and keys to a pane.

use rustix::fs::{Mode, OFlags};
use rustix::termios::LocalModes;

use super::server::no_pane;
use super::{Server, TmuxError};

impl Server {
    /// Pastes the text byte for byte through a buffer, which has no size limit and no key names. It is
    /// one bracketed paste if the program has enabled that. Copy mode is left first.
    pub(crate) fn paste(&self, pane: &str, text: &str) -> Result<(), TmuxError> {
        // Unique, so that two senders never paste each other's text.
        let buffer = format!(
            "biv-{}-{}",
            std::process::id(),
            uuid::Uuid::new_v4().simple()
        );
        // Only into a running program: tmux 3.3a crashes on a paste into a dead pane. Check and paste
        // are one command, so that the program cannot end in between.
        let alive = format!(
            "copy-mode -q -t {pane} ; paste-buffer -p -r -d -b {buffer} -t {pane} ; display-message -p pasted"
        );
        let answer = self
            .client()
            .args(["-N", "load-buffer", "-b", &buffer, "-", ";"])
            .args(["if-shell", "-F", "-t", pane, "#{?pane_dead,0,1}", &alive])
            .arg(format!("delete-buffer -b {buffer}"))
            .stdin(text)
            .text()
            .map_err(|error| no_pane(error, pane))?;
        if answer == "pasted" {
            Ok(())
        } else {
            Err(TmuxError::NoPane(pane.to_owned()))
        }
    }

    /// Whether the program has put its terminal into raw mode. Before that the kernel edits lines: it
    /// cuts a paste off at 4096 bytes, and bracketed paste is not enabled.
    pub(crate) fn reads_keys_itself(&self, pane: &str) -> Result<bool, TmuxError> {
        let terminal = self
            .client()
            .args(["-N", "display-message", "-p", "-t", pane, "#{pane_tty}"])
            .text()
            .map_err(|error| no_pane(error, pane))?;
        let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let modes = rustix::fs::open(terminal.trim(), flags, Mode::empty())
            .and_then(rustix::termios::tcgetattr);
        // Where that is unknown, waiting does not help.
        Ok(modes.map_or(true, |modes| {
            !modes.local_modes.contains(LocalModes::ICANON)
        }))
    }

    /// Sends keys by name, each of them from Bivouac's own tables.
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
