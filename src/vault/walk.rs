//! Everything below a directory, without following a symlink or leaving the filesystem.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::stamp::Stamp;
use super::survey::Found;
use crate::git::GitError;
use crate::git::call::bytes_to_path;

/// What is done with a directory that the walk meets.
pub(super) enum Descend {
    Into,
    Over,
}

/// Visits each path once, a directory before its content, names in order. Other filesystems, and
/// directories that we may not read, are shown and not entered.
pub(super) fn walk(
    top: &Path,
    visit: &mut dyn FnMut(Found) -> Result<Descend, GitError>,
) -> Result<(), GitError> {
    let device = std::fs::symlink_metadata(top)
        .map_err(GitError::reading(top))?
        .dev();
    below(top, &[], device, visit)
}

fn below(
    top: &Path,
    dir: &[u8],
    device: u64,
    visit: &mut dyn FnMut(Found) -> Result<Descend, GitError>,
) -> Result<(), GitError> {
    let path = top.join(bytes_to_path(dir));
    let entries = match std::fs::read_dir(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(()),
        entries => entries.map_err(GitError::reading(&path))?,
    };
    let mut names: Vec<_> = entries
        .collect::<Result<Vec<_>, _>>()
        .map_err(GitError::reading(&path))?
        .into_iter()
        .map(|entry| entry.file_name())
        .collect();
    names.sort_unstable();
    for name in names {
        let relative = if dir.is_empty() {
            name.as_bytes().to_vec()
        } else {
            [dir, b"/", name.as_bytes()].concat()
        };
        let path = path.join(&name);
        let stat =
            rustix::fs::lstat(&path).map_err(|errno| GitError::reading(&path)(errno.into()))?;
        let stamp = Stamp::of(&stat);
        let descend = visit(Found {
            path: relative.clone(),
            stamp,
        })?;
        let same_device = std::fs::symlink_metadata(&path).is_ok_and(|found| found.dev() == device);
        if stamp.is_dir() && same_device && matches!(descend, Descend::Into) {
            below(top, &relative, device, visit)?;
        }
    }
    Ok(())
}

/// The size of everything below a directory (or of one file), and whether a repository is in it.
pub(super) fn weigh(top: &Path, relative: &[u8]) -> Result<(u64, bool), GitError> {
    let path = top.join(bytes_to_path(relative));
    let found = std::fs::symlink_metadata(&path).map_err(GitError::reading(&path))?;
    if !found.is_dir() {
        return Ok((found.len(), false));
    }
    let (mut bytes, mut repository) = (0, false);
    walk(&path, &mut |found| {
        bytes += found.stamp.size;
        repository = repository || found.path == b".git" || found.path.ends_with(b"/.git");
        Ok(Descend::Into)
    })?;
    Ok((bytes, repository))
}

/// Whether a file can be read, or a directory looked into.
pub(super) fn is_open(path: &Path, stamp: &Stamp) -> bool {
    use rustix::fs::Access;
    let wanted = if stamp.is_dir() {
        Access::READ_OK | Access::EXEC_OK
    } else {
        Access::READ_OK
    };
    stamp.is_symlink() || rustix::fs::access(path, wanted).is_ok()
}

/// Whether the file carries what no object can: access lists, capabilities, the user's own
/// attributes. Labels that the system puts on every file do not count.
pub(super) fn has_attributes(path: &Path) -> bool {
    let mut names = vec![0_u8; 4096];
    match rustix::fs::llistxattr(path, &mut names[..]) {
        Ok(length) => names[..length].split(|byte| *byte == 0).any(|name| {
            !name.is_empty() && name != b"security.selinux" && name != b"com.apple.provenance"
        }),
        Err(rustix::io::Errno::RANGE) => true,
        Err(_) => false,
    }
}
