//! Copies or links files from the main checkout into a fresh worktree, as the repository asks for.
//!
//! The list comes with the repository. So nothing is taken in from outside the main checkout, and
//! nothing is written outside the worktree, whatever links there are on the way.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::engine::base::Error;
use crate::git::{ignored_in, is_tracked};
use crate::vault::delete_tree;

/// The main checkout, and the worktree that is made ready.
pub(in crate::engine) struct Bringing<'a> {
    source: PathBuf,
    worktree: &'a Path,
    /// What was left out, and why.
    pub(in crate::engine) left_out: Vec<String>,
}

impl<'a> Bringing<'a> {
    pub(in crate::engine) fn new(source: &Path, worktree: &'a Path) -> Result<Self, Error> {
        Ok(Self {
            source: source
                .canonicalize()
                .map_err(Error::files("read", source))?,
            worktree,
            left_out: Vec::new(),
        })
    }

    /// Brings everything over that the main checkout has and the worktree does not: what is tracked is
    /// there already, and nothing is ever overwritten.
    pub(in crate::engine) fn bring(
        &mut self,
        copy: &[PathBuf],
        link: &[PathBuf],
    ) -> Result<(), Error> {
        for path in copy {
            if let Some((from, to)) = self.prepare(path)? {
                self.copy_all(&from, &to)
                    .map_err(Error::files("bring over", &to))?;
            }
        }
        let mut wanted = Vec::new();
        for path in link {
            if let Some((from, to)) = self.prepare(path)? {
                wanted.push((path.clone(), from, to));
            }
        }
        let directories = wanted.iter().filter(|(_, from, _)| from.is_dir());
        let directories: Vec<PathBuf> = directories.map(|(path, ..)| path.clone()).collect();
        let by_entries = self.ignored_as_directories_only(&directories)?;
        for (path, from, to) in wanted {
            let linked = if by_entries.contains(&path) {
                self.link_entries(&from, &to)
            } else {
                symlink(&from, &to)
            };
            linked.map_err(Error::files("bring over", &to))?;
        }
        Ok(())
    }

    /// Removes what is unchanged since it was brought over, so that only the agent's work is left.
    pub(in crate::engine) fn take_back(&self, copy: &[PathBuf], link: &[PathBuf]) {
        // What is tracked was there before.
        let ours = copy.iter().chain(link);
        for path in ours.filter(|path| !is_tracked(self.worktree, path)) {
            let (from, to) = (self.source.join(path), self.worktree.join(path));
            // What cannot be removed stays, and counts as work.
            drop(remove_same(&from, &to));
            let parents = path.ancestors().skip(1);
            for parent in parents.filter(|parent| !parent.as_os_str().is_empty()) {
                // Fails, as it should, if the directory is not empty.
                drop(std::fs::remove_dir(self.worktree.join(parent)));
            }
        }
    }

    /// Removes what lies where something is brought to, whatever it is, except for what is tracked. Only for
    /// a worktree of our own. Nothing behind a link is touched.
    pub(in crate::engine) fn clear(&self, copy: &[PathBuf], link: &[PathBuf]) -> Result<(), Error> {
        for path in link.iter().chain(copy) {
            let to = self.worktree.join(path);
            let mut parents = path.ancestors().skip(1);
            let real = parents.all(|parent| {
                let found = self.worktree.join(parent).symlink_metadata();
                found.is_ok_and(|found| found.is_dir())
            });
            if !real || to.symlink_metadata().is_err() || is_tracked(self.worktree, path) {
                continue;
            }
            if let Some(left) = delete_tree(self.worktree, path).into_iter().next() {
                let path = self.worktree.join(left.path);
                return Err(Error::files("delete", &path)(std::io::Error::other(
                    left.why,
                )));
            }
        }
        Ok(())
    }

    /// Source and target of a path, if it can be brought over; the parents of the target are made.
    fn prepare(&mut self, path: &Path) -> Result<Option<(PathBuf, PathBuf)>, Error> {
        let (from, to) = (self.source.join(path), self.worktree.join(path));
        if from.symlink_metadata().is_err() || to.symlink_metadata().is_ok() {
            return Ok(None);
        }
        if !self.is_within(&from) {
            self.leave_out(path, "leads out of the repository");
            return Ok(None);
        }
        let mut parent = self.worktree.to_owned();
        for name in path.parent().into_iter().flat_map(Path::components) {
            parent.push(name);
            match std::fs::create_dir(&parent) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(Error::files("make", &parent)(error));
                }
                _ => {}
            }
            if !parent.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                self.leave_out(path, "lies behind a link or a file in the worktree");
                return Ok(None);
            }
        }
        Ok(Some((from, to)))
    }

    /// Whether the path and everything above it lies in the main checkout.
    fn is_within(&self, path: &Path) -> bool {
        path.canonicalize()
            .is_ok_and(|real| real.starts_with(&self.source))
    }

    /// A link is no directory to git: where only directories of that name are ignored, it would show up
    /// as a new file.
    fn ignored_as_directories_only(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let directory = |path: &PathBuf| {
            let mut directory = path.clone().into_os_string();
            directory.push("/");
            PathBuf::from(directory)
        };
        let asked: Vec<PathBuf> = paths
            .iter()
            .flat_map(|path| [path.clone(), directory(path)])
            .collect();
        let ignored = ignored_in(self.worktree, &asked)?;
        let has = |path: &PathBuf| {
            ignored
                .iter()
                .any(|known| known.as_os_str() == path.as_os_str())
        };
        let only = paths
            .iter()
            .filter(|path| has(&directory(path)) && !has(path));
        Ok(only.cloned().collect())
    }

    /// A directory with a link for each entry.
    fn link_entries(&mut self, from: &Path, to: &Path) -> std::io::Result<()> {
        std::fs::create_dir(to)?;
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            if self.is_within(&entry.path()) {
                symlink(entry.path(), to.join(entry.file_name()))?;
            } else {
                self.leave_out(&entry.path(), "leads out of the repository");
            }
        }
        Ok(())
    }

    fn copy_all(&mut self, from: &Path, to: &Path) -> std::io::Result<()> {
        let found = from.symlink_metadata()?;
        if found.is_symlink() {
            if self.is_within(from) {
                return symlink(std::fs::read_link(from)?, to);
            }
            self.leave_out(from, "leads out of the repository");
        } else if found.is_file() {
            copy_file(from, to)?;
        } else if found.is_dir() {
            std::fs::create_dir(to)?;
            for entry in std::fs::read_dir(from)? {
                let entry = entry?;
                self.copy_all(&entry.path(), &to.join(entry.file_name()))?;
            }
            std::fs::set_permissions(to, found.permissions())?;
        } else {
            self.leave_out(from, "is neither a file nor a directory");
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &Path, why: &str) {
        let path = path.strip_prefix(&self.source).unwrap_or(path);
        self.left_out
            .push(format!("`{}` {why} and was left out", path.display()));
    }
}

fn open_file(path: &Path) -> std::io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Neither end follows a link, and nothing is overwritten.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut source = open_file(from)?;
    let found = source.metadata()?;
    if !found.is_file() {
        return Err(std::io::Error::other("it is no file any more"));
    }
    let mut target = OpenOptions::new().write(true).create_new(true).open(to)?;
    std::io::copy(&mut source, &mut target)?;
    target.set_permissions(std::fs::Permissions::from_mode(found.mode() & 0o777))
}

/// Removes what is the same as its original, or is a link to it.
fn remove_same(from: &Path, to: &Path) -> std::io::Result<()> {
    let there = to.symlink_metadata()?;
    if there.is_symlink() {
        let target = std::fs::read_link(to)?;
        let same = target == from || std::fs::read_link(from).is_ok_and(|link| link == target);
        return if same {
            std::fs::remove_file(to)
        } else {
            Ok(())
        };
    }
    if there.is_dir() {
        for entry in std::fs::read_dir(to)? {
            let entry = entry?;
            let name = entry.file_name();
            // Each file separately: one that was changed stays and does not stop the others.
            drop(remove_same(&from.join(&name), &to.join(&name)));
        }
        return std::fs::remove_dir(to);
    }
    if there.is_file() && has_same_content(from, to)? {
        std::fs::remove_file(to)?;
    }
    Ok(())
}

fn has_same_content(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (mut one, mut other) = (open_file(one)?, open_file(other)?);
    let (found, there) = (one.metadata()?, other.metadata()?);
    if !found.is_file() || found.len() != there.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let length = one.read(&mut left)?;
        let (left, right) = (
            left.get(..length).unwrap_or_default(),
            right.get_mut(..length).unwrap_or_default(),
        );
        other.read_exact(right)?;
        if left != right {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
    }
}
