//! The power goes off: what was not on the disk by then is gone.

use std::time::Duration;

use crate::crowd;
use crate::ground::{Ground, long, state};
use crate::support::mount::Mount;
use crate::support::root::mounts_left_out;

/// Cuts the power so long after the program was done, or was killed at a place, and looks what the
/// disk still has.
fn cut(
    prepare: &[&[&str]],
    operation: &[&str],
    place: Option<&str>,
    wait: Duration,
) -> Vec<String> {
    let disk = Mount::disk(192);
    let mut ground = Ground::made_below(&state("mixed"), &disk.path());
    for command in prepare {
        drop(ground.biv(command).ok());
    }
    if prepare.is_empty() {
        // A pause answers for the work as the program found it, not for what the disk had before.
    } else {
        rustix::fs::syncfs(std::fs::File::open(disk.path()).unwrap()).unwrap();
    }
    let from = ground.state();
    match place {
        None => drop(ground.biv(operation).ok()),
        Some(place) => drop(ground.call(operation).crash_at(place).run().crashed()),
    }
    // Linux writes back by age; that is the only thing that time changes here.
    std::thread::sleep(wait);
    let moment = disk.moment();
    ground.camp.end_server();
    for process in ground.instance.processes() {
        process.kill();
    }
    disk.return_to(&moment);
    ground.camp = ground.camp.with("BIV_TEST_BOOT", "the next one");
    drop(ground.camp.biv(["list"]).run());
    let to = if operation[0] == "pause" {
        "paused"
    } else {
        "running"
    };
    let allowed: Vec<&str> = match place {
        None if operation[0] == "pause" => vec!["paused"],
        _ => vec![&from, to, "interrupted"],
    };
    ground
        .losses(&allowed)
        .into_iter()
        .map(|line| format!("{operation:?} {place:?} after {wait:?}: {line}"))
        .collect()
}

type Case = (
    &'static [&'static [&'static str]],
    &'static [&'static str],
    Option<&'static str>,
    Duration,
);

#[test]
fn what_a_pause_has_said_survives_a_power_cut() {
    if mounts_left_out() {
        return;
    }
    let waits: &[u64] = if long() {
        &[0, 2, 7, 20, 35]
    } else {
        &[0, 2, 7]
    };
    let mut cases: Vec<Case> = Vec::new();
    for wait in waits {
        let wait = Duration::from_secs(*wait);
        cases.push((&[], &["pause"], None, wait));
        cases.push((&[], &["pause", "--remove-worktree"], None, wait));
    }
    run(&cases);
}

#[test]
fn a_power_cut_in_the_middle_of_an_operation_loses_nothing() {
    if mounts_left_out() {
        return;
    }
    let waits: &[u64] = if long() { &[0, 2, 7] } else { &[0] };
    let places: &[&'static str] = &[
        "pause:verify-snapshot:after",
        "pause:close-session:after",
        "pause:free-worktree:before",
        "pause:free-worktree:after",
        "pause:thin-worktree:after",
        "pause:record:after",
    ];
    let back: &[&'static str] = &[
        "resume:bring-worktree:after",
        "resume:open-session:after",
        "resume:record:after",
        "resume:release-snapshot:after",
    ];
    let mut cases: Vec<Case> = Vec::new();
    for wait in waits {
        let wait = Duration::from_secs(*wait);
        for place in places {
            // Before the work is saved nothing is promised: the disk has it first.
            cases.push((&[&["pause"], &["resume"]], &["pause"], Some(place), wait));
            let way = &["pause", "--remove-worktree"];
            cases.push((&[&["pause"], &["resume"]], way, Some(place), wait));
        }
        for place in back {
            cases.push((&[&["pause"]], &["resume"], Some(place), wait));
            let thinned: &[&[&str]] = &[&["pause", "--remove-worktree"]];
            cases.push((thinned, &["resume"], Some(place), wait));
        }
    }
    if !long() {
        // The name of a released snapshot is a new file; the disk gets its content seconds later.
        let place = Some("resume:release-snapshot:after");
        cases.push((&[&["pause"]], &["resume"], place, Duration::from_secs(7)));
    }
    run(&cases);
}

fn run(cases: &[Case]) {
    let results = crowd::each(cases, |(prepare, operation, place, wait)| {
        cut(prepare, operation, *place, *wait)
    });
    let losses: Vec<String> = results
        .into_iter()
        .flat_map(|result| result.unwrap_or_else(|panic| vec![panic]))
        .collect();
    assert!(losses.is_empty(), "\n{}", losses.join("\n"));
}
