//! Text for a reader at a terminal: a manual page in `man`, a long text in a pager.

use std::io::{Seek, Write};

use crate::process::Command;

/// Shows the page until the reader leaves it. False where there is no `man`, or it could not show it.
pub(crate) fn open_manual(page: &[u8]) -> bool {
    let Ok(mut file) = tempfile::Builder::new().suffix(".1").tempfile() else {
        return false;
    };
    which::which("man").is_ok()
        && file.write_all(page).is_ok()
        // The path has a slash, so it is read as a file on every system.
        && Command::new("man")
            .arg(file.path())
            .in_foreground()
            .is_ok()
}

/// Shows a text in a pager until the reader leaves it. False where there is none, or it could not be started.
/// A text that fits on the screen stays there, as git does it.
pub(crate) fn open_pager(text: &[u8]) -> bool {
    let named = ["BIV_PAGER", "GIT_PAGER", "PAGER"];
    let named = named.iter().find_map(|name| std::env::var(name).ok());
    let words = shlex::split(named.as_deref().unwrap_or("less")).unwrap_or_default();
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let Ok(mut file) = tempfile::tempfile() else {
        return false;
    };
    if program == "cat" || which::which(program).is_err() || file.write_all(text).is_err() {
        return false;
    }
    let mut command = Command::new(program).args(arguments);
    // Leaves at the end of a short text, shows colours, does not clear the screen.
    if std::env::var_os("LESS").is_none() {
        command = command.env("LESS", "FRX");
    }
    file.rewind().is_ok() && command.in_foreground_reading(file).is_ok()
}
