//! Locks between processes: `flock` on files that are unlinked only with the whole instance.
//!
//! The kernel releases them when their holder ends. The order of locks, which every caller keeps:
//! gate → op (ascending id) → check → repository → names → send → presence (never waited for) → conversation.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::StoreError;

const PROBE: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockMode {
    Shared,
    Exclusive,
}

/// Held until it is dropped. Files are close-on-exec, so that no child keeps holding it, such as a tmux
/// server that is started under a lock.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, waiting for up to `wait`. Waiting processes show `purpose`.
    pub(crate) fn take(
        path: &Path,
        mode: LockMode,
        wait: Duration,
        purpose: &str,
    ) -> Result<Self, StoreError> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        let deadline = Instant::now() + wait;
        loop {
            let attempt = match mode {
                LockMode::Shared => file.try_lock_shared(),
                LockMode::Exclusive => file.try_lock(),
            };
            match attempt {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(PROBE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Busy {
                        path: path.to_owned(),
                        holder: holder(&mut file),
                    });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(StoreError::io("lock", path)(source));
                }
            }
        }
        // A directory of an instance may be removed with its locks while they are waited for.
        if !is_still_at(&file, path) {
            let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(StoreError::io("lock", path)(gone));
        }
        if mode == LockMode::Exclusive {
            // The text is for error messages only; no decision depends on it.
            if let Err(error) = introduce(&mut file, purpose) {
                tracing::debug!(%error, "the purpose of a lock was not written");
            }
        }
        Ok(Self { _file: file })
    }
}

fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(held), Ok(there)) => identity(held) == identity(there),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

fn introduce(file: &mut File, purpose: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    write!(file, "{purpose} (process {})", std::process::id())
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let known = file
        .seek(SeekFrom::Start(0))
        .and_then(|_| file.read_to_string(&mut text))
        .is_ok();
    if known && !text.is_empty() {
        text
    } else {
        "another biv process".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parallel test may fork: until its child execs, the child has a copy of every open file. Shorter than
    /// the lifetime of the child of the test.
    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn a_second_taker_is_told_who_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("op.lock");
        let held = Lock::take(&path, LockMode::Exclusive, Duration::ZERO, "pause").unwrap();
        let refused = Lock::take(&path, LockMode::Exclusive, Duration::ZERO, "kill").unwrap_err();
        assert!(
            matches!(&refused, StoreError::Busy { holder, .. } if holder.starts_with("pause (process ")),
            "{refused}"
        );
        drop(held);
        Lock::take(&path, LockMode::Exclusive, SOON, "kill").unwrap();
    }

    #[test]
    fn a_child_process_does_not_inherit_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("op.lock");
        let held = Lock::take(&path, LockMode::Exclusive, Duration::ZERO, "start").unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        drop(held);
        let taken = Lock::take(&path, LockMode::Exclusive, SOON, "next");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(taken.is_ok());
    }

    #[test]
    fn a_lock_that_was_removed_while_it_was_waited_for_is_not_had() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("op.lock");
        let held = Lock::take(&path, LockMode::Exclusive, Duration::ZERO, "new").unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| Lock::take(&path, LockMode::Exclusive, SOON, "pause"));
            // The waiting thread has opened the file by then; otherwise it would create another one.
            while !std::fs::read_dir("/proc/self/fd")
                .unwrap()
                .flatten()
                .any(|fd| {
                    std::fs::read_link(fd.path()).is_ok_and(|target| target == path)
                        && Some(fd.file_name()) != own_descriptor(&held)
                })
            {
                std::thread::yield_now();
            }
            std::fs::remove_file(&path).unwrap();
            drop(held);
            let refused = waiting.join().unwrap().unwrap_err();
            assert!(matches!(refused, StoreError::Io { .. }), "{refused}");
        });
        assert!(!path.exists());
    }

    fn own_descriptor(lock: &Lock) -> Option<std::ffi::OsString> {
        use std::os::fd::AsRawFd;
        Some(lock._file.as_raw_fd().to_string().into())
    }

    #[test]
    fn sharers_do_not_exclude_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("presence.lock");
        let _one = Lock::take(&path, LockMode::Shared, Duration::ZERO, "attach").unwrap();
        let _two = Lock::take(&path, LockMode::Shared, Duration::ZERO, "attach").unwrap();
        assert!(Lock::take(&path, LockMode::Exclusive, Duration::ZERO, "idle").is_err());
    }
}
