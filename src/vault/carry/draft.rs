//! The manifest and the commit of an export, while they are put together.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::gather::{Bytes, Gathered, LeftBehind};
use super::listing::{Listed, Listing, StagedEntry, StagedTree, What};
use super::names::{is_admin, is_own_ref};
use super::order::Order;
use super::unchanged::{Unchanged, clean_block};
use crate::git::call::{SLOW, bytes_to_path, fields};
use crate::git::index::Index;
use crate::git::{Checkout, GitError, Repo};
use crate::vault::guard::admin_files;
use crate::vault::import::{Commit, Content, Edit, Import, Object};
use crate::vault::manifest::{Kind, raw_number, raw_path};
use crate::vault::objects::{Wanted, sizes};
use crate::vault::repository::Vault;

/// Parents of one commit.
const MOST_PARENTS: usize = 200;

/// A place of the manifest whose hash is known once the bytes are written.
pub(super) enum Slot {
    Work(Gathered, usize),
    Admin(Vec<u8>, usize),
    Part(String, usize),
    Clean(usize),
    Undo(usize),
}

pub(super) struct Draft<'a> {
    vault: &'a Vault,
    order: &'a Order<'a>,
    pub(super) import: Import,
    pub(super) listing: Listing,
    pub(super) slots: Vec<Slot>,
    /// Objects that exist and that the commit must reach.
    objects: Vec<String>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(vault: &'a Vault, order: &'a Order<'a>, repo: &Repo) -> Self {
        Self {
            vault,
            order,
            import: Import::new(&order.checkout.dir, order.at),
            listing: Listing {
                format: repo.object_format().to_owned(),
                head: order.snapshot.head.clone(),
                head_branch: order.snapshot.branch.clone(),
                ..Listing::default()
            },
            slots: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// The index, compared with the tree that the snapshot has of it.
    pub(super) fn staged(&mut self, index: &Index, snapshot: &str) -> Result<StagedTree, GitError> {
        let tree = self
            .vault
            .git()
            .args(["rev-parse", "--verify"])
            .arg(format!("{snapshot}^2^{{tree}}"))
            .text()?;
        let mut rest = tree_entries(self.vault, &tree)?;
        let mut more = Vec::new();
        for entry in &index.entries {
            let plain = entry.stage == 0
                && !entry.assume_unchanged
                && !entry.intent_to_add
                && !entry.skip_worktree;
            let same = rest
                .get(&entry.path)
                .is_some_and(|(mode, id)| *mode == entry.mode && *id == entry.id());
            if entry.stage == 0 {
                // What is listed replaces what the tree has.
                rest.remove(&entry.path);
            }
            if !(plain && same) {
                more.push(StagedEntry::of(entry));
            }
        }
        let wanted: Vec<Wanted> = more
            .iter()
            .filter(|entry| entry.mode != 0o160_000)
            .map(|entry| Wanted {
                id: entry.id.clone(),
                size: 0,
            })
            .collect();
        let there = sizes(self.vault, &wanted)?;
        self.objects.extend(
            wanted
                .into_iter()
                .zip(there)
                .filter(|(_, size)| size.is_some())
                .map(|(wanted, _)| wanted.id),
        );
        if !index.undo_extension.is_empty() {
            let number = self
                .import
                .blob(Content::Bytes(index.undo_extension.clone()));
            self.slots.push(Slot::Undo(number));
        }
        Ok(StagedTree {
            tree,
            more,
            not: rest.into_keys().collect(),
            undo: None,
        })
    }

    /// Files with the bytes that are staged go into the block, everything else is listed.
    pub(super) fn work(&mut self, items: Vec<Gathered>, index: &Index) {
        let linked: HashSet<Vec<u8>> = items
            .iter()
            .filter_map(|item| match &item.bytes {
                Bytes::SameAs(first) => Some(first.clone()),
                _ => None,
            })
            .collect();
        let mut block: Vec<Option<Unchanged>> = Vec::new();
        let mut places: HashMap<&[u8], (usize, String)> = HashMap::new();
        for entry in index.entries.iter().filter(|entry| entry.stage == 0) {
            if matches!(entry.mode, 0o100_644 | 0o100_755) {
                places.insert(&entry.path, (block.len(), entry.id()));
            }
            block.push(None);
        }
        for item in items {
            let place = places.get(item.path.as_slice());
            if let (Kind::Clean | Kind::File, Bytes::Object(id), Some((number, staged))) =
                (item.kind, &item.bytes, place)
                && id == staged
                && !linked.contains(&item.path)
            {
                block[*number] = Some(Unchanged {
                    mode: item.mode,
                    mtime: item.mtime,
                    known_to_git: item.kind == Kind::Clean,
                });
                continue;
            }
            match &item.bytes {
                Bytes::OnDisk(found) => {
                    let number = self.import.blob(Content::OnDisk(found.clone()));
                    self.slots.push(Slot::Work(item, number));
                }
                Bytes::Object(id) => {
                    self.objects.push(id.clone());
                    let id = Some(id.clone());
                    self.listing.work.push(listed(item, id));
                }
                Bytes::None | Bytes::SameAs(_) => self.listing.work.push(listed(item, None)),
            }
        }
        let number = self.import.blob(Content::Bytes(clean_block(&block)));
        self.slots.push(Slot::Clean(number));
    }

    /// Git's own files of the worktree, and its own refs.
    pub(super) fn admin(
        &mut self,
        checkout: &Checkout,
        left: &mut Vec<LeftBehind>,
    ) -> Result<(), GitError> {
        let reftable = checkout.git_dir.join("reftable").is_dir();
        for file in admin_files(checkout)? {
            if is_admin(&file.path) && !(reftable && file.path.starts_with(b"refs/")) {
                let number = self.import.blob(Content::Bytes(file.content));
                self.slots.push(Slot::Admin(file.path, number));
            } else if file.path == b"config.worktree" {
                left.push(LeftBehind {
                    path: bytes_to_path(&file.path),
                    why: "git's settings for this worktree alone stay".to_owned(),
                });
            }
        }
        if checkout.git_dir.join("modules").is_dir() {
            left.push(LeftBehind {
                path: "modules".into(),
                why: "the repositories of submodules stay".to_owned(),
            });
        }
        if reftable {
            self.refs_by_git(checkout)?;
            left.push(LeftBehind {
                path: "logs/HEAD".into(),
                why: "the log of HEAD stays: it is kept in a reftable".to_owned(),
            });
        }
        if let Some(name) = self.order.branch {
            let output = checkout
                .git()
                .args(["rev-parse", "--verify", "--quiet"])
                .arg(format!("refs/heads/{name}^{{commit}}"))
                .output()?;
            let commit = output.success().then(|| output.stdout_text());
            self.listing.branch = Some((name.to_owned(), commit));
        }
        Ok(())
    }

    /// Refs of the worktree in a format that only git reads; those with a name of their own become files.
    fn refs_by_git(&mut self, checkout: &Checkout) -> Result<(), GitError> {
        let listing = checkout
            .git()
            .args(["for-each-ref", "--format=%(objectname) %(refname)"])
            .args(["refs/bisect", "refs/worktree", "refs/rewritten"])
            .text()?;
        for line in listing.lines() {
            if let Some((id, name)) = line.split_once(' ').filter(|(_, name)| is_own_ref(name)) {
                self.listing.refs.push((name.to_owned(), id.to_owned()));
            }
        }
        for name in [
            "ORIG_HEAD",
            "CHERRY_PICK_HEAD",
            "REVERT_HEAD",
            "REBASE_HEAD",
            "AUTO_MERGE",
            "MERGE_AUTOSTASH",
            "BISECT_EXPECTED_REV",
        ] {
            let output = checkout
                .git()
                .args(["rev-parse", "--verify", "--quiet", name])
                .output()?;
            let taken = self
                .slots
                .iter()
                .any(|slot| matches!(slot, Slot::Admin(path, _) if path == name.as_bytes()));
            if output.success() && !taken {
                let line = format!("{}\n", output.stdout_text()).into_bytes();
                let number = self.import.blob(Content::Bytes(line));
                self.slots
                    .push(Slot::Admin(name.as_bytes().to_vec(), number));
            }
        }
        Ok(())
    }

    /// Writes all bytes; then every hash of the manifest is known.
    pub(super) fn write_content(&mut self) -> Result<Listing, GitError> {
        let edits = (0..self.import.blobs.len())
            .map(|number| Edit::Put {
                mode: 0o100_644,
                path: raw_path(number),
                object: Object::Blob(number),
            })
            .collect();
        self.import.commit(Commit {
            message: "bivouac: content of an export".to_owned(),
            from: None,
            parents: Vec::new(),
            edits,
        });
        let imported = self.import.run(self.vault, CONTENT)?;
        if !imported.unsettled.is_empty() {
            return Err(GitError::Unsettled {
                paths: imported.unsettled,
            });
        }
        let entries = tree_entries(self.vault, CONTENT)?;
        let ids: HashMap<usize, String> = entries
            .into_iter()
            .filter_map(|(path, (_, id))| Some((raw_number(&path)?, id)))
            .collect();
        let id = |number: usize| {
            ids.get(&number)
                .cloned()
                .ok_or_else(|| GitError::Unexpected {
                    call: "git fast-import".to_owned(),
                    answer: format!("blob {number} is missing"),
                })
        };
        let mut listing = std::mem::take(&mut self.listing);
        for slot in self.slots.drain(..) {
            match slot {
                Slot::Work(item, number) => listing.work.push(listed(item, Some(id(number)?))),
                Slot::Admin(path, number) => listing.admin.push((path, id(number)?)),
                Slot::Part(name, number) => listing.parts.push((name, id(number)?)),
                Slot::Clean(number) => listing.clean = Some(id(number)?),
                Slot::Undo(number) => {
                    if let Some(index) = &mut listing.index {
                        index.undo = Some(id(number)?);
                    }
                }
            }
        }
        // The worktree's own directory first, each directory before what is in it.
        listing.work.sort_by(|one, other| {
            let key = |path: &[u8]| (path != b".", path.to_vec());
            key(&one.path).cmp(&key(&other.path))
        });
        Ok(listing)
    }

    /// The commit that reaches everything that the manifest names.
    pub(super) fn write_commit(
        &mut self,
        listing: &Listing,
        manifest: Vec<u8>,
        extra: &str,
    ) -> Result<String, GitError> {
        let mut import = Import::new(&self.order.checkout.dir, self.order.at);
        let number = import.blob(Content::Bytes(manifest));
        let put = |mode: u32, path: &str, object: Object| Edit::Put {
            mode,
            path: path.as_bytes().to_vec(),
            object,
        };
        let mut edits = vec![put(0o100_644, "manifest", Object::Blob(number))];
        let mut trees = vec![("raw", self.tree(&format!("{CONTENT}:raw"))?)];
        trees.push(("keep", self.tree(&format!("{extra}:keep"))?));
        trees.push((
            "index",
            listing.index.as_ref().map(|index| index.tree.clone()),
        ));
        for (name, tree) in trees {
            if let Some(tree) = tree {
                edits.push(put(0o040_000, name, Object::Id(tree)));
            }
        }
        self.objects.sort_unstable();
        self.objects.dedup();
        for (number, id) in self.objects.iter().enumerate() {
            let path = format!("more/{:x}/{:02x}", number >> 8, number & 255);
            edits.push(put(0o100_644, &path, Object::Id(id.clone())));
        }
        let parents = self.parents(listing, extra, &mut import)?;
        import.commit(Commit {
            message: "bivouac: an export".to_owned(),
            from: None,
            parents,
            edits,
        });
        let imported = import.run(self.vault, EXPORT)?;
        imported
            .commits
            .into_iter()
            .next_back()
            .ok_or_else(|| GitError::SnapshotMissing {
                reference: EXPORT.to_owned(),
            })
    }

    /// HEAD, the branch, and what the snapshot guards, in a chain where they are many.
    fn parents(
        &self,
        listing: &Listing,
        extra: &str,
        import: &mut Import,
    ) -> Result<Vec<Object>, GitError> {
        let guarded = self
            .vault
            .git()
            .args(["rev-list", "--parents", "-n", "1", extra])
            .text()?;
        let branch = listing
            .branch
            .as_ref()
            .and_then(|(_, commit)| commit.clone());
        let mut seen = HashSet::new();
        let all: Vec<Object> = listing
            .head
            .iter()
            .cloned()
            .chain(branch)
            .chain(guarded.split(' ').skip(1).map(str::to_owned))
            .filter(|id| seen.insert(id.clone()))
            .map(Object::Id)
            .collect();
        let mut parents: Vec<Object> = Vec::new();
        for chunk in all.chunks(MOST_PARENTS) {
            if !parents.is_empty() {
                let link = import.commit(Commit {
                    message: "bivouac: commits of an export".to_owned(),
                    from: None,
                    parents: std::mem::take(&mut parents),
                    edits: Vec::new(),
                });
                parents.push(Object::Commit(link));
            }
            parents.extend_from_slice(chunk);
        }
        Ok(parents)
    }

    fn tree(&self, name: &str) -> Result<Option<String>, GitError> {
        let output = self
            .vault
            .git()
            .args(["rev-parse", "--verify", "--quiet", name])
            .output()?;
        Ok(output.success().then(|| output.stdout_text()))
    }
}

/// Refs of the repository that goes away.
const CONTENT: &str = "refs/bivouac/content";
const EXPORT: &str = "refs/bivouac/export";

fn listed(item: Gathered, id: Option<String>) -> Listed {
    let what = match (item.kind, &item.bytes) {
        (_, Bytes::SameAs(first)) => What::SameAs(first.clone()),
        (Kind::Directory, _) => What::Directory,
        (Kind::Symlink, _) => What::Symlink,
        (Kind::Clean, _) => What::Clean,
        _ => What::File,
    };
    // The permissions of a symlink are the system's.
    let mode = if what == What::Symlink {
        0o777
    } else {
        item.mode
    };
    Listed {
        what,
        mode,
        size: item.size,
        mtime: item.mtime,
        id,
        path: item.path,
    }
}

/// Every file of a tree: its mode and its id.
pub(super) fn tree_entries(
    vault: &Vault,
    tree: &str,
) -> Result<BTreeMap<Vec<u8>, (u32, String)>, GitError> {
    let listing = vault
        .git()
        .args(["ls-tree", "-r", "-z", "--full-tree", tree])
        .deadline(SLOW)
        .run()?;
    let mut entries = BTreeMap::new();
    for line in fields(&listing) {
        // `100644 blob <id>\t<path>`
        let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
            continue;
        };
        let words = String::from_utf8_lossy(&line[..tab]).into_owned();
        let mut words = words.split(' ');
        if let (Some(mode), Some(_), Some(id)) = (words.next(), words.next(), words.next())
            && let Ok(mode) = u32::from_str_radix(mode, 8)
        {
            entries.insert(line[tab + 1..].to_vec(), (mode, id.to_owned()));
        }
    }
    Ok(entries)
}
