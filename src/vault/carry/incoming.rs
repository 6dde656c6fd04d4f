//! Reads an export into a repository that goes away, and believes nothing of it. What is refused here has
//! written nothing.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};

use super::Part;
use super::blobs::{blob, wanted};
use super::bundle::Head;
use super::checks::{RESERVE, check_paths, check_sizes};
use super::draft::tree_entries;
use super::listing::{Listed, Listing, StagedEntry, What, hash_of};
use super::refusal::{refused, refused_path};
use super::scratch::Scratch;
use super::unchanged::{Unchanged, parse_clean};
use crate::git::call::SLOW;
use crate::git::disk::free_bytes;
use crate::git::{GitError, Repo};
use crate::vault::closure::without;
use crate::vault::manifest::{Item, Kind, Manifest, Source};
use crate::vault::objects::sizes;
use crate::vault::repository::Vault;

/// A longer manifest is refused.
const LONGEST_MANIFEST: u64 = 256 << 20;
/// All parts together, which are read into memory.
const LARGEST_PARTS: u64 = 512 << 20;
/// The most memory that git may ask for at once: an object that claims to be huge ends it.
const MOST_MEMORY: &str = "256m";

/// An export that was read, and checked as far as that can be done before it is unpacked.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(super) scratch: Scratch,
    pub(super) listing: Listing,
    /// The index as it will be.
    pub(super) entries: Vec<StagedEntry>,
    /// Every file with its bytes.
    pub(super) manifest: Manifest,
    /// The branch that HEAD will name; another one than in the manifest where that name is taken.
    pub(super) head_branch: Option<String>,
    /// Commits that the export brings, and those that it builds on.
    pub(super) parents: Vec<String>,
    pub(super) needed: Vec<String>,
    /// The tree of objects that an operation in progress needs.
    pub(super) keep: Option<String>,
    /// The hash of the manifest.
    pub hash: String,
    pub bytes: u64,
}

impl Incoming {
    /// The commit that HEAD names.
    pub(crate) fn head(&self) -> Option<&str> {
        self.listing.head.as_deref()
    }

    /// The branch that HEAD names.
    pub(crate) fn head_branch(&self) -> Option<&str> {
        self.head_branch.as_deref()
    }

    /// Lets HEAD name another branch, where it names one.
    pub(crate) fn rename_branch(&mut self, name: &str) {
        if self.head_branch.is_some() {
            self.head_branch = Some(name.to_owned());
        }
    }

    /// The branch of the instance, and where it was.
    pub(crate) fn branch(&self) -> Option<(&str, Option<&str>)> {
        let (name, commit) = self.listing.branch.as_ref()?;
        Some((name, commit.as_deref()))
    }

    /// Commands that a rebase in progress runs when it goes on.
    pub(crate) fn commands(&self) -> Result<Vec<String>, GitError> {
        let mut found = Vec::new();
        for (path, id) in &self.listing.admin {
            if path.ends_with(b"git-rebase-todo") {
                let todo = blob(&self.scratch.vault, id, LONGEST_MANIFEST)?;
                let text = String::from_utf8_lossy(&todo).into_owned();
                let commands = text.lines().filter_map(|line| {
                    line.strip_prefix("exec ")
                        .or_else(|| line.strip_prefix("x "))
                });
                found.extend(commands.map(str::to_owned));
            }
        }
        Ok(found)
    }

    /// The files that travel beside the work.
    pub(crate) fn parts(&self) -> Result<Vec<Part>, GitError> {
        let wanted = wanted(self.listing.parts.iter().map(|(_, id)| id));
        let sizes = sizes(&self.scratch.vault, &wanted)?;
        if sizes.iter().flatten().sum::<u64>() > LARGEST_PARTS {
            return Err(refused("its records are too large"));
        }
        self.listing
            .parts
            .iter()
            .map(|(name, id)| {
                Ok(Part {
                    name: name.clone(),
                    bytes: blob(&self.scratch.vault, id, LARGEST_PARTS)?,
                })
            })
            .collect()
    }
}

/// Reads an export of a worktree of this repository. Nested repositories are refused unless they are
/// allowed: git would follow their settings.
pub(crate) fn read_export(
    repo: &Repo,
    input: &mut (dyn Read + Send),
    nested: bool,
) -> Result<Incoming, GitError> {
    let mut input = BufReader::new(input);
    let head = Head::read(&mut input).map_err(|problem| refused(&problem))?;
    if head.format != repo.object_format() {
        return Err(refused(&format!(
            "it is of a repository with the hash {}, and this one has {}",
            head.format,
            repo.object_format()
        )));
    }
    require_commits(repo, &head.needed)?;
    let scratch = Scratch::new(repo, "import-")?;
    let bytes = unpack(&scratch.vault, &mut input)?;
    let vault = &scratch.vault;
    require_whole(vault, &head)?;
    let manifest = blob_at(vault, &format!("{}:manifest", head.commit))?;
    let listing = Listing::parse(&manifest).map_err(|problem| refused(&problem))?;
    if listing.format != head.format {
        return Err(refused("its manifest is of another hash"));
    }
    let hash = hash_of(&manifest);
    if let Some(name) = listing.twice() {
        return Err(refused_path(&name, "is in it twice"));
    }
    require_objects(vault, &listing)?;
    let entries = entries(vault, &listing)?;
    let manifest = files(vault, &listing, &entries)?;
    check_paths(&manifest, &entries, nested)?;
    check_sizes(vault, &manifest, repo.common_dir())?;
    let parents = vault
        .git()
        .args(["rev-list", "--parents", "-n", "1", &head.commit])
        .text()?;
    let keep = vault
        .git()
        .args(["rev-parse", "--verify", "--quiet"])
        .arg(format!("{}:keep", head.commit))
        .output()?;
    Ok(Incoming {
        head_branch: listing.head_branch.clone(),
        parents: parents.split(' ').skip(1).map(str::to_owned).collect(),
        needed: head.needed,
        keep: keep.success().then(|| keep.stdout_text()),
        scratch,
        listing,
        entries,
        manifest,
        hash,
        bytes,
    })
}

/// The commits that the export builds on.
fn require_commits(repo: &Repo, needed: &[String]) -> Result<(), GitError> {
    if needed.is_empty() {
        return Ok(());
    }
    let questions: String = needed.iter().map(|id| format!("{id}\n")).collect();
    let answers = repo
        .git()
        .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
        .stdin(questions)
        .text()?;
    let lacking: Vec<String> = needed
        .iter()
        .zip(answers.lines())
        .filter(|(_, answer)| !answer.ends_with(" commit"))
        .map(|(id, _)| id.clone())
        .collect();
    if lacking.is_empty() {
        return Ok(());
    }
    Err(GitError::CommitsMissing {
        commits: lacking,
        repository: repo.root().to_owned(),
    })
}

/// Lets git read the pack, which checks the hash of every object.
fn unpack(vault: &Vault, input: &mut (impl BufRead + Send)) -> Result<u64, GitError> {
    let free = free_bytes(vault.dir())?.saturating_sub(RESERVE);
    let mut copied = 0;
    let command = vault
        .git()
        .env("GIT_ALLOC_LIMIT", MOST_MEMORY)
        .args(["index-pack", "--stdin", "--fix-thin"])
        .arg(format!("--max-input-size={}", free / 2))
        .deadline(SLOW);
    let output = command.output_fed(|pipe: &mut dyn Write| {
        copied = std::io::copy(&mut input.take(free / 2 + 1), pipe)?;
        Ok(())
    })?;
    if output.success() {
        return Ok(copied);
    }
    let said = output.stderr_text();
    // It was cut off here, or by git: neither says that the disk is why.
    if copied > free / 2 || said.contains("maximum allowed size") {
        return Err(GitError::DiskFull {
            path: vault.repo().common_dir().to_owned(),
        });
    }
    let line = said.lines().last().unwrap_or("git refused it");
    Err(refused(line.trim_start_matches("fatal: ")))
}

/// Everything that the commit reaches is there.
fn require_whole(vault: &Vault, head: &Head) -> Result<(), GitError> {
    let output = vault
        .git()
        .env("GIT_ALLOC_LIMIT", MOST_MEMORY)
        .args(["rev-list", "--objects", "--quiet", "--stdin"])
        .stdin(without(&[&head.commit], &head.needed))
        .deadline(SLOW)
        .output()?;
    if output.success() {
        return Ok(());
    }
    let said = output.stderr_text();
    let line = said.lines().last().unwrap_or("objects are missing");
    Err(refused(line.trim_start_matches("fatal: ")))
}

/// Commits are commits, trees are trees.
fn require_objects(vault: &Vault, listing: &Listing) -> Result<(), GitError> {
    let commits = listing
        .head
        .iter()
        .chain(
            listing
                .branch
                .iter()
                .filter_map(|(_, commit)| commit.as_ref()),
        )
        .map(|id| (id, "commit"));
    let tree = listing.index.iter().map(|index| (&index.tree, "tree"));
    for (id, kind) in commits.chain(tree) {
        let output = vault.git().args(["cat-file", "-t", id]).output()?;
        if output.stdout_text() != kind {
            return Err(refused(&format!("{id} is no {kind} in it")));
        }
    }
    if listing.head.is_none() && listing.head_branch.is_none() {
        return Err(refused("it has no HEAD"));
    }
    Ok(())
}

/// The index: the entries of the tree, and those that replace them.
fn entries(vault: &Vault, listing: &Listing) -> Result<Vec<StagedEntry>, GitError> {
    let Some(index) = &listing.index else {
        return Ok(Vec::new());
    };
    let mut tree = tree_entries(vault, &index.tree)?;
    for path in &index.not {
        tree.remove(path);
    }
    let mut stages: HashSet<(&[u8], u8)> = HashSet::new();
    for entry in &index.more {
        if entry.stage == 0 {
            tree.remove(&entry.path);
        }
        if !stages.insert((&entry.path, entry.stage)) {
            return Err(refused_path(&entry.path, "is in its index twice"));
        }
    }
    let mut entries: Vec<StagedEntry> = tree
        .into_iter()
        .map(|(path, (mode, id))| StagedEntry {
            stage: 0,
            mode,
            id,
            assume_unchanged: false,
            intent_to_add: false,
            skip_worktree: false,
            path,
        })
        .collect();
    entries.extend(index.more.iter().cloned());
    entries.sort_by(|one, other| (&one.path, one.stage).cmp(&(&other.path, other.stage)));
    Ok(entries)
}

/// Every file, the unchanged ones too, as the vault lists those of a thinned worktree.
fn files(vault: &Vault, listing: &Listing, entries: &[StagedEntry]) -> Result<Manifest, GitError> {
    let staged: Vec<&StagedEntry> = entries.iter().filter(|entry| entry.stage == 0).collect();
    let block = match &listing.clean {
        Some(id) => parse_clean(&blob(vault, id, LONGEST_MANIFEST)?),
        None => Some(Vec::new()),
    };
    let block = block.filter(|block| block.len() == staged.len() || block.is_empty());
    let Some(block) = block else {
        return Err(refused(
            "its list of unchanged files does not fit its index",
        ));
    };
    let unchanged: Vec<(&StagedEntry, Unchanged)> = staged
        .into_iter()
        .zip(block)
        .filter_map(|(entry, file)| Some((entry, file?)))
        .collect();
    let sizes = sizes(vault, &wanted(unchanged.iter().map(|(entry, _)| &entry.id)))?;
    let mut items: Vec<Item> = listing.work.iter().map(item_of).collect();
    for ((entry, file), size) in unchanged.into_iter().zip(sizes) {
        let size = size.ok_or_else(|| refused_path(&entry.path, "has no bytes in it"))?;
        if !matches!(entry.mode, 0o100_644 | 0o100_755) {
            return Err(refused_path(&entry.path, "is no plain file"));
        }
        items.push(Item {
            kind: match file.known_to_git {
                true => Kind::Clean,
                false => Kind::File,
            },
            mode: 0o100_000 | file.mode,
            size,
            mtime: file.mtime,
            inode: 0,
            source: Source::Object(entry.id.clone()),
            path: entry.path.clone(),
        });
    }
    items.sort_by(|one, other| {
        let key = |path: &[u8]| (path != b".", path.to_vec());
        key(&one.path).cmp(&key(&other.path))
    });
    // A further name is known by the number of the first.
    let numbers: HashMap<Vec<u8>, usize> = items
        .iter()
        .enumerate()
        .map(|(number, item)| (item.path.clone(), number))
        .collect();
    if numbers.len() != items.len() {
        return Err(refused("a path is in it twice"));
    }
    for work in &listing.work {
        if let What::SameAs(first) = &work.what {
            let original = numbers.get(first).and_then(|number| items.get(*number));
            let plain = original.is_some_and(|item| {
                matches!(item.kind, Kind::File | Kind::Clean)
                    && matches!(item.source, Source::Object(_))
            });
            let (Some(first), Some(number), true) =
                (numbers.get(first), numbers.get(&work.path), plain)
            else {
                return Err(refused_path(&work.path, "is a name of nothing"));
            };
            items[*number].source = Source::SameAs(*first);
        }
    }
    Ok(Manifest { items })
}

fn item_of(work: &Listed) -> Item {
    let (kind, format) = match work.what {
        What::File | What::SameAs(_) => (Kind::File, 0o100_000),
        What::Clean => (Kind::Clean, 0o100_000),
        What::Symlink => (Kind::Symlink, 0o120_000),
        What::Directory => (Kind::Directory, 0o040_000),
    };
    Item {
        kind,
        mode: format | work.mode,
        size: work.size,
        mtime: work.mtime,
        inode: 0,
        source: work.id.clone().map_or(Source::Nowhere, Source::Object),
        path: work.path.clone(),
    }
}

fn blob_at(vault: &Vault, name: &str) -> Result<Vec<u8>, GitError> {
    let output = vault
        .git()
        .args(["rev-parse", "--verify", "--quiet", name])
        .output()?;
    if !output.success() {
        return Err(refused("it has no manifest"));
    }
    blob(vault, &output.stdout_text(), LONGEST_MANIFEST)
}
