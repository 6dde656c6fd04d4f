//! What must not be collected while a worktree is parked: objects that only its admin directory or
//! its index name. Git itself looks there, as long as it can see it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::git::call::bytes_to_path;
use crate::git::index::{GITLINK, Index};
use crate::git::{Checkout, GitError, Repo};

/// Larger files in an admin directory are not git's.
const LARGEST: u64 = 8 << 20;

/// In a main checkout the admin directory is the whole repository: only these belong to the
/// checkout itself.
const OWN: &[&str] = &[
    "HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "index",
    "logs/HEAD",
    "refs/bisect",
    "refs/worktree",
    "refs/rewritten",
    "info/sparse-checkout",
    "config.worktree",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_EXPECTED_REV",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_RUN",
    "BISECT_START",
    "BISECT_TERMS",
    "BISECT_FIRST_PARENT",
    "BISECT_ANCESTORS_OK",
    "COMMIT_EDITMSG",
    "NOTES_MERGE_PARTIAL",
    "NOTES_MERGE_REF",
    "NOTES_MERGE_WORKTREE",
];

/// Repositories of submodules and their like: they move along with the admin directory.
const NOT_STORED: &[&str] = &[
    "modules",
    "lfs",
    "objects",
    "worktrees",
    "bivouac",
    "bivouac-unfinished",
    "hooks",
];

/// A file of the admin directory: its relative path and content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AdminFile {
    pub path: Vec<u8>,
    pub content: Vec<u8>,
}

/// Objects by kind, as far as they exist.
#[derive(Debug, Default)]
pub(super) struct Named {
    pub commits: BTreeSet<String>,
    pub trees: BTreeSet<String>,
    pub blobs: BTreeSet<String>,
}

/// The files that describe the checkout: HEAD, index, operation in progress, its own refs and log.
pub(super) fn admin_files(checkout: &Checkout) -> Result<Vec<AdminFile>, GitError> {
    let mut files = Vec::new();
    if checkout.is_main() {
        for name in OWN {
            gather(&checkout.git_dir, name.as_bytes(), &mut files)?;
        }
        let shared = list(&checkout.git_dir)?;
        for name in shared
            .iter()
            .filter(|name| name.starts_with(b"sharedindex."))
        {
            gather(&checkout.git_dir, name, &mut files)?;
        }
    } else {
        for name in list(&checkout.git_dir)? {
            if !NOT_STORED.iter().any(|other| name == other.as_bytes()) {
                gather(&checkout.git_dir, &name, &mut files)?;
            }
        }
    }
    Ok(files)
}

fn list(dir: &Path) -> Result<Vec<Vec<u8>>, GitError> {
    use std::os::unix::ffi::OsStringExt;
    let mut names: Vec<Vec<u8>> = std::fs::read_dir(dir)
        .map_err(GitError::reading(dir))?
        .filter_map(|entry| Some(entry.ok()?.file_name().into_vec()))
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// A file may vanish while we look: git writes some of them and removes them again.
fn gather(top: &Path, relative: &[u8], files: &mut Vec<AdminFile>) -> Result<(), GitError> {
    let path = top.join(bytes_to_path(relative));
    let Ok(found) = std::fs::symlink_metadata(&path) else {
        return Ok(());
    };
    if found.is_dir() {
        for name in list(&path)? {
            let below = [relative, b"/", &name].concat();
            gather(top, &below, files)?;
        }
    } else if found.is_file() && (found.len() <= LARGEST || relative == b"index") {
        match std::fs::read(&path) {
            Ok(content) => files.push(AdminFile {
                path: relative.to_vec(),
                content,
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(GitError::reading(&path)(error)),
        }
    }
    Ok(())
}

/// Everything that those files and the index name and that exists.
pub(super) fn named(
    repo: &Repo,
    checkout: &Checkout,
    files: &[AdminFile],
    index: &Index,
    staged: impl Iterator<Item = String>,
) -> Result<Named, GitError> {
    let length = repo.id_length();
    let mut ids: BTreeSet<String> = staged.collect();
    for file in files {
        if file.path != b"index" && !file.path.starts_with(b"sharedindex.") {
            ids.extend(tokens(&file.content, length));
        }
    }
    ids.extend(index.resolve_undo.iter().cloned());
    ids.extend(
        index
            .entries
            .iter()
            .filter(|entry| entry.stage != 0 && entry.mode != GITLINK)
            .map(|entry| entry.id()),
    );
    if checkout.git_dir.join("reftable").is_dir() {
        ids.extend(from_reftable(checkout, length)?);
    }
    ids.remove(&repo.null_id());
    sorted(repo, &ids)
}

/// Which of the ids exist, by kind.
fn sorted(repo: &Repo, ids: &BTreeSet<String>) -> Result<Named, GitError> {
    let mut named = Named::default();
    if ids.is_empty() {
        return Ok(named);
    }
    let questions: String = ids.iter().map(|id| format!("{id}^{{}}\n")).collect();
    let answers = repo
        .git()
        .args([
            "cat-file",
            "--batch-check=%(objectname) %(objecttype)",
            "--buffer",
        ])
        .stdin(questions)
        .deadline(crate::git::call::SLOW)
        .text()?;
    for line in answers.lines() {
        let Some((id, kind)) = line.split_once(' ') else {
            continue;
        };
        match kind {
            "commit" => named.commits.insert(id.to_owned()),
            "tree" => named.trees.insert(id.to_owned()),
            "blob" => named.blobs.insert(id.to_owned()),
            // Missing, or a word that only looked like an id.
            _ => false,
        };
    }
    Ok(named)
}

/// Every word of exactly that many hexadecimal digits.
pub(super) fn tokens(content: &[u8], length: usize) -> impl Iterator<Item = String> {
    content
        .split(|byte| !byte.is_ascii_hexdigit())
        .filter(move |word| word.len() == length)
        .map(|word| String::from_utf8_lossy(word).to_ascii_lowercase())
}

/// Refs and logs of the worktree in a format that only git reads.
fn from_reftable(checkout: &Checkout, length: usize) -> Result<BTreeSet<String>, GitError> {
    let mut found: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    let calls: [(&str, &[&str]); 3] = [
        (
            "refs",
            &[
                "for-each-ref",
                "--format=%(objectname)",
                "refs/bisect",
                "refs/worktree",
                "refs/rewritten",
            ],
        ),
        ("log", &["log", "--walk-reflogs", "--format=%H", "HEAD"]),
        (
            "pseudo",
            &[
                "rev-parse",
                "--revs-only",
                "ORIG_HEAD",
                "CHERRY_PICK_HEAD",
                "REVERT_HEAD",
                "REBASE_HEAD",
                "BISECT_EXPECTED_REV",
                "AUTO_MERGE",
                "MERGE_AUTOSTASH",
            ],
        ),
    ];
    for (name, arguments) in calls {
        // An unborn HEAD has no log; that is no reason to fail.
        found.insert(name, checkout.git().args(arguments).output()?.stdout);
    }
    // One by one: a missing name makes `rev-parse` stop at it.
    for name in [
        "ORIG_HEAD",
        "CHERRY_PICK_HEAD",
        "REVERT_HEAD",
        "AUTO_MERGE",
        "MERGE_AUTOSTASH",
    ] {
        let output = checkout
            .git()
            .args(["rev-parse", "--verify", "--quiet", name])
            .output()?;
        found.entry("pseudo").or_default().extend(output.stdout);
    }
    Ok(found
        .values()
        .flat_map(|listing| tokens(listing, length))
        .collect())
}
