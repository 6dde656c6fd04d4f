//! Applies the clean filters and line-ending rules of a repository to changed files.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::repository::Vault;
use super::survey::Found;
use crate::git::call::{fields, quoted};
use crate::git::{Checkout, GitError};

/// A user's filter that takes longer is left out; the raw bytes are stored in any case.
const FILTER_DEADLINE: Duration = Duration::from_secs(20);

/// The ids of changed files as git would store them, for those that a filter or a line-ending rule
/// applies to; written into the vault, so that a tree may name them. A filter that fails or hangs leaves them out.
pub(super) fn cleaned(
    vault: &Vault,
    checkout: &Checkout,
    changed: &[Found],
) -> Result<HashMap<Vec<u8>, String>, GitError> {
    let files: Vec<&Found> = changed
        .iter()
        .filter(|found| found.stamp.is_file())
        .collect();
    if files.is_empty() {
        return Ok(HashMap::new());
    }
    let converted = converted(checkout, &files)?;
    if converted.is_empty() {
        return Ok(HashMap::new());
    }
    let paths: String = converted.iter().map(|path| quoted(path) + "\n").collect();
    let answer = vault
        .writes_of(checkout.git())
        .args(["hash-object", "-w", "--stdin-paths"])
        .stdin(paths)
        .deadline(FILTER_DEADLINE)
        .text();
    let Ok(answer) = answer else {
        return Ok(HashMap::new());
    };
    Ok(converted
        .into_iter()
        .zip(answer.lines().map(str::to_owned))
        .collect())
}

/// The paths whose bytes on disk git converts before it stores them.
fn converted(checkout: &Checkout, files: &[&Found]) -> Result<Vec<Vec<u8>>, GitError> {
    let settings = checkout
        .git()
        .args(["config", "--get-regexp", r"^core\.(autocrlf|eol)$"])
        .output()?
        .stdout_text()
        .to_ascii_lowercase();
    let everywhere = settings
        .lines()
        .filter_map(|line| line.strip_prefix("core.autocrlf"))
        .next_back()
        .is_some_and(|value| !matches!(value.trim(), "false" | "0" | "no" | "off"));
    let mut paths: Vec<u8> = Vec::new();
    for found in files {
        paths.extend_from_slice(&found.path);
        paths.push(0);
    }
    let answer = checkout
        .git()
        .args(["check-attr", "-z", "--stdin"])
        .args([
            "text",
            "eol",
            "crlf",
            "filter",
            "ident",
            "working-tree-encoding",
        ])
        .stdin(paths)
        .run()?;
    let parts: Vec<&[u8]> = fields(&answer).collect();
    let mut ruled: HashSet<&[u8]> = HashSet::new();
    for part in parts.chunks_exact(3) {
        let unset = matches!(part[2], b"unspecified" | b"unset");
        if !unset {
            ruled.insert(part[0]);
        }
    }
    Ok(files
        .iter()
        .filter(|found| everywhere || ruled.contains(found.path.as_slice()))
        .map(|found| found.path.clone())
        .collect())
}
