//! What goes into a snapshot: read from the disk and asked of git, then put in the order in which git
//! takes it.

use std::collections::{BTreeMap, HashMap};

use super::cleaned::cleaned;
use super::closure::complete;
use super::fact::Label;
use super::guard::{AdminFile, Named, admin_files, named};
use super::import::{Commit, Content, Edit, Import, Imported, Object, fits_in_tree};
use super::keep::{BaseCommits, base_commits};
use super::manifest::{Item, Kind, Manifest, Source, raw_path};
use super::pack::{Pack, pack_files};
use super::refs::{keep_of, reference};
use super::repository::Vault;
use super::survey::{Found, Staged, Survey};
use crate::git::{Checkout, GitError, Repo};

/// Parents of one commit.
const MOST_PARENTS: usize = 200;

/// What is in a snapshot, read and not yet written.
#[derive(Debug)]
pub(super) struct Draft {
    pub survey: Survey,
    pub admin: Vec<AdminFile>,
    named: Named,
    pub base_commits: BaseCommits,
    /// The id of a changed file after the clean filters, if any apply to it.
    cleaned: HashMap<Vec<u8>, String>,
    pack: Pack,
}

/// What is asked of git while the files are read.
type Answers = (Vec<AdminFile>, Named, BaseCommits, HashMap<Vec<u8>, String>);

impl Draft {
    pub(super) fn of(repo: &Repo, checkout: &Checkout, survey: Survey) -> Result<Self, GitError> {
        // Numbered as `import` numbers them.
        let files: Vec<(usize, &Found)> = survey
            .changed
            .iter()
            .chain(&survey.untracked)
            .enumerate()
            .collect();
        let vault = Vault::open(repo)?;
        let ((admin, named, base_commits, cleaned), pack) = std::thread::scope(|scope| {
            let pack = scope.spawn(|| pack_files(repo, &checkout.dir, &files));
            let answers = ask(&vault, checkout, &survey)?;
            let pack = pack.join().map_err(|_| GitError::Unexpected {
                call: "packing".to_owned(),
                answer: "a thread ended early".to_owned(),
            })?;
            Ok::<_, GitError>((answers, pack?))
        })?;
        Ok(Self {
            survey,
            admin,
            named,
            base_commits,
            cleaned,
            pack,
        })
    }

    /// Writes everything into the vault, under the refs that the label says.
    pub(super) fn write(
        &mut self,
        vault: &Vault,
        checkout: &Checkout,
        label: Label<'_>,
    ) -> Result<Imported, GitError> {
        let import = self.import(checkout, label);
        let reference = reference(label.instance, label.number);
        let imported = import.run_with(vault, &reference, std::mem::take(&mut self.pack))?;
        if let (Some(commit), true) = (imported.commits.last(), imported.unsettled.is_empty()) {
            let keep = keep_of(label.instance, label.number);
            complete(vault, &[commit, &keep], &self.base_commits.public)?;
        }
        Ok(imported)
    }

    /// How many objects are named that the user's repository may drop.
    pub(super) fn guarded(&self) -> u64 {
        (self.named.blobs.len() + self.named.trees.len() + self.base_commits.private) as u64
    }

    fn import(&self, checkout: &Checkout, label: Label<'_>) -> Import {
        let message = &format!("bivouac: {} #{}", label.instance, label.number);
        let mut import = Import::new(&checkout.dir, label.at);
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
        let keep = import.commit(Commit {
            message: super::keep::message(label.instance),
            from: None,
            parents: self
                .base_commits
                .public
                .iter()
                .cloned()
                .map(Object::Id)
                .collect(),
            edits: Vec::new(),
        });
        import
            .also
            .push((keep_of(label.instance, label.number), keep));
        let guards = self.guards(&mut import, message);
        let extra = import.commit(Commit {
            message: format!("{message}: exact bytes and state"),
            from: None,
            parents: guards,
            edits: extra,
        });
        import.commit(Commit {
            message: message.clone(),
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

fn ask(vault: &Vault, checkout: &Checkout, survey: &Survey) -> Result<Answers, GitError> {
    let admin = admin_files(checkout)?;
    let staged = survey
        .staged
        .iter()
        .filter_map(|staged| staged.content.as_ref().map(|(_, id)| id.clone()));
    let repo = vault.repo();
    let named = named(repo, checkout, &admin, &survey.index, staged)?;
    let base_commits = base_commits(repo, survey.head.as_ref(), &admin, &named)?;
    let cleaned = cleaned(vault, checkout, &survey.changed)?;
    Ok((admin, named, base_commits, cleaned))
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
