//! How the branch of an instance stands to its base, asked of git only when one of the two has moved.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::watch::changes::touched;
use crate::git::Repo;
use crate::model::{InstanceRecord, Standing};
use crate::store::{InstanceDir, replace_file};

/// A standing, and the evidence at the time when it was found.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    evidence: Vec<(i64, i64)>,
    /// None where the base is no branch.
    standing: Option<Standing>,
}

/// The times of files that the instances of one look share, each read once.
#[derive(Debug, Default)]
pub(in crate::engine) struct SharedTimes(RefCell<HashMap<PathBuf, (i64, i64)>>);

impl SharedTimes {
    fn touched(&self, path: PathBuf) -> (i64, i64) {
        let mut known = self.0.borrow_mut();
        *known.entry(path).or_insert_with_key(|path| touched(path))
    }
}

/// How many commits the branch is ahead of its base and behind it.
pub(in crate::engine) fn standing(
    dir: &InstanceDir,
    record: &InstanceRecord,
    shared: &SharedTimes,
) -> Option<Standing> {
    let branch = &record.branch.as_ref()?.name;
    let path = dir.path.join("standing.json");
    let common_dir = &record.repository.common_dir;
    let evidence = evidence(common_dir, branch, &record.base.name, shared);
    let known = std::fs::read(&path)
        .ok()
        .and_then(|text| serde_json::from_slice::<Known>(&text).ok());
    if let Some(known) = known.filter(|known| known.evidence == evidence) {
        return known.standing;
    }
    let repository = Repo::recorded(&record.repository.root).ok()?;
    let base = &record.base.name;
    let standing = match repository.ahead_and_behind(branch, base).ok()? {
        Some((ahead, behind)) => Some(Standing {
            base: base.clone(),
            ahead,
            behind,
            // A branch that never moved has nothing that could be merged.
            merged: ahead == 0 && repository.branch_commit(branch).ok()? != record.base.commit,
        }),
        None => None,
    };
    let known = Known { evidence, standing };
    if let Ok(text) = serde_json::to_vec(&known) {
        // Only a cache: if it cannot be written, the next look asks again.
        drop(replace_file(&path, &text));
    }
    known.standing
}

/// The times of the files that change when one of these branches moves, in each format of refs.
fn evidence(common_dir: &Path, branch: &str, base: &str, shared: &SharedTimes) -> Vec<(i64, i64)> {
    let heads = common_dir.join("refs/heads");
    vec![
        touched(&heads.join(branch)),
        shared.touched(heads.join(base)),
        shared.touched(common_dir.join("packed-refs")),
        shared.touched(common_dir.join("reftable/tables.list")),
    ]
}
