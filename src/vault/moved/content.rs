//! Whether a file on disk is what a tree says, and whether its bytes are saved.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::plan::Side;
use crate::git::call::{SLOW, bytes_to_path, quoted};
use crate::git::index::SYMLINK;
use crate::git::{Checkout, GitError, Repo};
use crate::vault::digest::blob_id;
use crate::vault::repository::Vault;

/// The id of a file's own bytes, or of a link's target; None for anything else.
pub(super) fn id_at(repo: &Repo, path: &Path) -> Result<Option<String>, GitError> {
    let length = repo.id_length() / 2;
    let failed = || GitError::reading(path);
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(failed()(error)),
    };
    if found.is_symlink() {
        let target = std::fs::read_link(path).map_err(failed())?;
        let bytes = target.as_os_str().as_bytes();
        return Ok(Some(
            blob_id(bytes, bytes.len() as u64, length).map_err(failed())?,
        ));
    }
    if !found.is_file() {
        return Ok(None);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| GitError::reading(path)(errno.into()))?;
    let id = blob_id(std::fs::File::from(file), found.len(), length).map_err(failed())?;
    Ok(Some(id))
}

/// Whether there is nothing at a path. Below a link that leads to itself there is nothing either.
pub(super) fn is_absence(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
    )
}

/// The ids of files: of their raw bytes, and after the clean filters.
#[derive(Debug, Default)]
pub(super) struct Contents {
    raw: HashMap<Vec<u8>, String>,
    clean: HashMap<Vec<u8>, String>,
}

/// How a file equals one side of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Equal {
    /// Byte for byte.
    Bytes,
    /// Only as the clean filters make it: its bytes need not be what git would write.
    Filtered,
    No,
}

impl Contents {
    /// Reads the files and links at these paths, each with the sides that it may equal. All of them
    /// were seen not to lie behind a link.
    pub(super) fn read(
        repo: &Repo,
        checkout: &Checkout,
        files: &[(&[u8], [&Side; 2])],
    ) -> Result<Self, GitError> {
        let mut contents = Self::default();
        let mut unlike: Vec<&[u8]> = Vec::new();
        for (path, sides) in files {
            let Some(id) = id_at(repo, &checkout.dir.join(bytes_to_path(path)))? else {
                continue;
            };
            let known = sides.iter().any(|side| has_id(side, &id));
            let regular = sides
                .iter()
                .any(|side| side.as_ref().is_some_and(|(mode, _)| *mode != SYMLINK));
            if !known && regular {
                unlike.push(path);
            }
            contents.raw.insert(path.to_vec(), id);
        }
        contents.clean = cleaned(checkout, &unlike)?;
        Ok(contents)
    }

    pub(super) fn equals(&self, path: &[u8], is_link: bool, side: &Side) -> Equal {
        let Some((mode, id)) = side else {
            return Equal::No;
        };
        if (*mode == SYMLINK) != is_link {
            Equal::No
        } else if self.raw.get(path) == Some(id) {
            Equal::Bytes
        } else if !is_link && self.clean.get(path) == Some(id) {
            Equal::Filtered
        } else {
            Equal::No
        }
    }
}

fn has_id(side: &Side, id: &str) -> bool {
    side.as_ref().is_some_and(|(_, wanted)| wanted == id)
}

/// The ids that git would give the files.
fn cleaned(checkout: &Checkout, paths: &[&[u8]]) -> Result<HashMap<Vec<u8>, String>, GitError> {
    let mut found = HashMap::new();
    let mut rest = paths.iter();
    while !rest.as_slice().is_empty() {
        let names: String = rest
            .as_slice()
            .iter()
            .map(|path| quoted(path) + "\n")
            .collect();
        let output = checkout
            .git()
            .args(["hash-object", "--stdin-paths"])
            .stdin(names)
            .deadline(SLOW)
            .output()?;
        let answer = output.stdout_text();
        for id in answer.lines() {
            if let Some(path) = rest.next() {
                found.insert(path.to_vec(), id.to_owned());
            }
        }
        // A filter that fails ends the list: that file equals nothing, and the rest is asked again.
        if !rest.as_slice().is_empty() {
            rest.next();
        }
    }
    Ok(found)
}

/// Whether git would write exactly these bytes for the blob.
pub(super) fn is_reproducible(
    vault: &Vault,
    checkout: &Checkout,
    path: &[u8],
    id: &str,
) -> Result<bool, GitError> {
    let mut option = std::ffi::OsString::from("--path=");
    option.push(bytes_to_path(path));
    let output = vault
        .seen_by(checkout.git())
        .args(["cat-file", "--filters"])
        .arg(option)
        .arg(id)
        .deadline(SLOW)
        .output()?;
    let file = checkout.dir.join(bytes_to_path(path));
    Ok(
        output.success()
            && std::fs::read(&file).map_err(GitError::reading(&file))? == output.stdout,
    )
}
