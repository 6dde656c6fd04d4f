//! Random worktrees, and random things that happen to branch, path and repository while they are
//! parked: every byte that was there before is afterwards in the worktree, in the commit, in the
//! snapshot, or under a name that was said. What must come out is computed from plain maps of paths,
//! and each case has one outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;

use proptest::prelude::*;

use super::fingerprint::files as list_files;
use super::states::Lab;
use super::{now, saved, scratch};
use crate::git::*;
use crate::model::InstanceId;
use crate::vault::repository::Vault;
use crate::vault::*;

mod cases;
mod model;

use cases::{Case, Event, How, PATHS, cases, copy, init, number_of_cases, put};
use model::{
    Disk, Found, Tree, Wanted, disk, expected, obstacles, renamed, shown, text, without_git,
};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: number_of_cases(),
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    })]

    #[test]
    fn nothing_is_lost_whatever_happens_meanwhile(case in cases()) {
        Trial::of(&case).run();
    }
}

struct Trial<'a> {
    case: &'a Case,
    _home: tempfile::TempDir,
    lab: Lab,
}

/// A parked worktree with what is known of it.
struct Parked {
    repo: Repo,
    fact: SnapshotFact,
    place: ParkingPlace,
    /// As it was before, in two forms.
    disk: Disk,
    lines: Vec<String>,
    index: String,
}

impl<'a> Trial<'a> {
    fn of(case: &'a Case) -> Self {
        let home = tempfile::tempdir_in(scratch()).unwrap();
        let path = home.path().canonicalize().unwrap();
        init(&path.join("main"));
        copy(&path.join("main"), &path.join("empty"));
        let lab = Lab {
            main: path.join("main"),
            worktree: path.join("wt"),
            home: path,
        };
        Self {
            case,
            _home: home,
            lab,
        }
    }

    fn run(mut self) {
        self.build();
        let mut parked = self.park();
        self.meanwhile(&mut parked);
        match branch_position(&parked.repo, &parked.fact).unwrap() {
            BranchPosition::Same => {
                assert!(!self.moves(), "the branch was moved");
                self.comes_back(&parked);
            }
            BranchPosition::Deleted { branch, was } => {
                assert!(matches!(self.case.event, Event::Deleted | Event::Renamed));
                parked.repo.create_branch(&branch, &was).unwrap();
                self.comes_back(&parked);
            }
            BranchPosition::Elsewhere { .. } => {
                assert_eq!(self.case.event, Event::Elsewhere);
                self.untouched(&parked);
            }
            BranchPosition::Moved { to, .. } => {
                assert!(self.moves(), "the branch was not moved");
                self.follow(&parked, &to);
            }
        }
    }

    /// Whether the branch names another commit afterwards.
    fn moves(&self) -> bool {
        !matches!(
            self.case.event,
            Event::Deleted | Event::Renamed | Event::Elsewhere
        )
    }

    fn build(&self) {
        let lab = &self.lab;
        std::fs::create_dir(lab.home.join("outside")).unwrap();
        std::fs::write(lab.main.join(".gitignore"), "build\n*.log\n").unwrap();
        for edit in &self.case.base {
            put(&lab.main, edit, "base");
        }
        lab.git_in(&lab.main, &["add", "-A", "-f", "."]);
        lab.git_in(&lab.main, &["commit", "-qm", "base"]);
        let worktree = lab.worktree.to_str().unwrap();
        lab.git_in(
            &lab.main,
            &["worktree", "add", "-q", "-b", "work", worktree],
        );
        if self.case.event == Event::MergeInProgress {
            lab.git_in(&lab.main, &["checkout", "-q", "-b", "side"]);
            std::fs::write(lab.main.join("side"), "side\n").unwrap();
            lab.git_in(&lab.main, &["add", "-A", "-f", "side"]);
            lab.git_in(&lab.main, &["commit", "-qm", "side"]);
            lab.git_in(&lab.main, &["checkout", "-q", "main"]);
            lab.git(&["merge", "-q", "--no-ff", "--no-commit", "side"]);
        }
        for edit in &self.case.mine {
            put(&lab.worktree, edit, "mine");
            if edit.staged {
                self.stage(PATHS[edit.path]);
            }
        }
    }

    /// Stages a file, a link or an absence; what git refuses stays unstaged.
    fn stage(&self, path: &str) {
        let found = std::fs::symlink_metadata(self.lab.at(path));
        let option = match found {
            Ok(found) if found.is_dir() => return,
            Ok(_) => ["--add", "--replace"],
            Err(_) => ["--add", "--force-remove"],
        };
        let mut command = std::process::Command::new("git");
        command
            .current_dir(&self.lab.worktree)
            .arg("update-index")
            .args(option)
            .args(["--", path])
            .stderr(std::process::Stdio::null());
        command.status().unwrap();
    }

    fn park(&self) -> Parked {
        let lab = &self.lab;
        let repo = Repo::discover(&lab.worktree).unwrap();
        let id = InstanceId::random();
        let checkout = Checkout::live(&repo, &lab.worktree).unwrap();
        let disk = disk(&lab.worktree);
        let mut lines = Vec::new();
        list_files(&lab.worktree, &mut lines);
        let index = lab.git(&["ls-files", "-s"]);
        let fact = saved(&repo, &checkout, &id, 1).unwrap();
        let place = choose_parking(&repo, &lab.worktree, &id, 1).unwrap();
        park(&place).unwrap();
        if self.case.thinned {
            thin(&repo, &place, &fact, &ThinPolicy::default(), now()).unwrap();
        }
        Parked {
            repo,
            fact,
            place,
            disk,
            lines,
            index,
        }
    }

    fn meanwhile(&mut self, parked: &mut Parked) {
        let lab = &self.lab;
        let git = |args: &[&str]| lab.git_in(&lab.main, args);
        match self.case.event {
            Event::Deleted => drop(git(&["branch", "-q", "-D", "work"])),
            Event::Renamed => drop(git(&["branch", "-q", "-m", "work", "other"])),
            Event::Elsewhere => drop(git(&["checkout", "-q", "work"])),
            _ => self.commit_elsewhere(),
        }
        match self.case.event {
            Event::PathTaken => std::fs::write(&lab.worktree, "not ours").unwrap(),
            Event::RepositoryMoved => {
                let new = lab.home.join("moved");
                std::fs::rename(&lab.main, &new).unwrap();
                let found = Repo::discover(&new).unwrap();
                let old = &parked.repo;
                let relocation = Relocation::new(old.root(), old.common_dir(), &found);
                parked.place = parked.place.relocated(&relocation);
                parked.place.repoint().unwrap();
                parked.repo = found;
                self.lab.main = new;
            }
            _ => {}
        }
        if self.case.collected {
            let lab = &self.lab;
            lab.git_in(&lab.main, &["reflog", "expire", "--expire=now", "--all"]);
            lab.git_in(&lab.main, &["gc", "-q", "--prune=now"]);
        }
    }

    /// Others work on the branch, in a checkout of their own.
    fn commit_elsewhere(&self) {
        let lab = &self.lab;
        let elsewhere = lab.home.join("elsewhere");
        let path = elsewhere.to_str().unwrap();
        lab.git_in(&lab.main, &["worktree", "add", "-q", path, "work"]);
        for edit in &self.case.theirs {
            put(&elsewhere, edit, "theirs");
        }
        lab.git_in(&elsewhere, &["add", "-A", "-f", "."]);
        let mut commit = vec!["commit", "-q", "--allow-empty", "-m", "theirs"];
        if self.case.event == Event::Rebased {
            commit.push("--amend");
        }
        lab.git_in(&elsewhere, &commit);
        lab.git_in(&lab.main, &["worktree", "remove", "--force", path]);
    }

    /// Nothing happened to its branch: it is exactly as it was.
    fn comes_back(&self, parked: &Parked) {
        refill(&parked.repo, &parked.place).unwrap();
        unpark(&parked.place).unwrap();
        bring_objects_back(&parked.repo, &parked.fact).unwrap();
        self.is_as_before(parked);
        let live = parked.place.live_checkout();
        assert_eq!(
            verify_snapshot(&parked.repo, &live, &parked.fact, None).unwrap(),
            Verification::Equal
        );
    }

    /// In its place, to the byte.
    fn is_as_before(&self, parked: &Parked) {
        let mut lines = Vec::new();
        list_files(&self.lab.worktree, &mut lines);
        let of_place = |line: &&String| !line.starts_with("path .git: ");
        assert_eq!(
            lines.iter().filter(of_place).collect::<Vec<_>>(),
            parked.lines.iter().filter(of_place).collect::<Vec<_>>()
        );
        assert_eq!(self.lab.git(&["ls-files", "-s"]), parked.index);
        self.is_sound();
    }

    /// Still parked, and whole.
    fn untouched(&self, parked: &Parked) {
        assert_eq!(park_state(&parked.place).unwrap(), ParkState::Parked);
        refill(&parked.repo, &parked.place).unwrap();
        assert_eq!(
            without_git(disk(&parked.place.parked_worktree)),
            without_git(parked.disk.clone())
        );
    }

    fn follow(&self, parked: &Parked, to: &str) {
        let checkout = parked.place.checkout();
        let (repo, fact) = (&parked.repo, &parked.fact);
        let planned = plan_merge(repo, fact, to);
        if self.case.event == Event::MergeInProgress {
            let refused = matches!(planned, Err(GitError::OperationInProgress { .. }));
            assert!(refused, "{planned:?}");
            return match self.case.how {
                How::Keep => self.keep(parked, to),
                How::Stop | How::Markers => self.untouched(parked),
            };
        }
        let (merge, conflicts, replaced) = match planned.unwrap() {
            MergePlan::Clean(merge) => (merge, Vec::new(), Vec::new()),
            MergePlan::Conflict {
                files,
                with_markers,
                replaced,
            } => (with_markers, files, replaced),
        };
        let from = self.tree(&parked.repo, &merge.from_worktree);
        let into = self.tree(&parked.repo, &merge.to_worktree);
        let tracked = self.tracked(parked);
        let blocked = obstacles(&parked.disk, &from, &into, &tracked);
        let found: BTreeSet<Vec<u8>> = find_obstacles(repo, &checkout, fact, &merge)
            .unwrap()
            .iter()
            .map(|path| path.as_os_str().as_bytes().to_vec())
            .collect();
        assert_eq!(shown(&found), shown(&blocked), "what is in the way");
        if conflicts.is_empty() && blocked.is_empty() {
            return self.merged(parked, &merge, &from, &into);
        }
        match self.case.how {
            How::Stop => self.untouched(parked),
            How::Keep => self.keep(parked, to),
            How::Markers => {
                let merge = clear_obstacles(repo, &checkout, fact, merge, &replaced).unwrap();
                self.merged(parked, &merge, &from, &into);
            }
        }
    }

    fn keep(&self, parked: &Parked, to: &str) {
        let (repo, checkout) = (&parked.repo, parked.place.checkout());
        let kept = Kept::choose(repo, &parked.fact, "work").unwrap();
        refill(repo, &parked.place).unwrap();
        keep_on_branch(repo, &checkout, &kept).unwrap();
        if self.taken(parked) {
            take_back_kept(repo, &checkout, &kept).unwrap();
            assert_eq!(repo.branch_commit(&kept.branch).unwrap(), None);
            return;
        }
        unpark(&parked.place).unwrap();
        bring_objects_back(repo, &parked.fact).unwrap();
        self.is_as_before(parked);
        let head = self.lab.git(&["rev-parse", "HEAD"]);
        assert_eq!(Some(head), parked.fact.head);
        assert_eq!(self.lab.git(&["rev-parse", "work"]), to);
        assert_eq!(
            self.lab.git(&["symbolic-ref", "--short", "HEAD"]),
            "work-kept"
        );
    }

    /// Whether something stands at its path; then it stays parked.
    fn taken(&self, parked: &Parked) -> bool {
        if self.case.event != Event::PathTaken {
            return false;
        }
        let refused = unpark(&parked.place);
        assert!(
            matches!(refused, Err(GitError::PathTaken { .. })),
            "{refused:?}"
        );
        let there = std::fs::read_to_string(&self.lab.worktree).unwrap();
        assert_eq!(there, "not ours");
        true
    }

    /// The merge is made; what comes out is known beforehand, path by path.
    fn merged(&self, parked: &Parked, merge: &MergeFact, from: &Tree, into: &Tree) {
        let (repo, place) = (&parked.repo, &parked.place);
        refill(repo, place).unwrap();
        carry_over(repo, place, &parked.fact, merge).unwrap();
        if self.taken(parked) || self.case.taken_back {
            if self.case.event != Event::PathTaken {
                unpark(place).unwrap();
                park(place).unwrap();
            }
            assert_eq!(take_back_carry(repo, place).unwrap(), []);
            self.untouched(parked);
            let mut lines = Vec::new();
            list_files(&place.parked_worktree, &mut lines);
            let of_place = |line: &&String| !line.starts_with("path .git: ");
            assert_eq!(
                lines.iter().filter(of_place).collect::<Vec<_>>(),
                parked.lines.iter().filter(of_place).collect::<Vec<_>>()
            );
            return;
        }
        unpark(place).unwrap();
        bring_objects_back(repo, &parked.fact).unwrap();
        bring_merged_back(repo, merge).unwrap();
        self.is_sound();
        let live = place.live_checkout();
        let proof = verify_carried(repo, &live, &parked.fact, merge).unwrap();
        assert_eq!(proof, Carried::default());
        let after = disk(&self.lab.worktree);
        let expected = expected(&parked.disk, from, into, merge);
        let left: BTreeMap<&Vec<u8>, &Found> = after
            .iter()
            .filter(|(path, found)| **found != Found::Directory && *path != b".git")
            .collect();
        assert_eq!(
            left.keys().map(|path| text(path)).collect::<Vec<_>>(),
            expected.keys().map(|path| text(path)).collect::<Vec<_>>(),
            "the files there are"
        );
        for (path, wanted) in &expected {
            let found = &after[path];
            match wanted {
                Wanted::Same(was) => assert_eq!(found, was, "{}", text(path)),
                Wanted::Blob(entry) => assert!(found.is(entry), "{}: {found:?}", text(path)),
            }
        }
        for (path, found) in &parked.disk {
            let empty = !parked
                .disk
                .keys()
                .any(|other| other.starts_with(&[path.as_slice(), b"/"].concat()));
            if *found == Found::Directory && empty {
                let now = renamed(path, merge).unwrap_or_else(|| path.clone());
                assert_eq!(after.get(&now), Some(&Found::Directory), "{}", text(path));
            }
        }
        self.has_every_byte(parked, &after);
        let settled = settle_carry(place, &live).unwrap();
        assert_eq!(settled, []);
        self.has_every_byte(parked, &disk(&self.lab.worktree));
    }

    /// Git has all that its index and commits name, without the vault.
    fn is_sound(&self) {
        let said = self
            .lab
            .git(&["fsck", "--connectivity-only", "--no-dangling"]);
        assert!(!said.contains("missing"), "{said}");
    }

    /// The promise itself, whatever the rest says.
    fn has_every_byte(&self, parked: &Parked, after: &Disk) {
        let mut there: BTreeSet<&str> = after.values().filter_map(Found::id).collect();
        let commit = self.lab.git(&["ls-tree", "-r", "HEAD"]);
        there.extend(
            commit
                .lines()
                .filter_map(|line| line.split(['\t', ' ']).nth(2)),
        );
        let held = held_by(&parked.repo, &parked.fact);
        there.extend(held.lines());
        for (path, found) in &parked.disk {
            if let Some(id) = found.id()
                && path != b".git"
            {
                assert!(there.contains(id), "{} is lost", text(path));
            }
        }
    }

    fn tree(&self, repo: &Repo, tree: &str) -> Tree {
        let listing = Vault::find(repo)
            .unwrap()
            .git()
            .args(["ls-tree", "-r", "-z", "--full-tree", tree])
            .run()
            .unwrap();
        crate::git::call::fields(&listing)
            .filter(|line| !line.is_empty())
            .map(|line| {
                let line = String::from_utf8_lossy(line).into_owned();
                let (what, path) = line.split_once('\t').unwrap();
                let words: Vec<&str> = what.split(' ').collect();
                let entry = (words[0].to_owned(), words[2].to_owned());
                (path.as_bytes().to_vec(), entry)
            })
            .collect()
    }

    /// The paths of the index.
    fn tracked(&self, parked: &Parked) -> BTreeSet<Vec<u8>> {
        let listing = parked.index.lines();
        listing
            .filter_map(|line| line.split_once('\t'))
            .map(|(_, path)| path.as_bytes().to_vec())
            .collect()
    }
}

/// Every object that the snapshot keeps.
fn held_by(repo: &Repo, fact: &SnapshotFact) -> String {
    Vault::find(repo)
        .unwrap()
        .git()
        .args(["rev-list", "--objects", "--no-object-names", &fact.commit])
        .text()
        .unwrap()
}
