//! How the branch of an instance stands to its base, asked of git only when one of the two has moved.

use std::path::Path;

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

/// How many commits the branch is ahead of its base and behind it.
pub(in crate::engine) fn standing(dir: &InstanceDir, record: &InstanceRecord) -> Option<Standing> {
    let branch = &record.branch.as_ref()?.name;
    let path = dir.path.join("standing.json");
    let evidence = evidence(&record.repository.common_dir, [branch, &record.base.name]);
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
fn evidence(common_dir: &Path, branches: [&str; 2]) -> Vec<(i64, i64)> {
    let heads = common_dir.join("refs/heads");
    let mut times: Vec<(i64, i64)> = branches
        .iter()
        .map(|branch| touched(&heads.join(branch)))
        .collect();
    for file in ["packed-refs", "reftable/tables.list"] {
        times.push(touched(&common_dir.join(file)));
    }
    times
}
