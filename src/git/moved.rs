//! Where the branch of a paused worktree stands now, and carrying the work over if it was moved: a
//! three-way merge of trees first, without touching a file; then only differing paths are written.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::call::{SLOW, bytes_to_path, fields, require_version};
use super::closure::give;
use super::import::quoted;
use super::index::{Index, SYMLINK};
use super::objects::{Wanted, read_blobs};
use super::sight::{Sight, Stamp};
use super::snapshot::SnapshotFact;
use super::vault::Vault;
use super::{Checkout, GitError, Repo};
use crate::process::Command;

/// What became of the branch while its worktree was away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BranchStanding {
    /// It stands where it stood, or HEAD was detached: what was parked fits as it is.
    Same,
    Moved {
        branch: String,
        from: Option<String>,
        to: String,
        /// Whether the new commit has the old one in its history.
        forward: bool,
    },
    Deleted {
        branch: String,
        was: String,
    },
    Elsewhere {
        branch: String,
        path: PathBuf,
    },
}

/// Trees to go from and to; the journal keeps them, so that a cut-off run goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MergeFact {
    pub onto: String,
    pub from_worktree: String,
    pub to_worktree: String,
    pub from_index: String,
    pub to_index: String,
}

impl MergeFact {
    /// The way back.
    pub(crate) fn reversed(&self) -> Self {
        Self {
            onto: self.onto.clone(),
            from_worktree: self.to_worktree.clone(),
            to_worktree: self.from_worktree.clone(),
            from_index: self.to_index.clone(),
            to_index: self.from_index.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MergePlan {
    Clean(MergeFact),
    /// Both sides changed these files. `with_markers` writes them with conflict markers, nothing
    /// staged.
    Conflict {
        files: Vec<PathBuf>,
        with_markers: MergeFact,
    },
}

/// Compares the branch with what the snapshot remembers of it.
pub(crate) fn branch_standing(
    repo: &Repo,
    fact: &SnapshotFact,
) -> Result<BranchStanding, GitError> {
    let Some(branch) = fact.branch.clone() else {
        return Ok(BranchStanding::Same);
    };
    if let Some(path) = repo.branch_in_use(&branch)? {
        return Ok(BranchStanding::Elsewhere { branch, path });
    }
    let now = repo.branch_commit(&branch)?;
    Ok(match (fact.head.clone(), now) {
        (was, now) if was == now => BranchStanding::Same,
        (Some(was), None) => BranchStanding::Deleted { branch, was },
        (from, Some(to)) => {
            let forward = match &from {
                Some(from) => repo
                    .git()
                    .args(["merge-base", "--is-ancestor", from, &to])
                    .output()?
                    .success(),
                None => true,
            };
            BranchStanding::Moved {
                branch,
                from,
                to,
                forward,
            }
        }
        (None, None) => BranchStanding::Same,
    })
}

/// Merges the work of a snapshot onto another commit, in objects alone.
pub(crate) fn plan_merge(
    repo: &Repo,
    fact: &SnapshotFact,
    onto: &str,
) -> Result<MergePlan, GitError> {
    if let Some(operation) = &fact.operation {
        return Err(GitError::OperationInProgress {
            operation: operation.clone(),
        });
    }
    let version = require_version()?;
    if version < (2, 38) {
        return Err(GitError::GitTooOld {
            found: format!("{}.{}", version.0, version.1),
            needed: "2.38 (for carrying work to a moved branch)".to_owned(),
        });
    }
    // New trees and merged content are work that nobody committed: they go into the vault.
    let vault = Vault::find(repo)?;
    let git = || vault.writes_of(repo.git());
    let tree = |commit: &str| -> Result<String, GitError> {
        Ok(git()
            .args(["rev-parse", "--verify", "--end-of-options"])
            .arg(format!("{commit}^{{tree}}"))
            .text()?)
    };
    let base = format!("{}^1", fact.commit);
    let index = format!("{}^2", fact.commit);
    let onto_tree = tree(onto)?;
    // A stand-in whose history says: these are the changes since the pause. The branch's own
    // history may say something else, or nothing (it was rebased).
    let stand_in = git()
        .args(["commit-tree", "-m", "bivouac: moved branch", "-p", &base])
        .arg(&onto_tree)
        .text()?;
    let worktree = merge_trees(git(), &stand_in, &fact.commit)?;
    let staged = merge_trees(git(), &stand_in, &index)?;
    let plan = MergeFact {
        onto: onto.to_owned(),
        from_worktree: tree(&fact.commit)?,
        to_worktree: worktree.tree,
        from_index: tree(&index)?,
        to_index: staged.tree,
    };
    let mut files = worktree.conflicts;
    files.extend(staged.conflicts);
    files.sort();
    files.dedup();
    Ok(if files.is_empty() {
        MergePlan::Clean(plan)
    } else {
        MergePlan::Conflict {
            files,
            with_markers: MergeFact {
                to_index: onto_tree,
                ..plan
            },
        }
    })
}

struct Merged {
    tree: String,
    conflicts: Vec<PathBuf>,
}

fn merge_trees(git: Command, ours: &str, theirs: &str) -> Result<Merged, GitError> {
    let command = git
        .args(["merge-tree", "--write-tree", "-z", "--name-only"])
        .args(["--no-messages", ours, theirs])
        .deadline(SLOW);
    let output = command.output()?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(command.refused(&output).into());
    }
    let mut parts = fields(&output.stdout);
    let tree = parts
        .next()
        .map(|id| String::from_utf8_lossy(id).into_owned());
    Ok(Merged {
        tree: tree.ok_or_else(|| GitError::Unexpected {
            call: "git merge-tree".to_owned(),
            answer: output.stdout_text(),
        })?,
        conflicts: parts
            .filter(|path| !path.is_empty())
            .map(bytes_to_path)
            .collect(),
    })
}

/// What a path is in a tree: mode and id.
type Side = Option<(u32, String)>;

struct Step {
    path: Vec<u8>,
    from: Side,
    to: Side,
}

/// Makes the checkout what the plan says: first all paths are looked at, and nothing is done if one
/// is neither what the plan starts from nor what it leads to. Run again it completes what is
/// missing.
pub(crate) fn apply_merge(
    repo: &Repo,
    checkout: &Checkout,
    plan: &MergeFact,
) -> Result<(), GitError> {
    let index = Index::read(repo, checkout)?;
    if index.entries.iter().any(|entry| entry.stage != 0) {
        return Err(GitError::OperationInProgress {
            operation: "merge".to_owned(),
        });
    }
    let vault = Vault::find(repo)?;
    let _lock = vault.share()?;
    let steps = steps(&vault, &plan.from_worktree, &plan.to_worktree)?;
    let todo = todo(&vault, checkout, &index, &steps)?;
    let dir = repo.own_dir("tmp")?;
    let scratch = tempfile::Builder::new()
        .prefix("merge-")
        .tempdir_in(&dir)
        .map_err(GitError::writing(&dir))?;
    write_paths(&vault, checkout, plan, &todo, scratch.path())?;
    write_index(&vault, checkout, plan, scratch.path())?;
    super::disk::sync_filesystems(&[&checkout.dir, &checkout.git_dir])
}

fn steps(vault: &Vault, from: &str, to: &str) -> Result<Vec<Step>, GitError> {
    let listing = vault
        .git()
        .args([
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            from,
            to,
        ])
        .deadline(SLOW)
        .run()?;
    let mut parts = fields(&listing);
    let mut steps = Vec::new();
    while let (Some(what), Some(path)) = (parts.next(), parts.next()) {
        let text = String::from_utf8_lossy(what).into_owned();
        let words: Vec<&str> = text.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, _] = words[..] else {
            continue;
        };
        let side = |mode: &str, id: &str| {
            u32::from_str_radix(mode, 8)
                .ok()
                .filter(|mode| *mode != 0)
                .map(|mode| (mode, id.to_owned()))
        };
        steps.push(Step {
            path: path.to_vec(),
            from: side(old_mode, old_id),
            to: side(new_mode, new_id),
        });
    }
    Ok(steps)
}

/// The steps that are still to be done. An error names every path that is in the way.
fn todo<'a>(
    vault: &Vault,
    checkout: &Checkout,
    index: &Index,
    steps: &'a [Step],
) -> Result<Vec<&'a Step>, GitError> {
    let mut sight = Sight::open(&checkout.dir)?;
    let mut found: BTreeMap<&[u8], Stamp> = BTreeMap::new();
    for step in steps {
        if let Some(stamp) = sight.look(&step.path)?
            && !stamp.is_dir()
        {
            found.insert(&step.path, stamp);
        }
    }
    let ids = ids_on_disk(checkout, &found)?;
    let links = link_matches(vault, &checkout.dir, steps, &found)?;
    let mut todo = Vec::new();
    let mut in_the_way = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let is = |side: &Side| match (side, found.get(step.path.as_slice())) {
            (None, None) => true,
            (Some((mode, id)), Some(stamp)) if stamp.is_file() => {
                *mode & 0o170_000 == 0o100_000 && ids.get(step.path.as_slice()) == Some(id)
            }
            (Some((SYMLINK, id)), Some(stamp)) if stamp.is_symlink() => {
                links.get(&number).is_some_and(|same| same.contains(id))
            }
            _ => false,
        };
        let sparse = index
            .find(&step.path)
            .is_some_and(|entry| entry.skip_worktree);
        if !found.contains_key(step.path.as_slice()) && sparse {
            continue;
        }
        if is(&step.to) && !is(&step.from) {
            continue;
        }
        if is(&step.from) {
            todo.push(step);
        } else {
            in_the_way.push(bytes_to_path(&step.path));
        }
    }
    if in_the_way.is_empty() {
        Ok(todo)
    } else {
        Err(GitError::Conflict { files: in_the_way })
    }
}

/// The ids that git would give the files as they are.
fn ids_on_disk<'a>(
    checkout: &Checkout,
    found: &BTreeMap<&'a [u8], Stamp>,
) -> Result<BTreeMap<&'a [u8], String>, GitError> {
    let files: Vec<&[u8]> = found
        .iter()
        .filter(|(_, stamp)| stamp.is_file())
        .map(|(path, _)| *path)
        .collect();
    if files.is_empty() {
        return Ok(BTreeMap::new());
    }
    let names: String = files.iter().map(|path| quoted(path) + "\n").collect();
    let answer = checkout
        .git()
        .args(["hash-object", "--stdin-paths"])
        .stdin(names)
        .deadline(SLOW)
        .text()?;
    Ok(files
        .into_iter()
        .zip(answer.lines().map(str::to_owned))
        .collect())
}

/// For each symlink on disk, by step, the ids of the sides that it equals.
fn link_matches(
    vault: &Vault,
    dir: &Path,
    steps: &[Step],
    found: &BTreeMap<&[u8], Stamp>,
) -> Result<BTreeMap<usize, Vec<String>>, GitError> {
    let mut asked: Vec<(usize, String)> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        if found
            .get(step.path.as_slice())
            .is_some_and(Stamp::is_symlink)
        {
            for (mode, id) in [&step.from, &step.to].into_iter().flatten() {
                if *mode == SYMLINK {
                    asked.push((number, id.clone()));
                }
            }
        }
    }
    let wanted: Vec<Wanted> = asked
        .iter()
        .map(|(_, id)| Wanted {
            id: id.clone(),
            size: 100,
        })
        .collect();
    let mut matches: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    read_blobs(vault, &wanted, |position, blob| {
        let (number, id) = &asked[position];
        let target = std::fs::read_link(dir.join(bytes_to_path(&steps[*number].path)));
        if target.is_ok_and(|target| Some(target.as_os_str().as_bytes()) == blob) {
            matches.entry(*number).or_default().push(id.clone());
        }
        Ok(())
    })?;
    Ok(matches)
}

fn write_paths(
    vault: &Vault,
    checkout: &Checkout,
    plan: &MergeFact,
    todo: &[&Step],
    scratch: &Path,
) -> Result<(), GitError> {
    for step in todo.iter().filter(|step| step.to.is_none()) {
        let path = checkout.dir.join(bytes_to_path(&step.path));
        match std::fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(GitError::writing(&path)(error)),
        }
        // Directories that became empty, up to the first that did not.
        for above in bytes_to_path(&step.path).ancestors().skip(1) {
            if above.as_os_str().is_empty()
                || std::fs::remove_dir(checkout.dir.join(above)).is_err()
            {
                break;
            }
        }
    }
    let mut names: Vec<u8> = Vec::new();
    for step in todo.iter().filter(|step| step.to.is_some()) {
        names.extend_from_slice(&step.path);
        names.push(0);
    }
    if names.is_empty() {
        return Ok(());
    }
    let private = scratch.join("worktree-index");
    vault
        .seen_by(checkout.git())
        .args(["read-tree", &plan.to_worktree])
        .env("GIT_INDEX_FILE", &private)
        .deadline(SLOW)
        .run()?;
    vault
        .seen_by(checkout.git())
        .args(["checkout-index", "--force", "-z", "--stdin"])
        .env("GIT_INDEX_FILE", &private)
        .stdin(names)
        .deadline(SLOW)
        .run()?;
    Ok(())
}

/// Kept beside the index until the new one is in place, so that a second run starts from the same.
const BEFORE: &str = "bivouac-index-before";

fn write_index(
    vault: &Vault,
    checkout: &Checkout,
    plan: &MergeFact,
    scratch: &Path,
) -> Result<(), GitError> {
    if plan.from_index == plan.to_index {
        return Ok(());
    }
    // What a live index names is the user's.
    give(
        vault,
        std::slice::from_ref(&plan.to_index),
        std::slice::from_ref(&plan.onto),
    )?;
    let index = checkout.index_path();
    let before = checkout.git_dir.join(BEFORE);
    if !before.exists() {
        let copy = scratch.join("before");
        std::fs::copy(&index, &copy).map_err(GitError::writing(&copy))?;
        std::fs::rename(&copy, &before).map_err(GitError::writing(&before))?;
    }
    let fresh = scratch.join("index");
    std::fs::copy(&before, &fresh).map_err(GitError::writing(&fresh))?;
    vault
        .seen_by(checkout.git())
        .args(["read-tree", "-i", "-m", &plan.from_index, &plan.to_index])
        .env("GIT_INDEX_FILE", &fresh)
        .deadline(SLOW)
        .run()?;
    // Files that differ from the index are as they should be.
    vault
        .seen_by(checkout.git())
        .args(["update-index", "-q", "--refresh"])
        .env("GIT_INDEX_FILE", &fresh)
        .deadline(SLOW)
        .output()?;
    std::fs::rename(&fresh, &index).map_err(GitError::writing(&index))?;
    std::fs::remove_file(&before).map_err(GitError::writing(&before))
}
