//! Copies into the vault what the user's `git gc` could drop.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::repository::Vault;
use crate::git::GitError;
use crate::git::call::SLOW;

pub(super) const DEADLINE: Duration = SLOW;

/// Copies everything that `tips` reach, that `base_commits` do not reach, and that no pack of the
/// vault has yet. Git itself says what that is; what the vault reads through its alternates does not
/// count.
pub(super) fn complete(
    vault: &Vault,
    tips: &[&str],
    base_commits: &[String],
) -> Result<(), GitError> {
    mark_kept(vault)?;
    vault
        .git()
        .args(["-c", "core.fsync=committed", "-c", "pack.compression=0"])
        .args(["pack-objects", "-q", "--revs", "--sparse", "--non-empty"])
        // A pack is "kept" if a file says so: those of the vault are.
        .args(["--honor-pack-keep", "--delta-base-offset", "--window=0"])
        // In a partial clone some objects are only on the remote; changed ones never are.
        .arg("--missing=allow-any")
        .arg(vault.objects().join("pack/pack"))
        .stdin(without(tips, base_commits))
        .deadline(DEADLINE)
        .run()?;
    mark_kept(vault)
}

/// Objects that [`complete`] should have copied and that are in no pack of the vault.
pub(super) fn lacking(
    vault: &Vault,
    commit: &str,
    base_commits: &[String],
) -> Result<Vec<String>, GitError> {
    let all = vault
        .git()
        .args(["rev-list", "--objects", "--no-object-names", "--stdin"])
        .stdin(without(&[commit], base_commits))
        .deadline(DEADLINE)
        .text()?;
    let own = objects_in(vault, &indexes(vault)?)?;
    let lacking = all.lines().filter(|id| !own.contains(*id));
    Ok(lacking.map(str::to_owned).collect())
}

/// The objects that packs have, by their indexes.
pub(super) fn objects_in(vault: &Vault, indexes: &[PathBuf]) -> Result<BTreeSet<String>, GitError> {
    let mut objects: BTreeSet<String> = BTreeSet::new();
    let format = format!("--object-format={}", vault.repo().object_format());
    for index in indexes {
        let bytes = std::fs::read(index).map_err(GitError::reading(index))?;
        let listing = vault
            .git()
            .args(["show-index", &format])
            .stdin(bytes)
            .text()?;
        // `<offset> <id> (<checksum>)`
        let ids = listing.lines().filter_map(|line| line.split(' ').nth(1));
        objects.extend(ids.map(str::to_owned));
    }
    Ok(objects)
}

/// Reads every object of every pack of the vault and compares it with its name.
pub(super) fn verify_packs(vault: &Vault) -> Result<(), GitError> {
    let indexes = indexes(vault)?;
    if !indexes.is_empty() {
        vault
            .git()
            .arg("verify-pack")
            .args(indexes)
            .deadline(DEADLINE)
            .run()?;
    }
    Ok(())
}

pub(super) fn indexes(vault: &Vault) -> Result<Vec<PathBuf>, GitError> {
    let dir = vault.objects().join("pack");
    let entries = std::fs::read_dir(&dir).map_err(GitError::reading(&dir))?;
    Ok(entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "idx"))
        .collect())
}

/// `tips`, and nothing that `excluded` reach, as git reads it.
pub(super) fn without(tips: &[&str], excluded: &[String]) -> String {
    let mut lines: String = tips.iter().map(|tip| format!("{tip}\n")).collect();
    // Before 2.42 `git rev-list` takes no `--not` from standard input.
    lines.extend(excluded.iter().map(|id| format!("^{id}\n")));
    lines
}

/// Marks each pack of the vault as kept, so that even a `git gc` that is run there by mistake leaves
/// it alone.
pub(super) fn mark_kept(vault: &Vault) -> Result<(), GitError> {
    for index in indexes(vault)? {
        let keep = index.with_extension("keep");
        if !keep.exists() {
            std::fs::write(&keep, "").map_err(GitError::writing(&keep))?;
        }
    }
    Ok(())
}
