//! A three-way merge of the saved work onto another commit, as trees: no file is touched.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::git::call::{SLOW, bytes_to_path, fields, require_version};
use crate::git::{GitError, Repo};
use crate::process::Command;
use crate::vault::fact::SnapshotFact;
use crate::vault::repository::Vault;
use crate::vault::return_objects::copy_objects;

/// Trees to go from and to. The journal keeps it, so that a cut-off run can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MergeFact {
    pub onto: String,
    pub from_worktree: String,
    pub to_worktree: String,
    pub from_index: String,
    pub to_index: String,
    /// Obstacles that are renamed; the names are chosen before anything is moved.
    #[serde(default)]
    pub aside: Vec<Aside>,
}

/// Something of the instance that gets another name. Paths are bytes as the disk has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Aside {
    path: Vec<u8>,
    to: Vec<u8>,
}

impl Aside {
    pub(super) fn new(path: Vec<u8>, to: Vec<u8>) -> Self {
        Self { path, to }
    }

    pub(crate) fn path(&self) -> PathBuf {
        bytes_to_path(&self.path)
    }

    pub(crate) fn to(&self) -> PathBuf {
        bytes_to_path(&self.to)
    }

    pub(super) fn path_bytes(&self) -> &[u8] {
        &self.path
    }

    pub(super) fn to_bytes(&self) -> &[u8] {
        &self.to
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
        /// Those that can hold no markers (binary files, links): the branch's version takes the
        /// place of the saved one.
        replaced: Vec<PathBuf>,
    },
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
    // New trees and merged content are work that is not committed: they go into the vault.
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
    // A temporary commit whose history holds just the changes since the pause. The branch's own
    // history may differ, or have no common commit (after a rebase).
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
        aside: Vec::new(),
    };
    let mut files = worktree.conflicts.clone();
    files.extend(staged.conflicts);
    files.sort();
    files.dedup();
    if files.is_empty() {
        return Ok(MergePlan::Clean(plan));
    }
    let replaced = replaced(&vault, &plan, &onto_tree, &worktree.conflicts)?;
    Ok(MergePlan::Conflict {
        files,
        replaced,
        with_markers: MergeFact {
            to_index: onto_tree,
            ..plan
        },
    })
}

/// Copies the objects that the merged index names into the user's repository, once git sees that index.
pub(crate) fn bring_merged_back(repo: &Repo, merge: &MergeFact) -> Result<(), GitError> {
    if merge.from_index == merge.to_index {
        return Ok(());
    }
    let vault = Vault::find(repo)?;
    let _lock = vault.share()?;
    copy_objects(
        &vault,
        std::slice::from_ref(&merge.to_index),
        std::slice::from_ref(&merge.onto),
    )
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
        return Err(command.status_failure(&output).into());
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

/// Of the files in conflict, those whose merged version is the branch's own.
fn replaced(
    vault: &Vault,
    plan: &MergeFact,
    onto_tree: &str,
    conflicts: &[PathBuf],
) -> Result<Vec<PathBuf>, GitError> {
    let merged: BTreeSet<PathBuf> = steps(vault, onto_tree, &plan.to_worktree)?
        .into_iter()
        .map(|step| bytes_to_path(&step.path))
        .collect();
    Ok(steps(vault, &plan.from_worktree, &plan.to_worktree)?
        .into_iter()
        .filter(|step| step.from.is_some() && step.to.is_some())
        .map(|step| bytes_to_path(&step.path))
        .filter(|path| conflicts.contains(path) && !merged.contains(path))
        .collect())
}

/// What a path is in a tree: mode and id.
pub(super) type Side = Option<(u32, String)>;

/// One path in which two trees differ.
#[derive(Debug)]
pub(super) struct Step {
    pub path: Vec<u8>,
    pub from: Side,
    pub to: Side,
}

/// How one tree becomes another, path by path in git's order.
pub(super) fn steps(vault: &Vault, from: &str, to: &str) -> Result<Vec<Step>, GitError> {
    let listing = vault
        .git()
        .args(["diff-tree", "-r", "-z", "--raw", "--no-renames"])
        .args(["--no-abbrev", from, to])
        .deadline(SLOW)
        .run()?;
    let mut parts = fields(&listing);
    let mut steps = Vec::new();
    while let (Some(what), Some(path)) = (parts.next(), parts.next()) {
        let text = String::from_utf8_lossy(what).into_owned();
        let words: Vec<&str> = text.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, _] = words[..] else {
            return Err(GitError::Unexpected {
                call: "git diff-tree".to_owned(),
                answer: text,
            });
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
