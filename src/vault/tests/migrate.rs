//! Snapshots that an earlier version has left in the user's repository, and a move into the vault that
//! is cut off anywhere.

use std::path::Path;

use super::fingerprint::fingerprint;
use super::states::{Lab, all, raw_git};
use super::{now, saved, scratch, this_test};
use crate::git::*;
use crate::model::InstanceId;
use crate::vault::migrate::{copy, delete_old_refs, keep, name, old_snapshots, prove};
use crate::vault::repository::Vault;
use crate::vault::*;

struct Paused {
    _home: tempfile::TempDir,
    lab: Lab,
    repo: Repo,
    place: ParkingPlace,
    fact: SnapshotFact,
    before: Vec<String>,
}

/// A worktree as an earlier version has put it away: its snapshot is refs and objects of the user's
/// repository, and there is no vault.
fn paused_by_an_earlier_version(state: &str, thinned: bool) -> Paused {
    let state = all().into_iter().find(|s| s.name == state).unwrap();
    let home = tempfile::tempdir_in(scratch()).unwrap();
    let lab = state.make(&home.path().canonicalize().unwrap());
    let before = fingerprint(&lab.main, &lab.worktree);
    let repo = Repo::discover(&lab.worktree).unwrap();
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &lab.worktree).unwrap();
    let mut fact = saved(&repo, &checkout, &id, 1).unwrap();
    let place = choose_parking(&repo, &lab.worktree, &id, 1).unwrap();
    park(&place).unwrap();
    if thinned {
        thin(&repo, &place, &fact, &ThinPolicy::default(), now()).unwrap();
    }
    let vault = repo.common_dir().join("bivouac/vault");
    let common = repo.common_dir();
    lab.git_in(
        common,
        &[
            "fetch",
            "-q",
            vault.to_str().unwrap(),
            "refs/bivouac/*:refs/bivouac/*",
        ],
    );
    lab.git_in(
        common,
        &["update-ref", "-d", &format!("refs/bivouac-keep/{id}")],
    );
    std::fs::remove_dir_all(vault).unwrap();
    fact.guarded = None;
    Paused {
        _home: home,
        lab,
        repo,
        place,
        fact,
        before,
    }
}

fn collect_garbage(common: &Path) {
    for args in [
        &[
            "reflog",
            "expire",
            "--expire=now",
            "--expire-unreachable=now",
            "--all",
        ][..],
        &["gc", "-q", "--prune=now"],
        &["prune", "--expire=now"],
    ] {
        let output = raw_git(common, args);
        assert!(output.status.success(), "{args:?}: {output:?}");
    }
}

impl Paused {
    /// Everything is in the vault, nothing of ours but the keep-ref is left in the repository, and the
    /// worktree comes back as it was although all garbage was collected.
    fn assert_moved(&self, what: &str) {
        let common = self.repo.common_dir();
        let refs = self
            .lab
            .git_in(common, &["for-each-ref", "--format=%(refname)"]);
        let ours: Vec<&str> = refs
            .lines()
            .filter(|name| name.contains("bivouac"))
            .collect();
        let kept = format!("refs/bivouac-keep/{}", self.fact.instance().unwrap());
        assert_eq!(ours, [kept.as_str()], "{what}");
        collect_garbage(common);
        let vault = Vault::find(&self.repo).unwrap();
        let fsck = vault
            .git()
            .args(["fsck", "--full", "--strict"])
            .output()
            .unwrap();
        assert!(fsck.success(), "{what}: {}", fsck.stderr_text());
        refill(&self.repo, &self.place).unwrap();
        unpark(&self.place).unwrap();
        bring_objects_back(&self.repo, &self.fact).unwrap();
        let live = self.place.live_checkout();
        settle_refill(&self.repo, &live).unwrap();
        assert_eq!(
            verify_snapshot(&self.repo, &live, &self.fact, None).unwrap(),
            Verification::Equal,
            "{what}"
        );
        let after = fingerprint(&self.lab.main, &self.lab.worktree);
        let lost: Vec<_> = self
            .before
            .iter()
            .filter(|line| !after.contains(line))
            .collect();
        let new: Vec<_> = after
            .iter()
            .filter(|line| !self.before.contains(line))
            .collect();
        assert!(
            lost.is_empty() && new.is_empty(),
            "{what}: -{lost:#?} +{new:#?}"
        );
    }
}

const STATES: [&str; 3] = ["untracked-many", "rebase-autostash", "modes"];

#[test]
fn old_snapshots_are_moved_at_the_first_use() {
    for state in STATES {
        for thinned in [false, true] {
            let what = format!("{state}, thinned: {thinned}");
            let paused = paused_by_an_earlier_version(state, thinned);
            snapshot_diff_stat(&paused.repo, &paused.fact, None).unwrap();
            paused.assert_moved(&what);
        }
    }
}

/// Each phase writes to the disk and ends; a crash behind it leaves what is there then.
#[test]
fn a_move_that_is_cut_off_behind_any_phase_is_completed() {
    for (state, thinned) in [("rebase-autostash", true), ("untracked-many", false)] {
        for phases in 0..=4 {
            let what = format!("{state}, cut off behind phase {phases}");
            let paused = paused_by_an_earlier_version(state, thinned);
            let old = old_snapshots(&paused.repo).unwrap();
            assert_eq!(old.len(), 1 + usize::from(thinned));
            let vault = Vault::made_without_old_snapshots(&paused.repo);
            if phases > 0 {
                let (copied, left) = copy(&vault, old).unwrap();
                assert_eq!(left.len(), 0, "{what}");
                if phases > 1 {
                    name(&vault, &copied).unwrap();
                }
                if phases > 2 {
                    prove(&vault, &copied).unwrap();
                    keep(&vault, &copied).unwrap();
                }
                if phases > 3 {
                    delete_old_refs(&paused.repo, &copied).unwrap();
                }
            }
            collect_garbage(paused.repo.common_dir());
            Vault::find(&paused.repo).unwrap();
            paused.assert_moved(&what);
        }
    }
}

const VARIABLE: &str = "BIV_TEST_TAKEOVER_DIR";

/// SIGKILL at any moment of the move, with the git processes that it runs.
#[test]
fn a_kill_at_any_moment_of_the_move_loses_nothing() {
    use std::os::unix::process::CommandExt;
    // Started by itself, with a repository to work on: the one that is killed.
    if let Some(dir) = std::env::var_os(VARIABLE) {
        let repo = Repo::discover(Path::new(&dir)).unwrap();
        drop(Vault::open(&repo).unwrap());
        return;
    }
    const KILLS: u32 = 8;
    let start = |paused: &Paused| {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--quiet"])
            .arg(this_test(
                "a_kill_at_any_moment_of_the_move_loses_nothing",
                module_path!(),
            ))
            .env(VARIABLE, &paused.lab.main)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap()
    };
    let whole = {
        let paused = paused_by_an_earlier_version("rebase-autostash", true);
        let started = std::time::Instant::now();
        assert!(start(&paused).wait().unwrap().success());
        started.elapsed()
    };
    for kill in 0..KILLS {
        let paused = paused_by_an_earlier_version("rebase-autostash", true);
        let mut victim = start(&paused);
        std::thread::sleep(whole * (kill + 1) / (KILLS + 1));
        let group = rustix::process::Pid::from_raw(victim.id().cast_signed()).unwrap();
        // Ended already is as good.
        let _ended = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        victim.wait().unwrap();
        collect_garbage(paused.repo.common_dir());
        drop(Vault::open(&paused.repo).unwrap());
        paused.assert_moved(&format!("kill {kill}"));
    }
}

/// Two processes at once: both come through, and what they leave is whole.
#[test]
fn two_may_move_at_once() {
    let paused = paused_by_an_earlier_version("untracked-many", true);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| Vault::open(&paused.repo).unwrap());
        }
    });
    paused.assert_moved("two at once");
}

/// One that lacks objects stays where it is; it holds up nothing else.
#[test]
fn a_damaged_old_snapshot_holds_up_nothing() {
    let paused = paused_by_an_earlier_version("untracked-many", false);
    let common = paused.repo.common_dir();
    let tree = paused.lab.git_in(common, &["rev-parse", "HEAD^{tree}"]);
    let parent = paused.repo.null_id().replace('0', "1");
    let text = format!(
        "tree {tree}\nparent {parent}\nauthor B <bivouac@localhost> 1 +0000\n\
         committer B <bivouac@localhost> 1 +0000\n\nbivouac: bbbbbbbbbb #1\n"
    );
    let broken = paused
        .repo
        .git()
        .args([
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--stdin",
            "--literally",
        ])
        .stdin(text)
        .text()
        .unwrap();
    let reference = format!("refs/bivouac/{}/1", InstanceId::random());
    let file = common.join(&reference);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, format!("{broken}\n")).unwrap();
    assert_eq!(
        verify_snapshot(&paused.repo, &paused.place.checkout(), &paused.fact, None).unwrap(),
        Verification::Equal
    );
    assert!(file.exists());
    std::fs::remove_file(file).unwrap();
    paused.assert_moved("beside a damaged one");
}
