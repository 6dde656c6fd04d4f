//! The safety snapshot: what git cannot reproduce of a checkout, as objects under one ref.
//!
//! ```text
//! refs/bivouac/<id>/<n> ── W   tree: tracked files as they are on disk
//!                          ├─ HEAD          (an empty commit where HEAD is unborn)
//!                          ├─ I   tree: the index
//!                          ├─ U   tree: untracked files
//!                          └─ X   tree: manifest, raw bytes, admin files, guarded objects
//!                                 parents: commits that only the admin directory names
//! ```
//! W, I and U are what `git stash` makes, so `git stash apply <commit>` works without us. X has the
//! exact bytes (W holds them as the clean filters make them), the index file, and keeps alive what
//! an operation in progress still needs. It is written through one stream and no private checkout:
//! a held `index.lock`, `skip-worktree` or `intent-to-add` cannot blind it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::call::fields;
use super::disk::sync_filesystems;
use super::guard::{AdminFile, Named, admin_files, named};
use super::import::{Commit, Content, Edit, Import, Object, fits_in_tree, quoted};
use super::manifest::{Item, Kind, Manifest, Source, raw_path};
use super::pack::{Pack, pack_files};
use super::survey::{Depth, Found, Staged, Survey, survey};
use super::{Checkout, GitError, Repo};
use crate::model::{InstanceId, Timestamp};

/// How often files that change under our eyes are read again.
const ATTEMPTS: usize = 8;

/// After so many attempts files that still change are left out.
const PATIENCE: usize = 2;

/// A user's filter that takes longer is left out; the raw bytes are stored in any case.
const FILTER_DEADLINE: Duration = Duration::from_secs(20);

/// Parents of one commit.
const MOST_PARENTS: usize = 200;

/// A snapshot that exists, as the journal and the pause record keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SnapshotFact {
    pub reference: String,
    pub commit: String,
    /// What HEAD was; None before the first commit.
    pub head: Option<String>,
    /// The branch that HEAD named; None when detached.
    pub branch: Option<String>,
    /// The commit that holds manifest and raw bytes.
    pub extra: String,
    /// A digest of every stamp, to know the same worktree again without reading it.
    pub evidence: String,
    /// An operation that stood open.
    pub operation: Option<String>,
    pub changed: u64,
    pub untracked: u64,
}

impl SnapshotFact {
    /// Which of its instance's snapshots it is.
    pub(crate) fn number(&self) -> Option<u64> {
        self.reference.rsplit('/').next()?.parse().ok()
    }
}

pub(super) fn reference(id: &InstanceId, n: u64) -> String {
    format!("refs/bivouac/{id}/{n}")
}

/// Takes the snapshot and makes it durable. Running it again for the same number replaces the ref.
pub(crate) fn take_snapshot(
    repo: &Repo,
    checkout: &Checkout,
    id: &InstanceId,
    n: u64,
    at: Timestamp,
) -> Result<SnapshotFact, GitError> {
    let reference = reference(id, n);
    let mut unsettled: Vec<PathBuf> = Vec::new();
    for attempt in 0..ATTEMPTS {
        let mut found = survey(repo, checkout, Depth::All)?;
        if attempt >= PATIENCE {
            // Somebody writes to them without pause (a log). They are left to the parking place, and
            // verification will say that this snapshot lacks them.
            found.leave_out(&unsettled);
        }
        let (draft, pack) = prepare(repo, checkout, &found)?;
        let import = draft.import(checkout, at, &format!("bivouac: {id} #{n}"));
        let imported = import.run_with(repo, &reference, pack)?;
        if imported.unsettled.is_empty() {
            let [.., extra, commit] = &imported.commits[..] else {
                return Err(GitError::SnapshotMissing { reference });
            };
            sync_filesystems(&[repo.common_dir(), &checkout.dir, &checkout.git_dir])?;
            return Ok(SnapshotFact {
                reference,
                commit: commit.clone(),
                head: found.head.clone(),
                branch: found.branch.clone(),
                extra: extra.clone(),
                evidence: found.evidence.clone(),
                operation: checkout.operation_in_progress().map(str::to_owned),
                changed: (found.changed.len() + found.gone.len()) as u64,
                untracked: found.untracked.len() as u64,
            });
        }
        unsettled.extend(imported.unsettled);
    }
    Err(GitError::Unsettled { paths: unsettled })
}

/// Reads the files while git is asked about the rest.
fn prepare<'a>(
    repo: &Repo,
    checkout: &Checkout,
    found: &'a Survey,
) -> Result<(Draft<'a>, Pack), GitError> {
    // Numbered as `Draft::import` numbers them.
    let files: Vec<(usize, &Found)> = found
        .changed
        .iter()
        .chain(&found.untracked)
        .enumerate()
        .collect();
    std::thread::scope(|scope| {
        let pack = scope.spawn(|| pack_files(repo, &checkout.dir, &files));
        let draft = Draft::new(repo, checkout, found)?;
        let pack = pack.join().map_err(|_| GitError::Unexpected {
            call: "packing".to_owned(),
            answer: "a thread ended early".to_owned(),
        })?;
        Ok((draft, pack?))
    })
}

/// Everything that goes into a snapshot, before it is written.
struct Draft<'a> {
    survey: &'a Survey,
    admin: Vec<AdminFile>,
    named: Named,
    /// What the clean filters make of a changed file, where they make anything of it.
    cleaned: HashMap<Vec<u8>, String>,
}

impl<'a> Draft<'a> {
    fn new(repo: &Repo, checkout: &Checkout, survey: &'a Survey) -> Result<Self, GitError> {
        let admin = admin_files(checkout)?;
        let staged = survey
            .staged
            .iter()
            .filter_map(|staged| staged.content.as_ref().map(|(_, id)| id.clone()));
        let named = named(repo, checkout, &admin, &survey.index, staged)?;
        Ok(Self {
            survey,
            admin,
            named,
            cleaned: cleaned(checkout, &survey.changed)?,
        })
    }

    fn import(&self, checkout: &Checkout, at: Timestamp, message: &str) -> Import {
        let mut import = Import::new(&checkout.dir, at);
        let mut manifest = Manifest::default();
        let mut extra = Vec::new();
        let changed = store(
            &self.survey.changed,
            Kind::Tracked,
            &mut import,
            &mut manifest,
        );
        let untracked = store(
            &self.survey.untracked,
            Kind::Untracked,
            &mut import,
            &mut manifest,
        );
        self.list_the_rest(&mut import, &mut manifest);
        for item in &manifest.items {
            if let Source::Raw(number) = item.source {
                extra.push(put(0o100_644, raw_path(number), Object::Blob(number)));
            }
        }
        for (number, id) in self.named.blobs.iter().enumerate() {
            extra.push(put(
                0o100_644,
                keep_path("blob", number),
                Object::Id(id.clone()),
            ));
        }
        for (number, id) in self.named.trees.iter().enumerate() {
            extra.push(put(
                0o040_000,
                keep_path("tree", number),
                Object::Id(id.clone()),
            ));
        }
        let number = import.blob(Content::Bytes(manifest.to_bytes()));
        extra.push(put(0o100_644, b"manifest".to_vec(), Object::Blob(number)));

        let head = match &self.survey.head {
            Some(head) => Object::Id(head.clone()),
            None => Object::Commit(import.commit(Commit {
                message: format!("{message}: before the first commit"),
                from: None,
                parents: Vec::new(),
                edits: Vec::new(),
            })),
        };
        let index = import.commit(Commit {
            message: format!("{message}: index"),
            from: Some(head.clone()),
            parents: Vec::new(),
            edits: self.index_edits().into_values().collect(),
        });
        let others = import.commit(Commit {
            message: format!("{message}: untracked files"),
            from: None,
            parents: Vec::new(),
            edits: fitting(&self.survey.untracked, &untracked),
        });
        let guards = self.guards(&mut import, message);
        let extra = import.commit(Commit {
            message: format!("{message}: exact bytes and state"),
            from: None,
            parents: guards,
            edits: extra,
        });
        import.commit(Commit {
            message: message.to_owned(),
            from: Some(head),
            parents: vec![
                Object::Commit(index),
                Object::Commit(others),
                Object::Commit(extra),
            ],
            edits: self.worktree_edits(&changed),
        });
        import
    }

    fn list_the_rest(&self, import: &mut Import, manifest: &mut Manifest) {
        let bare = |kind, path: &[u8], source| Item {
            kind,
            mode: 0,
            size: 0,
            mtime: (0, 0),
            inode: 0,
            source,
            path: path.to_vec(),
        };
        for path in &self.survey.gone {
            manifest.items.push(bare(Kind::Gone, path, Source::Nowhere));
        }
        for path in &self.survey.nested {
            manifest
                .items
                .push(bare(Kind::Nested, path, Source::Nowhere));
        }
        for file in &self.admin {
            let number = import.blob(Content::Bytes(file.content.clone()));
            manifest
                .items
                .push(bare(Kind::Admin, &file.path, Source::Raw(number)));
        }
    }

    /// Commits that nothing else may name, as parents; in a chain where they are many.
    fn guards(&self, import: &mut Import, message: &str) -> Vec<Object> {
        let all: Vec<Object> = self
            .named
            .commits
            .iter()
            .filter(|id| Some(*id) != self.survey.head.as_ref())
            .map(|id| Object::Id(id.clone()))
            .collect();
        let mut parents: Vec<Object> = Vec::new();
        for chunk in all.chunks(MOST_PARENTS) {
            if parents.len() + chunk.len() > MOST_PARENTS {
                let link = import.commit(Commit {
                    message: format!("{message}: guarded commits"),
                    from: None,
                    parents: std::mem::take(&mut parents),
                    edits: Vec::new(),
                });
                parents.push(Object::Commit(link));
            }
            parents.extend_from_slice(chunk);
        }
        parents
    }

    fn index_edits(&self) -> BTreeMap<Vec<u8>, Edit> {
        let mut edits = BTreeMap::new();
        for Staged { path, content } in &self.survey.staged {
            let edit = match content {
                None => Edit::Delete(path.clone()),
                // An index may name what does not exist; a tree may not.
                Some((mode, id)) if *mode == 0o160_000 || self.named.blobs.contains(id) => {
                    put(*mode, path.clone(), Object::Id(id.clone()))
                }
                Some(_) => continue,
            };
            if fits_in_tree(path) {
                edits.insert(path.clone(), edit);
            }
        }
        edits
    }

    fn worktree_edits(&self, blobs: &[usize]) -> Vec<Edit> {
        let mut edits = self.index_edits();
        for path in &self.survey.gone {
            edits.insert(path.clone(), Edit::Delete(path.clone()));
        }
        for (found, blob) in self.survey.changed.iter().zip(blobs) {
            if fits_in_tree(&found.path) {
                let object = match self.cleaned.get(&found.path) {
                    Some(id) => Object::Id(id.clone()),
                    None => Object::Blob(*blob),
                };
                edits.insert(
                    found.path.clone(),
                    put(found.tree_mode(), found.path.clone(), object),
                );
            }
        }
        edits.into_values().collect()
    }
}

/// Adds files to the import and the manifest; gives the number of each blob.
fn store(files: &[Found], kind: Kind, import: &mut Import, manifest: &mut Manifest) -> Vec<usize> {
    files
        .iter()
        .map(|found| {
            let number = import.blob(Content::OnDisk(found.clone()));
            manifest.items.push(Item {
                kind,
                mode: found.stamp.mode,
                size: found.stamp.size,
                mtime: found.stamp.mtime,
                inode: found.stamp.inode,
                source: if by_name(kind, found) {
                    Source::Nowhere
                } else {
                    Source::Raw(number)
                },
                path: found.path.clone(),
            });
            number
        })
        .collect()
}

/// Whether the tree of untracked files has the raw bytes under their own name.
fn by_name(kind: Kind, found: &Found) -> bool {
    kind == Kind::Untracked && fits_in_tree(&found.path)
}

fn fitting(files: &[Found], blobs: &[usize]) -> Vec<Edit> {
    files
        .iter()
        .zip(blobs)
        .filter(|(found, _)| fits_in_tree(&found.path))
        .map(|(found, blob)| put(found.tree_mode(), found.path.clone(), Object::Blob(*blob)))
        .collect()
}

fn put(mode: u32, path: Vec<u8>, object: Object) -> Edit {
    Edit::Put { mode, path, object }
}

fn keep_path(kind: &str, number: usize) -> Vec<u8> {
    format!("keep/{kind}/{:x}/{:02x}", number >> 8, number & 255).into_bytes()
}

/// The ids of changed files as git would store them, for those that a filter or a line-ending rule
/// applies to; written, so that a tree may name them. A filter that fails or hangs leaves them out.
fn cleaned(checkout: &Checkout, changed: &[Found]) -> Result<HashMap<Vec<u8>, String>, GitError> {
    let files: Vec<&Found> = changed
        .iter()
        .filter(|found| found.stamp.is_file())
        .collect();
    if files.is_empty() {
        return Ok(HashMap::new());
    }
    let converted = converted(checkout, &files)?;
    if converted.is_empty() {
        return Ok(HashMap::new());
    }
    let paths: String = converted.iter().map(|path| quoted(path) + "\n").collect();
    let answer = checkout
        .git()
        .args(["hash-object", "-w", "--stdin-paths"])
        .stdin(paths)
        .deadline(FILTER_DEADLINE)
        .text();
    let Ok(answer) = answer else {
        return Ok(HashMap::new());
    };
    Ok(converted
        .into_iter()
        .zip(answer.lines().map(str::to_owned))
        .collect())
}

/// The paths whose bytes on disk git converts before it stores them.
fn converted(checkout: &Checkout, files: &[&Found]) -> Result<Vec<Vec<u8>>, GitError> {
    let settings = checkout
        .git()
        .args(["config", "--get-regexp", r"^core\.(autocrlf|eol)$"])
        .output()?
        .stdout_text()
        .to_ascii_lowercase();
    let everywhere = settings
        .lines()
        .filter_map(|line| line.strip_prefix("core.autocrlf"))
        .next_back()
        .is_some_and(|value| !matches!(value.trim(), "false" | "0" | "no" | "off"));
    let mut paths: Vec<u8> = Vec::new();
    for found in files {
        paths.extend_from_slice(&found.path);
        paths.push(0);
    }
    let answer = checkout
        .git()
        .args(["check-attr", "-z", "--stdin"])
        .args([
            "text",
            "eol",
            "crlf",
            "filter",
            "ident",
            "working-tree-encoding",
        ])
        .stdin(paths)
        .run()?;
    let parts: Vec<&[u8]> = fields(&answer).collect();
    let mut ruled: HashSet<&[u8]> = HashSet::new();
    for part in parts.chunks_exact(3) {
        let unset = matches!(part[2], b"unspecified" | b"unset");
        if !unset {
            ruled.insert(part[0]);
        }
    }
    Ok(files
        .iter()
        .filter(|found| everywhere || ruled.contains(found.path.as_slice()))
        .map(|found| found.path.clone())
        .collect())
}
