//! Figures against what people do by hand. Not a test of every run: `cargo test --release git::tests::speed -- --ignored --nocapture`.

use std::path::Path;
use std::time::{Duration, Instant};

use super::states::raw_git;
use crate::git::*;
use crate::model::{InstanceId, Timestamp};

const TRACKED: usize = 20_000;
const CHANGED: usize = 10;
const UNTRACKED: usize = 5_000;
const IGNORED: usize = 30_000;

fn git(dir: &Path, args: &[&str]) {
    let output = raw_git(dir, args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn files(dir: &Path, prefix: &str, count: usize) {
    for n in 0..count {
        let path = dir.join(format!("{prefix}{}/{}/f{n}.txt", n % 20, n % 400 / 20));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{prefix} {n}\n").repeat(20 + n % 150)).unwrap();
    }
}

fn dirty(worktree: &Path, ignored: usize) {
    for n in 0..CHANGED {
        let path = worktree.join(format!("src{}/{}/f{n}.txt", n % 20, n % 400 / 20));
        std::fs::write(path, "changed\n").unwrap();
    }
    files(worktree, "new", UNTRACKED);
    files(&worktree.join("node_modules"), "lib", ignored);
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    let took = started.elapsed();
    println!("{name:<58} {:>9.1} ms", took.as_secs_f64() * 1000.0);
    (result, took)
}

#[test]
#[ignore = "takes minutes and measures the machine"]
fn pause_and_resume_against_stash() {
    let top = std::env::var("SPEED_DIR").unwrap_or_else(|_| "/dev/shm".to_owned());
    let home = tempfile::tempdir_in(top).unwrap();
    let home = home.path();
    let main = home.join("main");
    std::fs::create_dir(&main).unwrap();
    git(&main, &["init", "-q", "-b", "main"]);
    for (key, value) in [("user.name", "T"), ("user.email", "t@t"), ("gc.auto", "0")] {
        git(&main, &["config", key, value]);
    }
    files(&main, "src", TRACKED);
    std::fs::write(main.join(".gitignore"), "node_modules/\n").unwrap();
    git(&main, &["add", "-A"]);
    git(&main, &["commit", "-qm", "all"]);
    git(&main, &["repack", "-adq"]);
    let now = Timestamp::parse("2026-11-14T18:02:03Z").unwrap();
    for round in 0..3 {
        let naive = home.join(format!("naive{round}"));
        let name = naive.to_str().unwrap();
        let (_, added) = timed("git worktree add", || {
            git(
                &main,
                &["worktree", "add", "-q", "-b", &format!("n{round}"), name],
            );
        });
        dirty(&naive, IGNORED);
        rustix::fs::sync();
        let (_, pause) = timed("git stash -u + git worktree remove", || {
            git(&naive, &["stash", "push", "-q", "-u"]);
            git(&main, &["worktree", "remove", "--force", name]);
        });
        let (_, resume) = timed("git worktree add + git stash pop --index", || {
            git(
                &main,
                &["worktree", "add", "-q", name, &format!("n{round}")],
            );
            git(&naive, &["stash", "pop", "-q", "--index"]);
        });
        for ignored in [IGNORED, 0] {
            let path = home.join(format!("ours{round}-{ignored}"));
            let repo = Repo::discover(&main).unwrap();
            let plan = AddWorktree {
                path: path.clone(),
                branch: BranchPlan::New {
                    name: format!("o{round}-{ignored}"),
                    start_commit: repo.resolve("main").unwrap().unwrap(),
                },
                resume_partial: false,
            };
            timed("add_worktree", || repo.add_worktree(&plan).unwrap());
            dirty(&path, ignored);
            rustix::fs::sync();
            let id = InstanceId::random();
            let checkout = Checkout::live(&repo, &path).unwrap();
            timed("  preflight", || preflight(&repo, &checkout).unwrap());
            timed("    read index", || {
                super::super::index::Index::read(&repo, &checkout).unwrap()
            });
            timed("    untracked", || {
                super::super::survey::untracked(&checkout).unwrap()
            });
            timed("    survey", || {
                super::super::survey::survey(&repo, &checkout, super::super::survey::Depth::All)
                    .unwrap()
            });
            let started = Instant::now();
            let (fact, _) = timed("  take_snapshot", || {
                take_snapshot(&repo, &checkout, &id, 1, now).unwrap()
            });
            timed("  verify_snapshot", || {
                assert_eq!(
                    verify_snapshot(&repo, &checkout, &fact).unwrap(),
                    Verification::Equal
                );
            });
            let (place, _) = timed("  choose_parking", || {
                choose_parking(&repo, &path, &id, 1).unwrap()
            });
            timed("  park", || park(&place).unwrap());
            timed("  verify_snapshot, parked", || {
                assert_eq!(
                    verify_snapshot(&repo, &place.checkout(), &fact).unwrap(),
                    Verification::Equal
                );
            });
            let ours = started.elapsed();
            let (_, back) = timed("  unpark", || unpark(&place).unwrap());
            timed("  git status after it", || git(&path, &["status"]));
            park(&place).unwrap();
            timed("  thin", || {
                thin(&repo, &place, &fact, &ThinPolicy::default(), now).unwrap();
            });
            let (_, full) = timed("  refill + unpark", || {
                refill(&repo, &place).unwrap();
                unpark(&place).unwrap();
            });
            timed("  git status after it", || git(&path, &["status"]));
            timed("  settle_refill", || {
                settle_refill(&repo, &place.live_checkout()).unwrap()
            });
            println!(
                "=> {ignored} ignored: pause {:.1} ms, {:.1} x faster than stash; resume {:.0} x faster; thinned resume {:.2} x worktree add",
                ours.as_secs_f64() * 1000.0,
                pause.as_secs_f64() / ours.as_secs_f64(),
                resume.as_secs_f64() / back.as_secs_f64(),
                full.as_secs_f64() / added.as_secs_f64(),
            );
            std::fs::remove_dir_all(&path).unwrap();
        }
        git(&main, &["worktree", "remove", "--force", name]);
    }
}
