//! Reads files that come with a repository, and the user's own policy files.
//!
//! A repository can hold anything under a name that Bivouac reads: a link to a secret, an endless device,
//! a pipe without a writer. None of these is opened.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

/// A larger file is refused.
const LARGEST: u64 = 1024 * 1024;

/// Why a file is not read. Messages never quote its content.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("it is a symbolic link, or lies behind one, which is not followed here")]
    Link,
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it is larger than 1 MB")]
    TooLarge,
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("it belongs to another user ({0})")]
    Owner(u32),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl From<Errno> for Unreadable {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// Who must own the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Anyone,
    /// This user, or root.
    Trusted,
}

/// Reads a file of a checkout without following symbolic links; None where there is no file.
pub(crate) fn read_in_checkout(
    checkout: &Path,
    relative: &Path,
    owner: Owner,
) -> Result<Option<String>, Unreadable> {
    let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at: OwnedFd = match openat(CWD, checkout, directory, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened?,
    };
    let mut components = relative.components().peekable();
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else {
            return Err(Unreadable::Link);
        };
        let found = match statat(&at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            found => found?,
        };
        match (FileType::from_raw_mode(found.st_mode), components.peek()) {
            (FileType::Symlink, _) => return Err(Unreadable::Link),
            (FileType::Directory, Some(_)) => {
                at = openat(&at, name, directory | OFlags::NOFOLLOW, Mode::empty())?;
            }
            (FileType::RegularFile, None) => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                return content(openat(&at, name, flags, Mode::empty())?, owner).map(Some);
            }
            _ => return Err(Unreadable::NotAFile),
        }
    }
    Err(Unreadable::NotAFile)
}

/// Reads a file of the user, which may be a symbolic link; None where there is no file.
pub(crate) fn read_own(path: &Path) -> Result<Option<String>, Unreadable> {
    match statat(CWD, path, AtFlags::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        found if FileType::from_raw_mode(found?.st_mode) != FileType::RegularFile => {
            return Err(Unreadable::NotAFile);
        }
        _ => {}
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    content(openat(CWD, path, flags, Mode::empty())?, Owner::Trusted).map(Some)
}

/// Whether users other than its owner can write a file, or its directory.
pub(crate) fn is_writable_by_others(path: &Path) -> bool {
    let open = |path: &Path| {
        statat(CWD, path, AtFlags::empty()).is_ok_and(|found| {
            // By convention, a group with the same number as its user has only that user.
            let group = found.st_mode & 0o020 != 0 && found.st_gid != found.st_uid;
            group || found.st_mode & 0o002 != 0
        })
    };
    path.exists() && (open(path) || path.parent().is_some_and(open))
}

fn content(file: OwnedFd, owner: Owner) -> Result<String, Unreadable> {
    // Checked on the open file: the path may have been replaced since.
    let found = fstat(&file)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(Unreadable::NotAFile);
    }
    if owner == Owner::Trusted && !is_trusted(&found) {
        return Err(Unreadable::Owner(found.st_uid));
    }
    let mut bytes = Vec::new();
    File::from(file).take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Unreadable::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| Unreadable::NotText)
}

fn is_trusted(found: &Stat) -> bool {
    found.st_uid == rustix::process::geteuid().as_raw() || found.st_uid == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(checkout: &Path, name: &str) -> Result<Option<String>, Unreadable> {
        read_in_checkout(checkout, Path::new(name), Owner::Trusted)
    }

    #[test]
    fn only_a_regular_file_of_the_checkout_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let (checkout, outside) = (dir.path().join("checkout"), dir.path().join("outside"));
        std::fs::create_dir_all(checkout.join("real")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        for file in [checkout.join("real/file"), outside.join("file")] {
            std::fs::write(file, "text").unwrap();
        }
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, checkout.join(name)).unwrap();
        };
        link("/dev/zero", "endless");
        link("../outside", "out");
        link("real", "round");
        link("real/file", "alias");
        link("nowhere", "dangling");
        let fifo = checkout.join("fifo");
        rustix::fs::mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
        assert_eq!(read(&checkout, "real/file").unwrap().unwrap(), "text");
        for absent in ["none", "real/none", "none/file"] {
            assert_eq!(read(&checkout, absent).unwrap(), None, "{absent}");
        }
        for name in [
            "endless",
            "out/file",
            "round/file",
            "alias",
            "dangling",
            "../outside/file",
        ] {
            let refused = read(&checkout, name);
            assert!(
                matches!(refused, Err(Unreadable::Link)),
                "{name}: {refused:?}"
            );
        }
        for name in ["fifo", "real"] {
            let refused = read(&checkout, name);
            assert!(
                matches!(refused, Err(Unreadable::NotAFile)),
                "{name}: {refused:?}"
            );
        }
    }

    #[test]
    fn what_is_too_large_or_no_text_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        let largest = usize::try_from(LARGEST).unwrap();
        std::fs::write(&file, " ".repeat(largest)).unwrap();
        assert_eq!(read(dir.path(), "file").unwrap().unwrap().len(), largest);
        std::fs::write(&file, " ".repeat(largest + 1)).unwrap();
        assert!(matches!(
            read(dir.path(), "file"),
            Err(Unreadable::TooLarge)
        ));
        assert!(matches!(read_own(&file), Err(Unreadable::TooLarge)));
        std::fs::write(&file, [0xff, 0xfe]).unwrap();
        assert!(matches!(read(dir.path(), "file"), Err(Unreadable::NotText)));
    }

    #[test]
    fn the_users_own_file_may_be_a_link_but_no_device() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("kept"), dir.path().join("policy.toml"));
        assert!(read_own(&link).unwrap().is_none());
        std::fs::write(&file, "text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_own(&link).unwrap().unwrap(), "text");
        assert!(matches!(
            read_own(Path::new("/dev/zero")),
            Err(Unreadable::NotAFile)
        ));
    }

    #[test]
    fn a_file_of_another_owner_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "text").unwrap();
        // Only root can give a file away.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&file, Some(4711), None).unwrap();
            assert!(matches!(
                read(dir.path(), "file"),
                Err(Unreadable::Owner(4711))
            ));
            assert!(matches!(read_own(&file), Err(Unreadable::Owner(4711))));
            let anyone = read_in_checkout(dir.path(), Path::new("file"), Owner::Anyone);
            assert_eq!(anyone.unwrap().unwrap(), "text");
        }
    }
}
