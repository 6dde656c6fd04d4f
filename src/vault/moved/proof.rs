//! Whether a worktree is what a merge should have made of it.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::content::{Contents, Equal};
use super::obstacles::{ancestors, is_submodule};
use super::plan::{Aside, MergeFact, Side, Step, steps};
use crate::git::call::{SLOW, bytes_to_path, fields};
use crate::git::index::Index;
use crate::git::{Checkout, GitError, Repo};
use crate::vault::fact::SnapshotFact;
use crate::vault::repository::Vault;
use crate::vault::stamp::StampReader;
use crate::vault::survey::{Depth, survey};
use crate::vault::verify::{differences, stored_manifest};

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Carried {
    /// Not what the merge leads to.
    pub wrong: Vec<PathBuf>,
    /// Not part of the merge, and not what the snapshot holds: it was changed meanwhile.
    pub changed: Vec<PathBuf>,
}

/// Compares the paths of the merge with its result, and everything else with the snapshot.
pub(crate) fn verify_carried(
    repo: &Repo,
    checkout: &Checkout,
    fact: &SnapshotFact,
    merge: &MergeFact,
) -> Result<Carried, GitError> {
    let vault = Vault::find(repo)?;
    let in_worktree = steps(&vault, &merge.from_worktree, &merge.to_worktree)?;
    let in_index = steps(&vault, &merge.from_index, &merge.to_index)?;
    let mut wrong = wrong_files(repo, checkout, &in_worktree)?;
    wrong.extend(wrong_entries(&vault, checkout, merge, &in_index)?);
    if checkout.head_commit()?.as_ref() != Some(&merge.onto) {
        wrong.push(PathBuf::from("HEAD"));
    }
    wrong.sort();
    wrong.dedup();
    let touched: BTreeSet<&[u8]> = in_worktree
        .iter()
        .chain(&in_index)
        .map(|step| step.path.as_slice())
        .collect();
    let now = survey(repo, checkout, Depth::All)?;
    let manifest = stored_manifest(&vault, fact)?;
    // Files that were ignored are untracked by other rules.
    let other_rules = touched.iter().any(|path| path.ends_with(b".gitignore"));
    let listed: BTreeSet<&[u8]> = manifest
        .items
        .iter()
        .map(|item| item.path.as_slice())
        .collect();
    let changed = differences(&vault, checkout, &manifest, &now)?
        .into_iter()
        .filter(|path| {
            let path = path.as_os_str().as_bytes();
            !touched.contains(path)
                && !merge.aside.iter().any(|aside| concerns(aside, path))
                && (!other_rules || listed.contains(path))
        })
        .collect();
    Ok(Carried { wrong, changed })
}

/// Whether a path was moved aside, or lies below something that was.
fn concerns(aside: &Aside, path: &[u8]) -> bool {
    [aside.path_bytes(), aside.to_bytes()]
        .into_iter()
        .any(|moved| path == moved || ancestors(path).any(|above| above == moved))
}

fn wrong_files(repo: &Repo, checkout: &Checkout, steps: &[Step]) -> Result<Vec<PathBuf>, GitError> {
    let index = Index::read(repo, checkout)?;
    let mut reader = StampReader::open(&checkout.dir)?;
    let mut files: Vec<(&[u8], [&Side; 2])> = Vec::new();
    let mut wrong = Vec::new();
    let mut present = Vec::new();
    for step in steps {
        if is_submodule(&step.from) || is_submodule(&step.to) {
            continue;
        }
        let stamp = reader.look(&step.path)?;
        let is_file = stamp.is_some_and(|stamp| stamp.is_file() || stamp.is_symlink());
        match &step.to {
            // A directory may have taken its place.
            None => {
                if is_file {
                    wrong.push(bytes_to_path(&step.path));
                }
            }
            Some(_) if is_file => {
                files.push((&step.path, [&step.to, &None]));
                present.push((step, stamp.is_some_and(|stamp| stamp.is_symlink())));
            }
            Some(_) => {
                let sparse = index
                    .find(&step.path)
                    .is_some_and(|entry| entry.skip_worktree);
                if stamp.is_some() || !sparse {
                    wrong.push(bytes_to_path(&step.path));
                }
            }
        }
    }
    let contents = Contents::read(repo, checkout, &files)?;
    for (step, is_link) in present {
        if contents.equals(&step.path, is_link, &step.to) == Equal::No {
            wrong.push(bytes_to_path(&step.path));
        }
    }
    Ok(wrong)
}

/// Paths of the merge whose index entry differs from its result.
fn wrong_entries(
    vault: &Vault,
    checkout: &Checkout,
    merge: &MergeFact,
    steps: &[Step],
) -> Result<Vec<PathBuf>, GitError> {
    let listing = vault
        .seen_by(checkout.git())
        .args([
            "diff-index",
            "--cached",
            "--name-only",
            "-z",
            "--no-renames",
        ])
        .args(["--ignore-submodules=none", &merge.to_index, "--"])
        .deadline(SLOW)
        .run()?;
    let differ: BTreeSet<&[u8]> = fields(&listing).collect();
    Ok(steps
        .iter()
        .filter(|step| differ.contains(step.path.as_slice()))
        .map(|step| bytes_to_path(&step.path))
        .collect())
}
