//! Directories in a repository's own place that exist for one call.
//!
//! Each is locked as long as it is used. A process that was killed leaves its own behind, without the lock: the
//! next export or import and `gc` delete it.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::{GitError, Repo};

const PLACE: &str = "tmp";

/// The names of those that are locked from their first moment on.
const LOCKED: &str = "locked-";

/// Others, of earlier versions, have no lock: an old one is not used any more.
const OLD: Duration = Duration::from_secs(7 * 24 * 3600);

/// How often another process may take a new one for one that was left.
const ATTEMPTS: usize = 20;

/// Goes away when it is dropped.
#[derive(Debug)]
pub(crate) struct ScratchDir {
    // In this order: it is locked until it is gone.
    dir: TempDir,
    _lock: Option<File>,
}

impl ScratchDir {
    pub(crate) fn new(repo: &Repo, prefix: &str) -> Result<Self, GitError> {
        let above = repo.own_dir(PLACE)?;
        for _ in 0..ATTEMPTS {
            let dir = tempfile::Builder::new()
                .prefix(&format!("{LOCKED}{prefix}"))
                .tempdir_in(&above)
                .map_err(GitError::writing(&above))?;
            match lock(dir.path()) {
                // Between the two another process may have deleted it.
                Locked::Ours(lock) if dir.path().exists() => {
                    let _lock = Some(lock);
                    return Ok(Self { dir, _lock });
                }
                // Then nobody else can lock it either.
                Locked::Never => return Ok(Self { dir, _lock: None }),
                Locked::Ours(_) | Locked::Taken => {}
            }
        }
        Err(GitError::writing(&above)(ErrorKind::ResourceBusy.into()))
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

enum Locked {
    Ours(File),
    /// Another process has it, or has deleted it.
    Taken,
    /// The filesystem has no locks.
    Never,
}

fn lock(dir: &Path) -> Locked {
    let file = match File::open(dir) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Locked::Taken,
        Err(_) => return Locked::Never,
    };
    match file.try_lock() {
        Ok(()) => Locked::Ours(file),
        Err(TryLockError::WouldBlock) => Locked::Taken,
        Err(TryLockError::Error(_)) => Locked::Never,
    }
}

impl Repo {
    /// Deletes the directories whose process is gone. What cannot be deleted is left for the next time.
    pub(crate) fn sweep_scratch(&self) {
        let place = self.common_dir().join("bivouac").join(PLACE);
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(found) = path.symlink_metadata() else {
                continue;
            };
            let locked = entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(LOCKED.as_bytes());
            let age = found.modified().ok().and_then(|at| at.elapsed().ok());
            let may_go = found.is_dir() && (locked || age.is_some_and(|age| age > OLD));
            if !may_go {
                continue;
            }
            if let Locked::Ours(_lock) = lock(&path)
                && let Err(error) = std::fs::remove_dir_all(&path)
            {
                tracing::debug!(%error, path = %path.display(), "delete a scratch directory");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_uses_is_deleted() {
        let home = tempfile::tempdir().unwrap();
        super::super::call::git()
            .args(["init", "-q"])
            .arg(home.path())
            .run()
            .unwrap();
        let repo = Repo::discover(home.path()).unwrap();
        let used = ScratchDir::new(&repo, "export-").unwrap();
        std::fs::write(used.path().join("file"), "used").unwrap();
        let place = used.path().parent().unwrap().to_owned();
        let left = place.join("locked-import-left");
        std::fs::create_dir_all(left.join("objects/pack")).unwrap();
        std::fs::write(left.join("objects/pack/pack"), "left").unwrap();
        // One of an earlier version, which has no lock.
        let unlocked = place.join("diff-young");
        std::fs::create_dir(&unlocked).unwrap();
        let foreign = place.join("locked-file");
        std::fs::write(&foreign, "a file").unwrap();
        repo.sweep_scratch();
        assert!(!left.exists());
        assert!(used.path().join("file").exists() && unlocked.exists() && foreign.exists());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
