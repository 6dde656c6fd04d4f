//! Which paths git would ignore.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::GitError;
use super::call::{fields, git};

/// Before each path, so that none begins like an option or a special word.
const HERE: &[u8] = b"./";

/// Those of these paths that are ignored in a checkout. They need not exist; one that ends in `/` is
/// taken for a directory.
pub(crate) fn ignored_in(checkout: &Path, paths: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
    let mut asked = Vec::new();
    for path in paths {
        asked.extend_from_slice(HERE);
        asked.extend_from_slice(path.as_os_str().as_bytes());
        asked.push(0);
    }
    let command = git()
        // Not known to this command, which matches no wildcards anyway.
        .env_remove("GIT_LITERAL_PATHSPECS")
        .directory(checkout)
        .args(["check-ignore", "-z", "--stdin"])
        .stdin(asked);
    let output = command.output()?;
    // 1: none of them.
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(command.status_failure(&output).into());
    }
    let ignored = fields(&output.stdout).map(|path| {
        let path = path.strip_prefix(HERE).unwrap_or(path);
        OsString::from_vec(path.to_vec()).into()
    });
    Ok(ignored.collect())
}

/// Whether a checkout has this path, or something below it, in its index. Where git does not tell: yes.
pub(crate) fn is_tracked(checkout: &Path, path: &Path) -> bool {
    let listed = git()
        .directory(checkout)
        .args(["ls-files", "-z", "--"])
        .arg(path)
        .run();
    listed.map_or(true, |listed| !listed.is_empty())
}
