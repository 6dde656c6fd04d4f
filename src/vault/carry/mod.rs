//! A paused worktree on its way to another home, repository and path.
//!
//! An export is one commit that reaches everything, and a manifest ([`listing`]) that names everything
//! by its hash. It travels as a git bundle with a thin pack: what the receiver's repository has anyway
//! (the files of the base commit) is named, and not sent. The index travels as a tree and as the few
//! entries that a tree cannot hold; the stat data of git and the names of unchanged files are not sent.
//!
//! ```text
//! E   tree: manifest
//!     │     raw/…     bytes: changed, untracked and ignored files, git's own files, the parts
//!     │     index     what is staged
//!     │     keep/…    objects that an operation in progress needs
//!     parents: HEAD, and commits that only git's own files name
//! ```
//! [`outgoing`] makes it in a repository of its own that goes away afterwards. [`incoming`] reads one
//! into such a repository and believes nothing of it; [`arrival`] writes the worktree and compares it.

mod arrival;
mod blobs;
mod bundle;
mod checks;
mod draft;
mod gather;
mod incoming;
mod index_file;
mod listing;
mod names;
mod order;
mod outgoing;
mod refusal;
mod scratch;
#[cfg(test)]
mod tests;
mod unchanged;

use crate::git::{GitError, Repo};
use crate::model::InstanceId;
use crate::vault::refs::{HELD, KEEP, TRASH};
use crate::vault::repository::Vault;

pub(crate) use arrival::{arrive, undo_arrival};
pub(crate) use gather::LeftBehind;
pub(crate) use incoming::{Incoming, read_export};
pub(crate) use order::{Known, Order};
pub(crate) use outgoing::{Outgoing, prepare_export};

/// Whether this repository holds work of an instance of this id, of whichever home.
pub(crate) fn has_work_of(repo: &Repo, id: &InstanceId) -> Result<bool, GitError> {
    let Some(vault) = Vault::existing(repo)? else {
        return Ok(false);
    };
    let listing = vault
        .git()
        .args(["for-each-ref", "--count=1", "--format=%(refname)"])
        .args([HELD, TRASH, KEEP].map(|namespace| format!("{namespace}{id}/")))
        .text()?;
    Ok(!listing.is_empty())
}

/// The hash of all parts together, in whichever order.
pub(crate) fn hash_of_parts(parts: &[Part]) -> String {
    let mut parts: Vec<&Part> = parts.iter().collect();
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    let mut text = Vec::new();
    for part in parts {
        let line = format!("{} {}\n", listing::hash_of(&part.bytes), part.name);
        text.extend_from_slice(line.as_bytes());
    }
    listing::hash_of(&text)
}

/// A file that travels beside the work: its name and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub name: String,
    pub bytes: Vec<u8>,
}
