//! A manual page, opened with the installed `man`.

use std::io::Write;

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
