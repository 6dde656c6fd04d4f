//! What a checkout has beside the tracked and the ignored files.

use super::call::{SLOW, fields};
use super::{Checkout, GitError};

type FilesAndNested = (Vec<Vec<u8>>, Vec<Vec<u8>>);

/// Files that are neither tracked nor ignored, sorted; and directories that are repositories.
pub(crate) fn untracked(checkout: &Checkout) -> Result<FilesAndNested, GitError> {
    let listing = checkout
        .git()
        .args(["ls-files", "-z", "--others", "--exclude-standard"])
        .deadline(SLOW)
        .run()?;
    let mut files = Vec::new();
    let mut nested = Vec::new();
    for path in fields(&listing) {
        match path.strip_suffix(b"/") {
            Some(dir) => nested.push(dir.to_vec()),
            None => files.push(path.to_vec()),
        }
    }
    files.sort_unstable();
    Ok((files, nested))
}
