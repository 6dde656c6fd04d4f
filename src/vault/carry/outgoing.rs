//! Makes an export of a paused worktree and writes it into any pipe.

use std::io::Write;

use super::bundle::Head;
use super::draft::{Draft, Slot};
use super::gather::{LeftBehind, gather};
use super::listing::hash_of;
use super::order::{Known, Order};
use super::scratch::Scratch;
use crate::git::call::SLOW;
use crate::git::index::Index;
use crate::git::{GitError, Repo};
use crate::vault::closure::without;
use crate::vault::import::Content;
use crate::vault::repository::Vault;

/// An export that is made and not yet written. It goes away with this.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(super) scratch: Scratch,
    pub(super) head: Head,
    /// What does not come along.
    pub left: Vec<LeftBehind>,
    /// The hash of the manifest.
    pub hash: String,
}

impl Outgoing {
    /// Writes the export; gives its length.
    pub(crate) fn write(&self, out: &mut (dyn Write + Send)) -> Result<u64, GitError> {
        let writing = GitError::writing("the export");
        let head = self.head.to_bytes();
        let length = head.len() as u64;
        let command = self
            .scratch
            .vault
            .git()
            .args(["-c", "pack.compression=-1", "-c", "core.compression=-1"])
            // All objects of the receiver's commits count, not only those at the same path.
            .args(["-c", "pack.useSparse=false"])
            .args(["pack-objects", "-q", "--revs", "--thin", "--stdout"])
            // What the vault has is stored, not compressed.
            .args(["--delta-base-offset", "--no-reuse-object"])
            .arg("--missing=allow-any")
            .stdin(without(&[&self.head.commit], &self.head.needed))
            .deadline(SLOW);
        let (copied, status) = command.streamed(|pack| {
            out.write_all(&head)?;
            let copied = std::io::copy(pack, out)?;
            out.flush()?;
            Ok::<u64, std::io::Error>(copied)
        })?;
        let copied = copied.map_err(writing)?;
        if !status.success() {
            return Err(GitError::Unexpected {
                call: "git pack-objects".to_owned(),
                answer: status.to_string(),
            });
        }
        Ok(length + copied)
    }
}

/// Gathers everything and says what stays behind; nothing of it is visible to others.
pub(crate) fn prepare_export(repo: &Repo, order: Order<'_>) -> Result<Outgoing, GitError> {
    let vault = Vault::find(repo)?;
    let _lock = vault.share()?;
    let scratch = Scratch::new(repo, "export-")?;
    let index = match order.checkout.index_path().exists() {
        true => Some(Index::read(repo, order.checkout)?),
        false => None,
    };
    let empty = Index::default();
    let found = gather(
        &vault,
        order.checkout,
        order.snapshot,
        index.as_ref().unwrap_or(&empty),
        order.with_ignored,
    )?;
    let mut left = found.left;
    let mut draft = Draft::new(&scratch.vault, &order, repo);
    draft.listing.index = match &index {
        None => None,
        Some(index) => Some(draft.staged(index, &order.snapshot.commit)?),
    };
    draft.work(found.items, index.as_ref().unwrap_or(&empty));
    draft.admin(order.checkout, &mut left)?;
    for part in &order.parts {
        let number = draft.import.blob(Content::Bytes(part.bytes.clone()));
        draft.slots.push(Slot::Part(part.name.clone(), number));
    }
    let listing = draft.write_content()?;
    let manifest = listing.to_bytes();
    let hash = hash_of(&manifest);
    let commit = draft.write_commit(&listing, manifest, &order.snapshot.extra)?;
    let needed = needed(&scratch.vault, &commit, &order.known)?;
    Ok(Outgoing {
        head: Head {
            format: repo.object_format().to_owned(),
            needed,
            commit,
        },
        scratch,
        left,
        hash,
    })
}

/// The commits at which the history that comes along begins: the receiver must have them.
fn needed(vault: &Vault, commit: &str, known: &Known) -> Result<Vec<String>, GitError> {
    let known: Vec<String> = match known {
        Known::Nothing => return Ok(Vec::new()),
        Known::Base { base } => vec![base.clone()],
        Known::Usual { base } => {
            let remotes = vault
                .repo()
                .git()
                .args(["for-each-ref", "--format=%(objectname)", "refs/remotes"])
                .text()?;
            let remotes = remotes.lines().map(str::to_owned);
            remotes.chain(base.clone()).collect()
        }
    };
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let listing = vault
        .git()
        .args(["rev-list", "--boundary", "--ignore-missing", "--stdin"])
        .stdin(without(&[commit], &known))
        .deadline(SLOW)
        .text()?;
    let boundary = listing.lines().filter_map(|line| line.strip_prefix('-'));
    Ok(boundary.map(str::to_owned).collect())
}
