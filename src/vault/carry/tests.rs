//! Exports that lie: each is refused, and nothing is written.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::bundle::Head;
use super::listing::{Listed, Listing, What};
use super::order::{Known, Order};
use super::outgoing::{Outgoing, prepare_export};
use super::{Incoming, Part, read_export};
use crate::git::{AddWorktree, BranchPlan, Checkout, GitError, Repo};
use crate::model::{InstanceId, Timestamp};
use crate::vault::import::{Commit, Content, Edit, Import, Object};
use crate::vault::{Label, take_snapshot};

fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=T", "-c", "user.email=t@t"])
        .args(args)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn now() -> Timestamp {
    Timestamp::parse("2026-11-14T18:02:03Z").unwrap()
}

/// A repository with a worktree in it, and a clone of it.
struct Two {
    _home: tempfile::TempDir,
    here: Repo,
    there: Repo,
    checkout: Checkout,
}

impl Two {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("here");
        std::fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        std::fs::create_dir(root.join("dir")).unwrap();
        std::fs::write(root.join("a"), "one\n").unwrap();
        std::fs::write(root.join("dir/b"), "two\n").unwrap();
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-qm", "first"]);
        let there = home.path().join("there");
        git(home.path(), &["clone", "-q", "here", "there"]);
        let here = Repo::discover(&root).unwrap();
        let path = home.path().join("wt");
        here.add_worktree(&AddWorktree {
            path: path.clone(),
            branch: BranchPlan::New {
                name: "work".to_owned(),
                start_commit: here.resolve("HEAD").unwrap().unwrap(),
            },
            resume_partial: false,
            without_files: false,
        })
        .unwrap();
        std::fs::write(path.join("own"), "own\n").unwrap();
        git(&path, &["add", "own"]);
        git(&path, &["commit", "-qm", "own"]);
        std::fs::write(path.join("new"), "new\n").unwrap();
        std::fs::write(path.join("a"), "changed\n").unwrap();
        let checkout = Checkout::live(&here, &path).unwrap();
        Self {
            there: Repo::discover(&there).unwrap(),
            _home: home,
            here,
            checkout,
        }
    }

    fn export(&self) -> Outgoing {
        let id = InstanceId::random();
        let label = Label {
            instance: &id,
            number: 1,
            at: now(),
            home: Path::new("/home/of/the/test"),
        };
        let taken = take_snapshot(&self.here, &self.checkout, label, None).unwrap();
        let order = Order {
            checkout: &self.checkout,
            snapshot: &taken.fact,
            branch: Some("work"),
            parts: vec![Part {
                name: "record.json".to_owned(),
                bytes: b"{}".to_vec(),
            }],
            with_ignored: false,
            known: Known::Usual {
                base: self.here.resolve("main").unwrap(),
            },
            at: now(),
        };
        prepare_export(&self.here, order).unwrap()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.export().write(&mut bytes).unwrap();
        bytes
    }

    /// An export with another manifest, and further files in its tree.
    fn forged(&self, change: impl FnOnce(&mut Listing), more: Vec<Edit>) -> Vec<u8> {
        let mut outgoing = self.export();
        let vault = &outgoing.scratch.vault;
        let commit = &outgoing.head.commit;
        let manifest = super::blobs::blob(
            vault,
            &git(vault.dir(), &["rev-parse", &format!("{commit}:manifest")]),
            u64::MAX,
        )
        .unwrap();
        let mut listing = Listing::parse(&manifest).unwrap();
        change(&mut listing);
        let mut import = Import::new(&self.checkout.dir, now());
        let number = import.blob(Content::Bytes(listing.to_bytes()));
        let mut edits = vec![Edit::Put {
            mode: 0o100_644,
            path: b"manifest".to_vec(),
            object: Object::Blob(number),
        }];
        edits.extend(more);
        import.commit(Commit {
            message: "forged".to_owned(),
            from: Some(Object::Id(commit.clone())),
            parents: Vec::new(),
            edits,
        });
        let imported = import.run(vault, "refs/bivouac/forged").unwrap();
        outgoing.head = Head {
            commit: imported.commits.last().unwrap().clone(),
            ..outgoing.head
        };
        let mut bytes = Vec::new();
        outgoing.write(&mut bytes).unwrap();
        bytes
    }

    /// Everything in the clone, apart from directories of ours that are empty.
    fn files(&self) -> Vec<PathBuf> {
        fn below(dir: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    below(&path, found);
                } else {
                    found.push(path);
                }
            }
        }
        let mut found = Vec::new();
        below(self.there.root(), &mut found);
        found.sort();
        found
    }

    fn read(&self, bytes: &[u8]) -> Result<Incoming, GitError> {
        read_export(&self.there, &mut { bytes }, false)
    }

    #[track_caller]
    fn refuses(&self, bytes: &[u8], why: &str) {
        let before = self.files();
        let error = self.read(bytes).unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
        assert_eq!(self.files(), before, "{why}: something was written");
    }
}

fn file(listing: &mut Listing, name: &[u8]) -> Listed {
    let found = listing.work.iter().find(|item| item.path == name);
    found.unwrap().clone()
}

#[test]
fn an_honest_export_is_read_with_its_manifest() {
    let two = Two::new();
    let outgoing = two.export();
    let mut bytes = Vec::new();
    outgoing.write(&mut bytes).unwrap();
    let incoming = two.read(&bytes).unwrap();
    assert_eq!(incoming.hash, outgoing.hash);
    assert_eq!(incoming.head_branch(), Some("work"));
    assert_eq!(incoming.parts().unwrap()[0].name, "record.json");
    drop(two.read(&two.forged(|_| {}, Vec::new())).unwrap());
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    let two = Two::new();
    for (path, why) in [
        (&b"../out"[..], "leads out"),
        (b"/etc/cron.d/x", "leads out"),
        (b"dir/../../out", "leads out"),
        (b".git/hooks/post-checkout", "git's own directory"),
        (b".GIT/config", "git's own directory"),
        (b".g\xe2\x80\x8cit/config", "git's own directory"),
        (b"dir/.git/config", "a repository of its own"),
        (b"dir/.Git", "a repository of its own"),
        (b"a/below", "no directory"),
    ] {
        let forged = two.forged(
            |listing| {
                let mut item = file(listing, b"new");
                item.path = path.to_vec();
                listing.work.push(item);
            },
            Vec::new(),
        );
        two.refuses(&forged, why);
    }
}

#[test]
fn a_file_behind_a_link_is_refused() {
    let two = Two::new();
    let forged = two.forged(
        |listing| {
            let mut link = file(listing, b"new");
            link.what = What::Symlink;
            link.mode = 0o777;
            link.path = b"etc".to_vec();
            listing.work.push(link);
            let mut behind = file(listing, b"new");
            behind.path = b"etc/passwd".to_vec();
            listing.work.push(behind);
        },
        Vec::new(),
    );
    two.refuses(&forged, "no directory");
}

#[test]
fn a_manifest_that_lies_is_refused() {
    let two = Two::new();
    type Lie = fn(&mut Listing);
    let cases: Vec<(Lie, &str)> = vec![
        (
            |listing| {
                let item = file(listing, b"new");
                listing.work.push(item);
            },
            "twice",
        ),
        (
            |listing| {
                listing
                    .work
                    .iter_mut()
                    .filter(|item| item.path == b"new")
                    .for_each(|item| item.size += 1)
            },
            "not the bytes",
        ),
        (
            |listing| {
                let missing = "1".repeat(40);
                listing
                    .work
                    .iter_mut()
                    .filter(|item| item.path == b"new")
                    .for_each(|item| item.id = Some(missing.clone()));
            },
            "not the bytes",
        ),
        (|listing| listing.head = Some("2".repeat(40)), "no commit"),
        (|listing| listing.head = listing.clean.clone(), "no commit"),
        (
            |listing| {
                let head = listing.head.clone().unwrap();
                listing.index.as_mut().unwrap().tree = head;
            },
            "no tree",
        ),
        (
            |listing| listing.clean = listing.parts.first().map(|(_, id)| id.clone()),
            "unchanged files",
        ),
        (
            |listing| {
                let mut name = file(listing, b"new");
                name.what = What::SameAs(b"nothing".to_vec());
                name.id = None;
                name.path = b"linked".to_vec();
                listing.work.push(name);
            },
            "a name of nothing",
        ),
        (
            |listing| {
                let id = listing.clean.clone().unwrap();
                listing.admin.push((b"config.worktree".to_vec(), id));
            },
            "malformed",
        ),
        (
            |listing| {
                let id = listing.clean.clone().unwrap();
                listing.refs.push(("refs/heads/main".to_owned(), id));
            },
            "malformed",
        ),
        (
            |listing| {
                let id = listing.clean.clone().unwrap();
                listing.parts.push(("../record.json".to_owned(), id));
            },
            "malformed",
        ),
        (|listing| listing.format = "sha256".to_owned(), ""),
    ];
    for (change, why) in cases {
        two.refuses(&two.forged(change, Vec::new()), why);
    }
}

#[test]
fn what_is_cut_off_or_damaged_is_refused() {
    let two = Two::new();
    let bytes = two.bytes();
    for end in [0, 10, 60, bytes.len() / 2, bytes.len() - 1] {
        two.refuses(&bytes[..end], "");
    }
    let mut damaged = bytes.clone();
    let middle = bytes.len() - 40;
    damaged[middle] ^= 1;
    two.refuses(&damaged, "");
    two.refuses(b"age-encryption.org/v1\n", "no export");
}

#[test]
fn commits_that_are_missing_are_named() {
    let two = Two::new();
    let empty = tempfile::tempdir().unwrap();
    git(empty.path(), &["init", "-q"]);
    let repo = Repo::discover(empty.path()).unwrap();
    let base = two.here.resolve("main").unwrap().unwrap();
    let error = read_export(&repo, &mut two.bytes().as_slice(), false).unwrap_err();
    assert!(
        matches!(&error, GitError::CommitsMissing { commits, .. } if commits == &[base]),
        "{error}"
    );
}

#[test]
fn a_tree_that_unfolds_without_end_is_refused() {
    let two = Two::new();
    let mut tree = git(two.here.root(), &["rev-parse", "main^{tree}"]);
    for _ in 0..12 {
        let lines: String = (0..16)
            .map(|number| format!("040000 tree {tree}\tdirectory-{number}\n"))
            .collect();
        let made = crate::git::call::git()
            .directory(two.here.root())
            .arg("mktree")
            .stdin(lines)
            .text();
        tree = made.unwrap();
    }
    let bomb = Edit::Put {
        mode: 0o040_000,
        path: b"bomb".to_vec(),
        object: Object::Id(tree.clone()),
    };
    let forged = two.forged(
        move |listing| listing.index.as_mut().unwrap().tree = tree,
        vec![bomb],
    );
    assert!(forged.len() < 100_000, "{}", forged.len());
    let before = two.files();
    drop(two.read(&forged).unwrap_err());
    assert_eq!(two.files(), before);
}

/// 5,000 files, of which 7 were changed: the export costs what changed.
#[test]
fn an_export_costs_what_changed() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("here");
    std::fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    for directory in 0..50 {
        let directory = root.join(format!("directory-{directory}"));
        std::fs::create_dir(&directory).unwrap();
        for number in 0..100 {
            std::fs::write(
                directory.join(format!("file-{number}")),
                format!("{number}\n"),
            )
            .unwrap();
        }
    }
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-qm", "first"]);
    let here = Repo::discover(&root).unwrap();
    let path = home.path().join("wt");
    git(
        &root,
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "work",
            path.to_str().unwrap(),
        ],
    );
    let mut random = 1_u64;
    let mut changed = 0;
    for number in 0..7 {
        let bytes: Vec<u8> = (0..10_000)
            .map(|_| {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (random >> 56) as u8
            })
            .collect();
        changed += bytes.len();
        std::fs::write(path.join(format!("directory-{number}/file-7")), bytes).unwrap();
    }
    let checkout = Checkout::live(&here, &path).unwrap();
    let two = Two {
        _home: home,
        there: here.clone(),
        here,
        checkout,
    };
    let length = two.bytes().len();
    assert!(length < 2 * changed, "{length} for {changed}");
    println!("{length} bytes for {changed} bytes of changes");
}

/// After a checkout every file is as young as the index, and git would read each of them.
#[test]
fn files_that_git_has_not_read_yet_are_not_sent() {
    let two = Two::new();
    let dir = &two.checkout.dir;
    for number in 0..300 {
        std::fs::write(dir.join(format!("file-{number}")), format!("{number}\n")).unwrap();
    }
    // It cannot be compressed.
    let large: Vec<u8> = (0_u32..1 << 14)
        .flat_map(|number| {
            number
                .wrapping_mul(2_654_435_761)
                .rotate_left(number % 31)
                .to_le_bytes()
        })
        .collect();
    std::fs::write(dir.join("large"), &large).unwrap();
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-qm", "many"]);
    git(two.here.root(), &["update-ref", "refs/heads/main", "work"]);
    git(two.there.root(), &["fetch", "-q", "origin"]);
    let settled = two.bytes().len();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3600);
    for number in 0..300 {
        let file = std::fs::File::options()
            .write(true)
            .open(dir.join(format!("file-{number}")))
            .unwrap();
        file.set_modified(later).unwrap();
    }
    git(dir, &["update-index", "-q", "--refresh"]);
    // The base commit has these bytes, at another path.
    std::fs::write(dir.join("copy"), &large).unwrap();
    let bytes = two.bytes();
    assert!(
        bytes.len() < settled + 2000,
        "{} bytes, {settled} when git knew them",
        bytes.len()
    );
    let incoming = two.read(&bytes).unwrap();
    let unread = incoming
        .manifest
        .items
        .iter()
        .filter(|item| item.path.starts_with(b"file-"))
        .filter(|item| item.kind == crate::vault::manifest::Kind::File && item.size > 0);
    assert_eq!(unread.count(), 300);
}
