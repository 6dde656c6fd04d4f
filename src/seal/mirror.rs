//! Keeps a private copy of a file equal to the one outside, while a seal exists.
//!
//! git replaces `packed-refs` by another file; a mount would show the old one for ever.

use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mirror {
    pub outside: PathBuf,
    /// Its copy, in a directory that the sealed program can write.
    pub copy: PathBuf,
    /// A file beside it that the program cannot reach.
    pub draft: PathBuf,
}

impl Mirror {
    /// Copies the file now, or removes the copy where there is none.
    pub(crate) fn update(&self) -> std::io::Result<()> {
        match std::fs::read(&self.outside) {
            Ok(bytes) => {
                std::fs::write(&self.draft, bytes)?;
                // A link that the program has put there is replaced, not followed.
                std::fs::rename(&self.draft, &self.copy)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                match std::fs::remove_file(&self.copy) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                    _ => Ok(()),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Copies it whenever it changes, in a thread that lives as long as this process.
    pub(super) fn follow(self) {
        std::thread::spawn(move || {
            // Without it the copy is that of the start.
            if let Err(error) = self.watch() {
                tracing::warn!(%error, "packed refs of a seal are not followed");
            }
        });
    }

    fn watch(&self) -> std::io::Result<()> {
        let watch = inotify::init(CreateFlags::CLOEXEC)?;
        let directory = self.outside.parent().unwrap_or(Path::new("/"));
        let changes = WatchFlags::MOVED_TO | WatchFlags::CLOSE_WRITE | WatchFlags::DELETE;
        inotify::add_watch(&watch, directory, changes)?;
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&watch, &mut space);
        // What changed before the watch began.
        let mut seen = None;
        loop {
            let now = stamp(&self.outside);
            if seen != Some(now) {
                self.update()?;
                seen = Some(now);
            }
            match events.next() {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Changes with every replacement of the file.
fn stamp(path: &Path) -> Option<(u64, i64, i64, u64)> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
}
