//! The daemon's threads and its log on standard error.

use std::io::Write;

use crate::model::Timestamp;

/// Starts a thread; false where the system has no resources for it.
pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    let named = std::thread::Builder::new().name(name.to_owned());
    match named.spawn(work) {
        Ok(_) => true,
        Err(error) => {
            log(&format!("the thread {name} cannot be started: {error}"));
            false
        }
    }
}

/// Writes one line with its time to standard error: a terminal, the journal or a file.
pub(super) fn log(text: &str) {
    let now = Timestamp::new(chrono::Utc::now());
    let line = format!("{now} {}\n", text.replace('\n', " "));
    // Where standard error cannot be written, there is no other place to report it.
    drop(std::io::stderr().lock().write_all(line.as_bytes()));
}
