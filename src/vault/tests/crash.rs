//! SIGKILL at any moment of a whole cycle, in a process of its own: what is left always leads back.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::fingerprint::fingerprint;
use super::states::{Lab, all};
use super::{now, saved, scratch, this_test};
use crate::git::*;
use crate::model::InstanceId;
use crate::vault::*;

const VARIABLE: &str = "BIV_TEST_CRASH_DIR";

fn keep(dir: &Path, name: &str, value: &impl serde::Serialize) {
    std::fs::write(dir.join(name), serde_json::to_vec(value).unwrap()).unwrap();
}

fn kept<T: serde::de::DeserializeOwned>(dir: &Path, name: &str) -> Option<T> {
    serde_json::from_slice(&std::fs::read(dir.join(name)).ok()?).ok()
}

/// The part that is killed: pause, thin, resume, with facts written down as the journal would.
fn be_the_victim(dir: &Path) {
    let worktree = dir.join("wt");
    let repo = Repo::discover(&worktree).unwrap();
    let id = InstanceId::random();
    let checkout = Checkout::live(&repo, &worktree).unwrap();
    let fact = saved(&repo, &checkout, &id, 1).unwrap();
    keep(dir, "fact.json", &fact);
    let place = choose_parking(&repo, &worktree, &id, 1).unwrap();
    keep(dir, "place.json", &place);
    park(&place).unwrap();
    thin(&repo, &place, &fact, &ThinPolicy::default(), now()).unwrap();
    refill(&repo, &place).unwrap();
    unpark(&place).unwrap();
    bring_objects_back(&repo, &fact).unwrap();
    settle_refill(&repo, &place.live_checkout()).unwrap();
}

fn start_victim(lab: &Lab) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &this_test("a_kill_at_any_moment_loses_nothing", module_path!()),
            "--quiet",
        ])
        .env(VARIABLE, &lab.home)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Git's own processes die with it, as in a power cut.
        .process_group(0)
        .spawn()
        .unwrap()
}

/// What the next command does: finishes thinning if that was under way (every other time), then
/// brings the worktree back.
fn recover(lab: &Lab, finish_thinning: bool) {
    let Some(place) = kept::<ParkingPlace>(&lab.home, "place.json") else {
        return;
    };
    let fact: SnapshotFact = kept(&lab.home, "fact.json").unwrap();
    let repo = Repo::discover(&lab.main).unwrap();
    if park_state(&place).unwrap() != ParkState::InPlace {
        if finish_thinning && park_state(&place).unwrap() == ParkState::Parked {
            thin(&repo, &place, &fact, &ThinPolicy::default(), now()).unwrap();
        }
        park(&place).unwrap();
        refill(&repo, &place).unwrap();
        unpark(&place).unwrap();
        bring_objects_back(&repo, &fact).unwrap();
    }
    settle_refill(&repo, &place.live_checkout()).unwrap();
}

#[test]
fn a_kill_at_any_moment_loses_nothing() {
    // Started by itself, with a worktree to work on: the one that is killed.
    if let Some(dir) = std::env::var_os(VARIABLE) {
        return be_the_victim(&PathBuf::from(dir));
    }
    const KILLS: u32 = 10;
    for name in ["untracked-many", "rebase-autostash", "modes"] {
        let state = all().into_iter().find(|state| state.name == name).unwrap();
        let home = tempfile::tempdir_in(scratch()).unwrap();
        let lab = state.make(&home.path().canonicalize().unwrap());
        let before = fingerprint(&lab.main, &lab.worktree);
        let started = Instant::now();
        assert!(start_victim(&lab).wait().unwrap().success());
        let whole = started.elapsed();
        for kill in 0..KILLS {
            drop(std::fs::remove_file(lab.home.join("place.json")));
            let mut victim = start_victim(&lab);
            std::thread::sleep(whole * (kill + 1) / (KILLS + 1) + Duration::from_millis(1));
            let group = rustix::process::Pid::from_raw(victim.id().cast_signed()).unwrap();
            // Ended already is as good.
            let _ended = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            victim.wait().unwrap();
            recover(&lab, kill % 2 == 0);
            let after = fingerprint(&lab.main, &lab.worktree);
            let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
            let new: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
            assert!(
                lost.is_empty() && new.is_empty(),
                "{name}, kill {kill}: -{lost:#?} +{new:#?}"
            );
        }
    }
}
