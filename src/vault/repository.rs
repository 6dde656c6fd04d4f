//! The vault: a bare repository of ours inside the user's, where the content of snapshots lives.
//!
//! ```text
//! <git-common-dir>/bivouac/vault     0700, the user's object format
//!   objects/info/alternates          ../../../objects: it reads what the user's repository has
//!   shallow -> ../../shallow         and knows where a shallow history ends
//!   refs/bivouac/<id>/<n>            snapshots in use, `-thin` for the content of thinned worktrees
//!   refs/bivouac-trash/<id>/<n>      snapshots that were released and are kept for a while
//!   homes/<id>                       the home that an instance belongs to, see [`super::owner`]
//!   refs/bivouac-keep/<id>/<n>       the base commits of a snapshot, see [`super::keep`]
//! ```
//! No push, fetch, clone or log of the user's repository looks in here. Whatever the user's `git gc`
//! could drop has a copy in a pack of the vault ([`super::closure`]); everything else is read through
//! the alternates and protected by one keep-ref in the user's repository.
//!
//! There are three ways to call git:
//! - [`Vault::git`]: refs of the vault, and every object of both repositories by its id;
//! - [`Vault::writes_of`]: a call on the user's repository or on a checkout whose new objects go into
//!   the vault (trees of a merge, filtered content), with the user's settings and attributes;
//! - [`Vault::seen_by`]: a call on the user's repository or on a checkout that can also read the
//!   vault, and writes where it always does.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::git::call::{git, quoted};
use crate::git::disk::{ensure_private_dir, parent, rename_exclusively, sync_dir};
use crate::git::{GitError, Repo};
use crate::process::Command;

/// How long a process waits for others that write to the vault or clean it up.
const PATIENCE: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(2);
const PROBE: Duration = Duration::from_millis(5);

const LOCK: &str = "bivouac.lock";

#[derive(Debug, Clone)]
pub(super) struct Vault {
    dir: PathBuf,
    repo: Repo,
}

/// A lock on the vault until this is dropped; the kernel releases it when the process ends.
#[derive(Debug)]
pub(super) struct VaultLock {
    _file: File,
}

impl Vault {
    pub(super) fn at(repo: &Repo) -> Self {
        Self {
            dir: repo.common_dir().join("bivouac").join("vault"),
            repo: repo.clone(),
        }
    }

    /// A bare repository in an empty directory that reads what `alternates` name, in lines.
    pub(super) fn scratch(repo: &Repo, dir: &Path, alternates: &[u8]) -> Result<Self, GitError> {
        for name in ["objects/info", "objects/pack", "refs/heads"] {
            let path = dir.join(name);
            std::fs::create_dir_all(&path).map_err(GitError::writing(&path))?;
        }
        for (name, content) in [
            ("objects/info/alternates", alternates),
            ("HEAD", b"ref: refs/heads/none\n"),
            ("config", config(repo)?.as_bytes()),
        ] {
            let path = dir.join(name);
            std::fs::write(&path, content).map_err(GitError::writing(&path))?;
        }
        let shallow = dir.join("shallow");
        std::os::unix::fs::symlink(repo.common_dir().join("shallow"), &shallow)
            .map_err(GitError::writing(&shallow))?;
        Ok(Self {
            dir: dir.to_owned(),
            repo: repo.clone(),
        })
    }

    /// Whether there is one.
    pub(super) fn exists(&self) -> bool {
        self.dir.join(LOCK).exists()
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.dir.join("objects")
    }

    /// The user's repository.
    pub(super) fn repo(&self) -> &Repo {
        &self.repo
    }

    /// Whether there is a ref of this name, by a look at the files: false only where there is none.
    pub(super) fn may_have(&self, reference: &str) -> bool {
        let packed = std::fs::read(self.dir.join("packed-refs")).unwrap_or_default();
        let name = reference.as_bytes();
        self.dir.join(reference).exists()
            || packed
                .split(|byte| *byte == b'\n')
                .any(|line| line.ends_with(name))
    }

    /// Removes the file of a ref that has no content: a power cut has left the name alone.
    pub(super) fn forget_empty_ref(&self, reference: &str) -> Result<(), GitError> {
        let path = self.dir.join(reference);
        match std::fs::metadata(&path) {
            Ok(file) if file.is_file() && file.len() == 0 => {
                std::fs::remove_file(&path).map_err(GitError::writing(&path))
            }
            _ => Ok(()),
        }
    }

    /// Returns when the content and the name of a new ref are on the disk.
    pub(super) fn sync_ref(&self, reference: &str) -> Result<(), GitError> {
        let path = self.dir.join(reference);
        for path in [Some(path.as_path()), path.parent()].into_iter().flatten() {
            File::open(path)
                .and_then(|file| file.sync_all())
                .map_err(GitError::writing(path))?;
        }
        Ok(())
    }

    /// A git call on the vault itself.
    pub(super) fn git(&self) -> Command {
        git()
            .directory(&self.dir)
            .env("GIT_DIR", &self.dir)
            // The bytes themselves, whatever the user has put in their place.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
    }

    /// Lets a call on the user's repository write its objects into the vault.
    pub(super) fn writes_of(&self, command: Command) -> Command {
        command.env("GIT_OBJECT_DIRECTORY", self.objects())
    }

    /// Lets a call on the user's repository read the objects of the vault too.
    pub(super) fn seen_by(&self, command: Command) -> Command {
        use std::os::unix::ffi::OsStrExt;
        let path = quoted(self.objects().as_os_str().as_bytes());
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", path)
    }

    /// The commit that a ref of the vault names.
    #[cfg(test)]
    pub(super) fn resolve(&self, reference: &str) -> Result<Option<String>, GitError> {
        let output = self
            .git()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{reference}^{{commit}}"))
            .output()?;
        Ok(output.success().then(|| output.stdout_text()))
    }

    /// A shared lock that keeps other processes from deleting objects of the vault. A process holds it
    /// while it writes, or relies on objects that no ref names yet.
    pub(super) fn share(&self) -> Result<VaultLock, GitError> {
        self.lock(File::try_lock_shared, PATIENCE)
    }

    /// An exclusive lock: waits until no process writes to the vault, and lets none begin.
    pub(super) fn exclude(&self) -> Result<VaultLock, GitError> {
        self.lock(File::try_lock, PATIENCE)
    }

    /// As [`Self::exclude`], for what can as well be done another time: None while others write. A
    /// process that is just being started holds every lock of the one that starts it for a moment.
    pub(super) fn try_exclude(&self) -> Result<Option<VaultLock>, GitError> {
        match self.lock(File::try_lock, SOON) {
            Ok(lock) => Ok(Some(lock)),
            Err(GitError::VaultBusy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn lock(
        &self,
        attempt: impl Fn(&File) -> Result<(), TryLockError>,
        patience: Duration,
    ) -> Result<VaultLock, GitError> {
        let path = self.dir.join(LOCK);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(GitError::writing(&path))?;
        let deadline = Instant::now() + patience;
        loop {
            match attempt(&file) {
                Ok(()) => return Ok(VaultLock { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(PROBE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(GitError::VaultBusy {
                        dir: self.dir.clone(),
                    });
                }
                Err(TryLockError::Error(source)) => return Err(GitError::writing(&path)(source)),
            }
        }
    }
}

impl Repo {
    /// Where the saved work of this repository is, as text for the user.
    pub(crate) fn vault_dir(&self) -> PathBuf {
        Vault::at(self).dir
    }
}

/// Makes the vault under another name and gives it its own when it is whole and on the disk. Of two
/// processes that do it at once one wins, and both use what it made.
pub(super) fn make(vault: &Vault) -> Result<(), GitError> {
    let above = parent(&vault.dir);
    ensure_private_dir(&above)?;
    let draft = tempfile::Builder::new()
        .prefix("vault-")
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir_in(&above)
        .map_err(GitError::writing(&above))?;
    let dirs = [
        "objects",
        "objects/info",
        "objects/pack",
        "refs",
        "refs/heads",
    ];
    for dir in dirs {
        ensure_private_dir(&draft.path().join(dir))?;
    }
    for (name, content) in [
        // Read relative to `objects`: true wherever the repository is moved to.
        ("objects/info/alternates", "../../../objects\n".to_owned()),
        ("HEAD", "ref: refs/heads/none\n".to_owned()),
        ("config", config(&vault.repo)?),
        ("description", DESCRIPTION.to_owned()),
        (LOCK, String::new()),
    ] {
        write_durably(&draft.path().join(name), content.as_bytes())?;
    }
    let shallow = draft.path().join("shallow");
    std::os::unix::fs::symlink("../../shallow", &shallow).map_err(GitError::writing(&shallow))?;
    for dir in dirs.iter().rev() {
        sync_dir(&draft.path().join(dir))?;
    }
    sync_dir(draft.path())?;
    match rename_exclusively(draft.path(), &vault.dir) {
        Ok(()) => {
            // It has another name now: there is nothing left to clean up.
            drop(draft.keep());
            sync_dir(&above)
        }
        // Another process was quicker.
        Err(GitError::PathTaken { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

const DESCRIPTION: &str = "saved work of paused instances of biv; `biv gc` looks after it\n";

/// Large blobs are streamed, by git too. Nothing here is ever collected by git itself: it would count
/// what the user's repository has now as safe.
fn config(repo: &Repo) -> Result<String, GitError> {
    // What a partial clone has left with its remote does not count as missing.
    let promised = repo
        .git()
        .args(["config", "--get-regexp"])
        .arg(r"^(remote\..*\.promisor|extensions\.partialclone)$")
        .output()?;
    let remote = if promised.success() {
        "[remote \"promised\"]\n\tpromisor = true\n"
    } else {
        ""
    };
    let format = repo.object_format();
    Ok(format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tfilemode = true\n\
         \tlogAllRefUpdates = false\n\tbigFileThreshold = 8m\n\
         [extensions]\n\tobjectformat = {format}\n{remote}\
         [gc]\n\tauto = 0\n\tpruneExpire = never\n[maintenance]\n\tauto = false\n"
    ))
}

pub(super) fn write_durably(path: &Path, content: &[u8]) -> Result<(), GitError> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .map_err(GitError::writing(path))
}
