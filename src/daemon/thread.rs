//! The daemon's threads, and what they have to say to whoever looks after it.

use std::io::Write;

use crate::model::Timestamp;

/// Whether there was room for another thread.
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

/// One line, with its time, to wherever this process speaks: a terminal, a journal, a file.
pub(super) fn log(text: &str) {
    let now = Timestamp::new(chrono::Utc::now());
    let line = format!("{now} {}\n", text.replace('\n', " "));
    // There is nobody to tell that nothing can be told.
    drop(std::io::stderr().lock().write_all(line.as_bytes()));
}
