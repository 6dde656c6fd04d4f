//! Every path of a worktree that travels, and what stays behind.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use serde::Serialize;

use crate::git::call::bytes_to_path;
use crate::git::index::{GITLINK, Index};
use crate::git::{Checkout, GitError, untracked};
use crate::vault::fact::SnapshotFact;
use crate::vault::inventory::{ThinPolicy, forget_differing, inventory};
use crate::vault::manifest::{Item, Kind, Manifest, Source};
use crate::vault::repository::Vault;
use crate::vault::stamp::Stamp;
use crate::vault::survey::Found;
use crate::vault::thin::is_under_way;
use crate::vault::thinned::Marker;
use crate::vault::walk::{Descend, is_open, walk};

/// Something that does not come along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LeftBehind {
    pub path: PathBuf,
    pub why: String,
}

/// Where the bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bytes {
    None,
    /// In a file below the worktree, which may have another name.
    OnDisk(Found),
    /// An object of the user's repository or of the vault.
    Object(String),
    SameAs(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gathered {
    pub kind: Kind,
    /// Permissions only.
    pub mode: u32,
    pub size: u64,
    pub mtime: (i64, u32),
    pub bytes: Bytes,
    pub path: Vec<u8>,
}

pub(super) struct Worktree {
    pub items: Vec<Gathered>,
    pub left: Vec<LeftBehind>,
}

/// Nothing is let go because of its size.
const EVERYTHING: ThinPolicy = ThinPolicy {
    ignored_limit_bytes: u64::MAX,
    nested_limit_bytes: u64::MAX,
};

pub(super) fn gather(
    vault: &Vault,
    checkout: &Checkout,
    fact: &SnapshotFact,
    index: &Index,
    with_ignored: bool,
) -> Result<Worktree, GitError> {
    let marker = Marker::read(checkout)?.filter(|marker| is_under_way(marker, fact));
    let (items, files, nested) = match &marker {
        Some(marker) => {
            let stored = Manifest::load(vault, &fact.extra)?;
            (
                from_vault(vault, marker)?,
                stored.paths(Kind::Untracked),
                stored.paths(Kind::Nested),
            )
        }
        None => {
            let (files, nested) = untracked(checkout)?;
            (from_disk(vault, checkout)?, files, nested)
        }
    };
    let mut found = Worktree {
        items: Vec::new(),
        left: Vec::new(),
    };
    for item in items {
        found.take(checkout, item)?;
    }
    found.leave_foreign_repositories();
    let before = found.items.clone();
    if !with_ignored {
        let tracked = index.entries.iter().map(|entry| entry.path.clone());
        let gitlinks = index.entries.iter().filter(|entry| entry.mode == GITLINK);
        let nested = nested
            .into_iter()
            .chain(gitlinks.map(|entry| entry.path.clone()));
        found.leave_ignored(&tracked.chain(files).collect(), &nested.collect());
    }
    found.rename_first_names(&before);
    Ok(found)
}

/// A worktree whose files are on the disk.
fn from_disk(vault: &Vault, checkout: &Checkout) -> Result<Vec<Gathered>, GitError> {
    let mut all = inventory(vault.repo(), checkout, &EVERYTHING)?;
    forget_differing(vault, &checkout.dir, &mut all)?;
    let paths: Vec<Vec<u8>> = all.iter().map(|(item, _)| item.path.clone()).collect();
    Ok(all
        .into_iter()
        .map(|(item, stamp)| {
            let bytes = match &item.source {
                Source::Object(id) => Bytes::Object(id.clone()),
                Source::SameAs(first) => {
                    Bytes::SameAs(paths.get(*first).cloned().unwrap_or_default())
                }
                Source::Nowhere | Source::Raw(_) if has_bytes(item.kind) => Bytes::OnDisk(Found {
                    path: item.path.clone(),
                    stamp,
                }),
                Source::Nowhere | Source::Raw(_) => Bytes::None,
            };
            gathered(item, bytes)
        })
        .collect())
}

/// A worktree whose files are in the vault.
fn from_vault(vault: &Vault, marker: &Marker) -> Result<Vec<Gathered>, GitError> {
    let manifest = Manifest::load(vault, &marker.commit)?;
    let sources = manifest.sources(vault, &marker.commit)?;
    let paths: Vec<Vec<u8>> = manifest
        .items
        .iter()
        .map(|item| item.path.clone())
        .collect();
    Ok(manifest
        .items
        .into_iter()
        .zip(sources)
        .map(|(item, source)| {
            let bytes = match (&item.source, source) {
                (Source::SameAs(first), _) => {
                    Bytes::SameAs(paths.get(*first).cloned().unwrap_or_default())
                }
                (_, Some(wanted)) => Bytes::Object(wanted.id),
                (_, None) => Bytes::None,
            };
            gathered(item, bytes)
        })
        .collect())
}

fn has_bytes(kind: Kind) -> bool {
    matches!(kind, Kind::File | Kind::Clean | Kind::Symlink)
}

fn gathered(item: Item, bytes: Bytes) -> Gathered {
    Gathered {
        kind: item.kind,
        mode: item.mode & 0o7777,
        size: item.size,
        mtime: item.mtime,
        bytes,
        path: item.path,
    }
}

fn of_stamp(path: Vec<u8>, stamp: Stamp) -> Gathered {
    let kind = if stamp.is_dir() {
        Kind::Directory
    } else if stamp.is_symlink() {
        Kind::Symlink
    } else {
        Kind::File
    };
    Gathered {
        kind,
        mode: stamp.mode & 0o7777,
        size: stamp.size,
        mtime: stamp.mtime,
        bytes: if kind == Kind::Directory {
            Bytes::None
        } else {
            Bytes::OnDisk(Found {
                path: path.clone(),
                stamp,
            })
        },
        path,
    }
}

impl Worktree {
    fn leave(&mut self, path: &[u8], why: &str) {
        self.left.push(LeftBehind {
            path: bytes_to_path(path),
            why: why.to_owned(),
        });
    }

    fn take(&mut self, checkout: &Checkout, mut item: Gathered) -> Result<(), GitError> {
        match item.kind {
            Kind::Kept if item.path == b".git" => return Ok(()),
            Kind::Kept => return self.take_kept(checkout, &item),
            Kind::Dropped => {
                self.leave(&item.path, "was let go when the disk was freed");
                return Ok(());
            }
            Kind::Directory => item.size = 0,
            _ => {
                if item.mode & 0o6000 != 0 {
                    item.mode &= 0o1777;
                    self.leave(
                        &item.path,
                        "comes without its set-user-id and set-group-id bits",
                    );
                }
            }
        }
        // After one that cannot be stored as it is the same directory may come again.
        if self.items.last().is_none_or(|last| last.path != item.path) {
            self.items.push(item);
        }
        Ok(())
    }

    /// What thinning leaves on the disk because no object can hold all of it: the bytes still travel.
    fn take_kept(&mut self, checkout: &Checkout, item: &Gathered) -> Result<(), GitError> {
        let path = checkout.dir.join(bytes_to_path(&item.path));
        let Ok(stat) = rustix::fs::lstat(&path) else {
            self.leave(&item.path, "is not there any more");
            return Ok(());
        };
        let stamp = Stamp::of(&stat);
        if !is_open(&path, &stamp) {
            self.leave(&item.path, "cannot be read");
        } else if stamp.is_dir() {
            self.leave(&item.path, "comes without its owner, access list or mount");
            self.items.push(of_stamp(item.path.clone(), stamp));
            self.take_below(checkout, &item.path)?;
        } else if stamp.is_file() || stamp.is_symlink() {
            self.leave(
                &item.path,
                "comes without its owner, access list or names outside of the worktree",
            );
            let mut copy = of_stamp(item.path.clone(), stamp);
            copy.mode &= 0o1777;
            self.items.push(copy);
        } else {
            let kind = std::fs::symlink_metadata(&path).map(|found| found.file_type());
            let why = match kind {
                Ok(kind) if kind.is_socket() => "is a socket",
                Ok(kind) if kind.is_fifo() => "is a pipe",
                _ => "is a device",
            };
            self.leave(&item.path, why);
        }
        Ok(())
    }

    /// A directory that stayed on the disk as a whole. Where the list goes on below it, that is the same.
    fn take_below(&mut self, checkout: &Checkout, dir: &[u8]) -> Result<(), GitError> {
        let mut found = Vec::new();
        walk(&checkout.dir.join(bytes_to_path(dir)), &mut |below| {
            found.push((below.path, below.stamp));
            Ok(Descend::Into)
        })?;
        for (below, stamp) in found {
            let path = [dir, b"/", &below].concat();
            if stamp.is_dir() || stamp.is_file() || stamp.is_symlink() {
                self.items.push(of_stamp(path, stamp));
            }
        }
        Ok(())
    }

    /// A checkout inside of this one whose repository lies elsewhere: a submodule, another worktree.
    fn leave_foreign_repositories(&mut self) {
        // A directory that was walked twice is listed twice.
        let mut seen = HashSet::new();
        self.items.retain(|item| seen.insert(item.path.clone()));
        let roots: Vec<Vec<u8>> = self
            .items
            .iter()
            .filter(|item| item.kind != Kind::Directory)
            .filter_map(|item| Some(item.path.strip_suffix(b"/.git")?.to_vec()))
            .collect();
        for root in roots {
            self.items.retain(|item| !is_below(&item.path, &root));
            self.leave(&root, "is a checkout whose repository lies elsewhere");
        }
    }

    fn leave_ignored(&mut self, wanted: &HashSet<Vec<u8>>, nested: &BTreeSet<Vec<u8>>) {
        let stays =
            |path: &[u8]| wanted.contains(path) || nested.iter().any(|root| is_below(path, root));
        let (mut count, mut bytes) = (0_u64, 0_u64);
        // Directories with something that travels, and directories with anything at all.
        let (mut needed, mut filled) = (HashSet::new(), HashSet::new());
        for item in self
            .items
            .iter()
            .filter(|item| item.kind != Kind::Directory)
        {
            let travels = stays(&item.path);
            if !travels {
                count += 1;
                bytes += item.size;
            }
            for above in ancestors(&item.path) {
                filled.insert(above.to_vec());
                if travels {
                    needed.insert(above.to_vec());
                }
            }
        }
        self.items.retain(|item| match item.kind {
            Kind::Directory => {
                item.path == b"."
                    || needed.contains(&item.path)
                    || !filled.contains(&item.path)
                    || nested.iter().any(|root| is_below(&item.path, root))
            }
            _ => stays(&item.path),
        });
        if count > 0 {
            self.leave(
                b".",
                &format!("{count} ignored files ({bytes} bytes) were not asked for"),
            );
        }
    }

    /// The first of several names of a file may stay behind: then the next one brings the bytes.
    fn rename_first_names(&mut self, before: &[Gathered]) {
        let there: HashSet<Vec<u8>> = self.items.iter().map(|item| item.path.clone()).collect();
        let mut heirs: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        for item in &mut self.items {
            let Bytes::SameAs(first) = item.bytes.clone() else {
                continue;
            };
            if there.contains(&first) {
                continue;
            }
            if let Some(heir) = heirs.get(&first) {
                item.bytes = Bytes::SameAs(heir.clone());
            } else if let Some(original) = before.iter().find(|item| item.path == first) {
                item.bytes = original.bytes.clone();
                heirs.insert(first, item.path.clone());
            }
        }
    }
}

fn is_below(path: &[u8], root: &[u8]) -> bool {
    path.strip_prefix(root)
        .is_some_and(|rest| rest.starts_with(b"/"))
}

fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'/')
        .map(|(at, _)| &path[..at])
}
