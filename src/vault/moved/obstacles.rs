//! Finds what is where a merge wants to write. Each path is proved absent, equal to what is to be
//! there, or equal to what the snapshot holds; everything else is in the way, and so is a link or a
//! file in place of a directory above it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::content::{Contents, Equal, is_reproducible};
use super::plan::{Aside, MergeFact, Side, Step, steps};
use crate::git::call::bytes_to_path;
use crate::git::index::{GITLINK, Index, SYMLINK};
use crate::git::{Checkout, GitError, Repo};
use crate::vault::fact::SnapshotFact;
use crate::vault::manifest::{Kind, Manifest, Source};
use crate::vault::repository::Vault;
use crate::vault::stamp::StampReader;
use crate::vault::thinned::{Marker, Phase};
use crate::vault::walk::{Descend, walk};

/// The paths of the parked worktree that a merge would have to write over or through.
pub(crate) fn find_obstacles(
    repo: &Repo,
    checkout: &Checkout,
    fact: &SnapshotFact,
    merge: &MergeFact,
) -> Result<Vec<PathBuf>, GitError> {
    let found = look(repo, checkout, fact, merge)?;
    Ok(found
        .obstacles
        .iter()
        .map(|path| bytes_to_path(path))
        .collect())
}

/// The same merge with a free name for everything that is in its way, and for the saved versions of
/// files that it replaces.
pub(crate) fn clear_obstacles(
    repo: &Repo,
    checkout: &Checkout,
    fact: &SnapshotFact,
    merge: MergeFact,
    replaced: &[PathBuf],
) -> Result<MergeFact, GitError> {
    use std::os::unix::ffi::OsStrExt;
    let found = look(repo, checkout, fact, &merge)?;
    let mut ground = WorktreeReader::of(repo, checkout)?;
    let index = Index::read(repo, checkout)?;
    let steps = steps(
        &Vault::find(repo)?,
        &merge.from_worktree,
        &merge.to_worktree,
    )?;
    let mut paths = found.obstacles;
    paths.extend(
        replaced
            .iter()
            .map(|path| path.as_os_str().as_bytes().to_vec()),
    );
    let mut taken: BTreeSet<Vec<u8>> = steps.into_iter().map(|step| step.path).collect();
    taken.extend(index.entries.into_iter().map(|entry| entry.path));
    let mut aside = Vec::new();
    for path in paths {
        let mut number = 1;
        let to = loop {
            let suffix = match number {
                1 => ".saved".to_owned(),
                number => format!(".saved-{number}"),
            };
            let name = [path.as_slice(), suffix.as_bytes()].concat();
            let free = ground.look(&name)? == There::Nothing
                && !taken.contains(&name)
                && !has_below(&taken, &name);
            if free {
                break name;
            }
            number += 1;
        };
        taken.insert(to.clone());
        aside.push(Aside::new(path, to));
    }
    Ok(MergeFact { aside, ..merge })
}

/// What is done with the path of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// It is as it should be already.
    Leave,
    /// What is there is saved, and goes.
    Remove,
    /// Nothing is there.
    Write,
    /// What is there is saved, and something else comes.
    Replace,
    /// Something is there that must not be touched.
    Blocked,
}

pub(super) struct Obstacles {
    /// One for each step.
    pub acts: Vec<Act>,
    /// The outermost paths that are in the way.
    pub obstacles: BTreeSet<Vec<u8>>,
}

/// Looks at every path of a merge.
fn look(
    repo: &Repo,
    checkout: &Checkout,
    fact: &SnapshotFact,
    merge: &MergeFact,
) -> Result<Obstacles, GitError> {
    let steps = steps(
        &Vault::find(repo)?,
        &merge.from_worktree,
        &merge.to_worktree,
    )?;
    let index = Index::read(repo, checkout)?;
    way(repo, checkout, fact, &steps, &index)
}

pub(super) fn way(
    repo: &Repo,
    checkout: &Checkout,
    fact: &SnapshotFact,
    steps: &[Step],
    index: &Index,
) -> Result<Obstacles, GitError> {
    // Conflicts that are not resolved yet; no operation need stand open (`git stash pop`).
    if index.entries.iter().any(|entry| entry.stage != 0) {
        return Err(GitError::OperationInProgress {
            operation: "merge".to_owned(),
        });
    }
    let mut ground = WorktreeReader::of(repo, checkout)?;
    let there = steps
        .iter()
        .map(|step| ground.look(&step.path))
        .collect::<Result<Vec<_>, _>>()?;
    let equal = Equals::of(repo, checkout, fact, steps, &there)?;
    let mut acts: Vec<Act> = steps
        .iter()
        .zip(&there)
        .enumerate()
        .map(|(number, (step, there))| {
            let sparse = index
                .find(&step.path)
                .is_some_and(|entry| entry.skip_worktree);
            if sparse && *there == There::Nothing {
                Act::Leave
            } else {
                act(step, there, &equal, number)
            }
        })
        .collect();
    let mut obstacles: BTreeSet<Vec<u8>> = steps
        .iter()
        .zip(&acts)
        .filter(|(_, act)| **act == Act::Blocked)
        .map(|(step, _)| step.path.clone())
        .collect();
    let removed: BTreeSet<Vec<u8>> = steps
        .iter()
        .zip(&acts)
        .filter(|(_, act)| **act == Act::Remove)
        .map(|(step, _)| step.path.clone())
        .collect();
    for (number, step) in steps.iter().enumerate() {
        let comes = match acts[number] {
            Act::Write | Act::Replace => true,
            Act::Blocked => step.to.is_some(),
            Act::Leave | Act::Remove => false,
        };
        if !comes {
            continue;
        }
        if let Some(above) = blocked_above(&mut ground, step, &removed, index)? {
            acts[number] = Act::Blocked;
            obstacles.insert(above);
        } else if there[number] == There::Directory && !ground.empties(step, &removed)? {
            acts[number] = Act::Blocked;
            obstacles.insert(step.path.clone());
        }
    }
    // Whatever lies inside of something that is in the way goes where that goes.
    let outermost = obstacles
        .iter()
        .filter(|path| !ancestors(path).any(|above| obstacles.contains(above)))
        .cloned()
        .collect();
    Ok(Obstacles {
        acts,
        obstacles: outermost,
    })
}

/// What to do with a path, by itself.
fn act(step: &Step, there: &There, equal: &Equals, number: usize) -> Act {
    // What is inside a submodule belongs to its own repository: only the index follows.
    match (is_submodule(&step.from), is_submodule(&step.to)) {
        (_, true) => {
            return match there {
                There::Nothing => Act::Write,
                There::Directory => Act::Leave,
                There::File(_) | There::Link(_) if equal.from[number] => Act::Replace,
                There::File(_) | There::Link(_) | There::Other => Act::Blocked,
            };
        }
        (true, false) => {
            return match (there, &step.to) {
                (_, None) => Act::Leave,
                (There::Nothing, Some(_)) => Act::Write,
                // An empty one is not populated.
                (There::Directory, Some(_)) => Act::Replace,
                (There::File(_) | There::Link(_) | There::Other, Some(_)) => Act::Blocked,
            };
        }
        (false, false) => {}
    }
    match (there, &step.from, &step.to) {
        (There::Nothing, None, Some(_)) => Act::Write,
        (There::Nothing, _, None) => Act::Leave,
        (There::File(_) | There::Link(_), _, None) if equal.from[number] => Act::Remove,
        (There::File(_) | There::Link(_), _, Some(_)) if equal.from[number] => Act::Replace,
        (There::File(_) | There::Link(_), _, Some(_)) if equal.to[number] => Act::Leave,
        // Whether it will be empty by then is seen later.
        (There::Directory, None, Some(_)) => Act::Replace,
        _ => Act::Blocked,
    }
}

/// The first directory above a path that is none, or is another repository's.
fn blocked_above(
    ground: &mut WorktreeReader,
    step: &Step,
    removed: &BTreeSet<Vec<u8>>,
    index: &Index,
) -> Result<Option<Vec<u8>>, GitError> {
    for above in ancestors(&step.path) {
        match ground.look(above)? {
            There::Nothing => return Ok(None),
            There::Directory => {
                let inside = [above, b"/.git"].concat();
                let foreign = step.from.is_none()
                    && ground.look(&inside)? != There::Nothing
                    && !index_has_below(index, above);
                if foreign {
                    return Ok(Some(above.to_vec()));
                }
            }
            There::File(_) | There::Link(_) | There::Other => {
                return Ok((!removed.contains(above)).then(|| above.to_vec()));
            }
        }
    }
    Ok(None)
}

/// Every directory above a path, the outermost first.
pub(super) fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'/')
        .map(|(at, _)| &path[..at])
}

fn has_below(paths: &BTreeSet<Vec<u8>>, dir: &[u8]) -> bool {
    let prefix = [dir, b"/"].concat();
    paths
        .range(prefix.clone()..)
        .next()
        .is_some_and(|path| path.starts_with(&prefix))
}

fn index_has_below(index: &Index, dir: &[u8]) -> bool {
    let prefix = [dir, b"/"].concat();
    let at = index
        .entries
        .partition_point(|entry| entry.path.as_slice() < prefix.as_slice());
    index
        .entries
        .get(at)
        .is_some_and(|entry| entry.path.starts_with(&prefix))
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum There {
    Nothing,
    Directory,
    /// With the id of its bytes, where a list names it and the file is not on disk.
    File(Option<String>),
    /// A symlink, with the id of its target.
    Link(Option<String>),
    Other,
}

/// A parked worktree: the disk, and where it was thinned, the list of what will be back.
struct WorktreeReader {
    checkout: Checkout,
    reader: StampReader,
    listed: Option<BTreeMap<Vec<u8>, There>>,
}

impl WorktreeReader {
    fn of(repo: &Repo, checkout: &Checkout) -> Result<Self, GitError> {
        Ok(Self {
            reader: StampReader::open(&checkout.dir)?,
            listed: match Marker::read(checkout)? {
                None
                | Some(Marker {
                    phase: Phase::Refilled { .. },
                    ..
                }) => None,
                Some(marker) => Some(listed(&Vault::find(repo)?, &marker.commit)?),
            },
            checkout: checkout.clone(),
        })
    }

    fn look(&mut self, path: &[u8]) -> Result<There, GitError> {
        let stamp = self.reader.look(path)?;
        Ok(match stamp {
            Some(stamp) if stamp.is_dir() => There::Directory,
            Some(stamp) if stamp.is_file() => There::File(None),
            Some(stamp) if stamp.is_symlink() => There::Link(None),
            Some(_) => There::Other,
            None => match self.listed.as_ref().and_then(|listed| listed.get(path)) {
                Some(there) => there.clone(),
                None => There::Nothing,
            },
        })
    }

    /// Whether a directory becomes empty when these paths are removed. One that was empty before does
    /// not count: it is not ours to remove.
    fn empties(&mut self, step: &Step, removed: &BTreeSet<Vec<u8>>) -> Result<bool, GitError> {
        let dir = step.path.as_slice();
        let mut inside: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
        if self.reader.look(dir)?.is_some() {
            walk(&self.checkout.dir.join(bytes_to_path(dir)), &mut |found| {
                let path = [dir, b"/", found.path.as_slice()].concat();
                inside.insert(path, found.stamp.is_dir());
                Ok(Descend::Into)
            })?;
        }
        let prefix = [dir, b"/"].concat();
        for (path, there) in self
            .listed
            .iter()
            .flat_map(|listed| listed.range(prefix.clone()..))
            .take_while(|(path, _)| path.starts_with(&prefix))
        {
            inside
                .entry(path.clone())
                .or_insert(*there == There::Directory);
        }
        if inside.is_empty() {
            // A submodule that is not populated.
            return Ok(is_submodule(&step.from));
        }
        Ok(inside.iter().all(|(path, is_dir)| {
            if *is_dir {
                has_below(removed, path)
            } else {
                removed.contains(path)
            }
        }))
    }
}

/// What a refill will bring back.
fn listed(vault: &Vault, commit: &str) -> Result<BTreeMap<Vec<u8>, There>, GitError> {
    let manifest = Manifest::load(vault, commit)?;
    let ids = manifest.sources(vault, commit)?;
    let id_of = |number: usize| {
        let first = match manifest.items[number].source {
            Source::SameAs(first) => first,
            _ => number,
        };
        ids.get(first)
            .and_then(Option::as_ref)
            .map(|wanted| wanted.id.clone())
    };
    Ok(manifest
        .items
        .iter()
        .enumerate()
        .filter_map(|(number, item)| {
            let there = match item.kind {
                Kind::File | Kind::Clean => There::File(id_of(number)),
                Kind::Symlink => There::Link(id_of(number)),
                Kind::Directory => There::Directory,
                // On disk, or deleted by policy.
                _ => return None,
            };
            Some((item.path.clone(), there))
        })
        .collect())
}

/// Which steps find what they start from, or what they lead to.
struct Equals {
    from: Vec<bool>,
    to: Vec<bool>,
}

impl Equals {
    fn of(
        repo: &Repo,
        checkout: &Checkout,
        fact: &SnapshotFact,
        steps: &[Step],
        there: &[There],
    ) -> Result<Self, GitError> {
        let on_disk: Vec<(&[u8], [&Side; 2])> = steps
            .iter()
            .zip(there)
            .filter(|(_, there)| matches!(there, There::File(None) | There::Link(None)))
            .map(|(step, _)| (step.path.as_slice(), [&step.from, &step.to]))
            .collect();
        let contents = Contents::read(repo, checkout, &on_disk)?;
        let vault = Vault::find(repo)?;
        let mut raw: Option<BTreeSet<Vec<u8>>> = None;
        let mut equals = Self {
            from: Vec::new(),
            to: Vec::new(),
        };
        for (step, there) in steps.iter().zip(there) {
            let (from, to) = match there {
                // What was thinned was compared with the snapshot before.
                There::File(Some(id)) => (
                    is_file(&step.from),
                    is_file(&step.to) && step.to.as_ref().is_some_and(|(_, to)| to == id),
                ),
                There::Link(Some(id)) => (
                    is_link(&step.from),
                    is_link(&step.to) && step.to.as_ref().is_some_and(|(_, to)| to == id),
                ),
                There::File(None) | There::Link(None) => {
                    let is_link = *there == There::Link(None);
                    let from = match contents.equals(&step.path, is_link, &step.from) {
                        Equal::Bytes => true,
                        Equal::No => false,
                        Equal::Filtered => {
                            let raw = match &mut raw {
                                Some(raw) => raw,
                                None => raw.insert(stored_raw(&vault, fact)?),
                            };
                            let id = step.from.as_ref().map_or("", |(_, id)| id);
                            raw.contains(&step.path)
                                || is_reproducible(&vault, checkout, &step.path, id)?
                        }
                    };
                    (
                        from,
                        contents.equals(&step.path, is_link, &step.to) != Equal::No,
                    )
                }
                There::Nothing | There::Directory | There::Other => (false, false),
            };
            equals.from.push(from);
            equals.to.push(to);
        }
        Ok(equals)
    }
}

pub(super) fn is_submodule(side: &Side) -> bool {
    side.as_ref().is_some_and(|(mode, _)| *mode == GITLINK)
}

fn is_link(side: &Side) -> bool {
    side.as_ref().is_some_and(|(mode, _)| *mode == SYMLINK)
}

fn is_file(side: &Side) -> bool {
    side.as_ref()
        .is_some_and(|(mode, _)| *mode & 0o170_000 == 0o100_000)
}

/// The tracked files whose exact bytes are in the snapshot.
fn stored_raw(vault: &Vault, fact: &SnapshotFact) -> Result<BTreeSet<Vec<u8>>, GitError> {
    Ok(Manifest::load(vault, &fact.extra)?
        .items
        .into_iter()
        .filter(|item| item.kind == Kind::Tracked && matches!(item.source, Source::Raw(_)))
        .map(|item| item.path)
        .collect())
}
