//! Reading the stat data of many files: never through a symlink, never their content.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, open, openat, statat};
use rustix::io::Errno;

use super::digest::FastHash;
use crate::git::GitError;
use crate::git::index::SYMLINK;
use crate::process::Failure;

/// Seconds and nanoseconds since 1970, as files have them.
pub(super) type Time = (i64, u32);

/// A file as `lstat` shows it: equal stamps mean that it was not touched in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub inode: u64,
    pub mode: u32,
    pub links: u64,
    pub uid: u32,
    pub gid: u32,
    pub size: u64,
    pub mtime: (i64, u32),
    pub ctime: (i64, u32),
}

impl Stamp {
    /// Field types differ between systems; the casts only widen.
    #[expect(clippy::unnecessary_cast, reason = "types differ by system")]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino as u64,
            mode: stat.st_mode as u32,
            links: stat.st_nlink as u64,
            uid: stat.st_uid,
            gid: stat.st_gid,
            size: stat.st_size as u64,
            mtime: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            ctime: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
        }
    }

    pub(super) fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.mode as _)
    }

    pub(super) fn is_file(&self) -> bool {
        self.file_type() == FileType::RegularFile
    }

    pub(super) fn is_symlink(&self) -> bool {
        self.file_type() == FileType::Symlink
    }

    pub(super) fn is_dir(&self) -> bool {
        self.file_type() == FileType::Directory
    }

    /// The mode that git would record for it.
    pub(super) fn tree_mode(&self) -> u32 {
        if self.is_symlink() {
            SYMLINK
        } else if self.mode & 0o100 != 0 {
            0o100_755
        } else {
            0o100_644
        }
    }

    pub(super) fn add_to(&self, seen: &mut FastHash) {
        for number in [
            self.inode,
            u64::from(self.mode),
            self.size,
            self.mtime.0 as u64,
            u64::from(self.mtime.1),
            self.ctime.0 as u64,
            u64::from(self.ctime.1),
        ] {
            seen.add(number);
        }
    }
}

/// Reads the stamps of many sorted paths in a few threads. The list is always split at the same
/// places, so that the digest depends only on the stamps.
pub(super) fn look_at_all(
    dir: &Path,
    paths: &[&[u8]],
) -> Result<(Vec<Option<Stamp>>, Sum), GitError> {
    const THREADS: usize = 4;
    let look = |part: &[&[u8]]| -> Result<(Vec<Option<Stamp>>, Sum), GitError> {
        let mut reader = StampReader::open(dir)?;
        let stamps = part
            .iter()
            .map(|path| reader.look(path))
            .collect::<Result<Vec<_>, _>>()?;
        Ok((stamps, reader.seen))
    };
    // Not worth a thread.
    if paths.len() < 1000 {
        return look(paths);
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = paths
            .chunks(paths.len().div_ceil(THREADS))
            .map(|part| scope.spawn(move || look(part)))
            .collect();
        let mut stamps = Vec::with_capacity(paths.len());
        let mut seen = Sum::new();
        for worker in workers {
            let (part, sum) = join(worker)?;
            stamps.extend(part);
            seen.add(sum);
        }
        Ok((stamps, seen))
    })
}

/// The digest of all stamps that were read, and the latest change among them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sum {
    pub digest: FastHash,
    pub newest: Time,
}

impl Sum {
    fn new() -> Self {
        Self {
            digest: FastHash::new(),
            newest: (0, 0),
        }
    }

    fn see(&mut self, stamp: &Stamp) {
        stamp.add_to(&mut self.digest);
        self.newest = self.newest.max(stamp.ctime);
    }

    pub(super) fn add(&mut self, other: Self) {
        self.digest.add_all(other.digest);
        self.newest = self.newest.max(other.newest);
    }
}

/// Reads the stamps of paths below one directory, in sorted order, never through a symlink. A
/// digest covers all of them, directories included.
pub(super) struct StampReader {
    /// The directories from the top to that of the last path: length of the path, handle.
    open: Vec<(usize, Option<OwnedFd>)>,
    dir: Vec<u8>,
    seen: Sum,
}

impl StampReader {
    pub(super) fn open(top: &Path) -> Result<Self, GitError> {
        let handle = open(top, DIRECTORY, Mode::empty())
            .map_err(|errno| GitError::reading(top)(errno.into()))?;
        let mut seen = Sum::new();
        if let Ok(stat) = rustix::fs::fstat(&handle) {
            // Parking renames the top, which changes its ctime and nothing else.
            let top = Stamp::of(&stat);
            seen.see(&Stamp {
                ctime: (0, 0),
                ..top
            });
            seen.newest = top.ctime;
        }
        Ok(Self {
            open: vec![(0, Some(handle))],
            dir: Vec::new(),
            seen,
        })
    }

    pub(super) fn look(&mut self, path: &[u8]) -> Result<Option<Stamp>, GitError> {
        let cut = path.iter().rposition(|byte| *byte == b'/');
        let dir = &path[..cut.unwrap_or(0)];
        let name = &path[cut.map_or(0, |cut| cut + 1)..];
        if self.dir != dir {
            self.enter(dir)?;
        }
        let found = match self.open.last() {
            Some((_, Some(handle))) => match statat(handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => Some(Stamp::of(&stat)),
                Err(Errno::NOENT | Errno::NOTDIR) => None,
                Err(errno) => return Err(unreadable(path, errno)),
            },
            _ => None,
        };
        match &found {
            Some(stamp) => self.seen.see(stamp),
            None => self.seen.digest.add(u64::MAX),
        }
        Ok(found)
    }

    fn enter(&mut self, dir: &[u8]) -> Result<(), GitError> {
        while let Some((length, _)) = self.open.last() {
            let above = *length == 0
                || dir == &self.dir[..*length]
                || (dir.starts_with(&self.dir[..*length]) && dir.get(*length) == Some(&b'/'));
            if above {
                break;
            }
            self.open.pop();
        }
        let mut from = self.open.last().map_or(0, |(length, _)| *length);
        while from < dir.len() {
            let start = if from == 0 { 0 } else { from + 1 };
            let end = dir[start..]
                .iter()
                .position(|byte| *byte == b'/')
                .map_or(dir.len(), |length| start + length);
            let handle = match self.open.last() {
                Some((_, Some(parent))) => {
                    match openat(parent, &dir[start..end], DIRECTORY, Mode::empty()) {
                        Ok(handle) => Some(handle),
                        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
                        Err(errno) => return Err(unreadable(&dir[..end], errno)),
                    }
                }
                _ => None,
            };
            if let Some(handle) = &handle
                && let Ok(stat) = rustix::fs::fstat(handle)
            {
                // A name that came or went shows in its directory's time.
                self.seen.see(&Stamp::of(&stat));
            }
            self.open.push((end, handle));
            from = end;
        }
        self.dir = dir.to_vec();
        Ok(())
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

fn unreadable(path: &[u8], errno: Errno) -> GitError {
    GitError::reading(crate::git::call::bytes_to_path(path))(errno.into())
}

pub(super) fn join<T>(
    thread: std::thread::ScopedJoinHandle<'_, Result<T, GitError>>,
) -> Result<T, GitError> {
    thread.join().unwrap_or_else(|_| {
        Err(GitError::Call(Failure::Start {
            program: "git".to_owned(),
            source: std::io::Error::other("a thread ended early"),
        }))
    })
}
