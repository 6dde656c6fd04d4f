//! A disk that is full, or fills up at the worst moment.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::crowd;
use crate::ground::{Ground, long, state};
use crate::support::mount::Mount;
use crate::support::root::mounts_left_out;

const KILO: u64 = 1 << 10;

type Command = &'static [&'static str];
/// What is tried, what is done before it, and how little space (or which step) it has.
type Case<T> = (T, &'static [Command], Command);

/// Pauses (or resumes) with this much space; afterwards, with space again, nothing may be missing.
fn with_little_space(free: u64, prepare: &[&[&str]], operation: &[&str]) -> Vec<String> {
    let disk = Mount::small(160);
    let ground = Ground::made_below(&state("mixed"), &disk.path());
    for command in prepare {
        drop(ground.biv(command).ok());
    }
    let from = ground.state();
    disk.fill(free);
    let answer = ground.biv(operation);
    let mut wrong = Vec::new();
    if answer.status != Some(0) && answer.said().trim().is_empty() {
        wrong.push("it failed without a word".to_owned());
    }
    disk.relieve();
    drop(ground.camp.biv(["list"]).run().ok());
    let to = if operation[0] == "pause" {
        "paused"
    } else {
        "running"
    };
    wrong.extend(ground.losses(&[&from, to, "failed"]));
    wrong
        .into_iter()
        .map(|line| {
            format!(
                "{operation:?} with {free} bytes: {:?}: {line}",
                answer.status
            )
        })
        .collect()
}

#[test]
fn with_any_space_left_the_work_stays_whole() {
    if mounts_left_out() {
        return;
    }
    let mut sizes: Vec<u64> = vec![0, 4 * KILO, 64 * KILO, 1024 * KILO, 66_000 * KILO];
    if long() {
        sizes.extend((1..64).map(|number| number * 4 * KILO));
        sizes.extend((1..40).map(|number| number * 2048 * KILO));
    }
    let thinned: &'static [Command] = &[&["pause", "--remove-worktree"]];
    let mut cases: Vec<Case<u64>> = Vec::new();
    for size in sizes {
        cases.push((size, &[], &["pause"]));
        cases.push((size, &[], &["pause", "--remove-worktree"]));
        cases.push((size, thinned, &["resume"]));
    }
    report(crowd::each(&cases, |(size, prepare, operation)| {
        with_little_space(*size, prepare, operation)
    }));
}

/// The space runs out when the operation has come to this step.
fn full_at(step: &str, prepare: &[&[&str]], operation: &[&str]) -> Vec<String> {
    let disk = Mount::small(160);
    let ground = Ground::made_below(&state("mixed"), &disk.path());
    for command in prepare {
        drop(ground.biv(command).ok());
    }
    let from = ground.state();
    let journal = ground.camp.instances_dir().join(&ground.instance.id);
    let journal = journal.join("journal.jsonl");
    let sign = format!("{{\"entry\":\"intend\",\"step\":\"{step}\"");
    let over = AtomicBool::new(false);
    let answer = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let text = std::fs::read_to_string(&journal).unwrap_or_default();
                if text.contains(&format!("\"operation\":\"{}\"", operation[0]))
                    && text.contains(&sign)
                {
                    disk.fill(0);
                    return;
                }
            }
        });
        let answer = ground.biv(operation);
        over.store(true, Ordering::Relaxed);
        answer
    });
    disk.relieve();
    drop(ground.camp.biv(["list"]).run().ok());
    let to = if operation[0] == "pause" {
        "paused"
    } else {
        "running"
    };
    ground
        .losses(&[&from, to, "failed"])
        .into_iter()
        .map(|line| {
            format!(
                "{operation:?}, full at {step}: {:?} {}: {line}",
                answer.status,
                answer.said()
            )
        })
        .collect()
}

#[test]
fn a_disk_that_fills_up_at_any_step_loses_nothing() {
    if mounts_left_out() {
        return;
    }
    let thinned: &'static [Command] = &[&["pause", "--remove-worktree"]];
    let mut cases: Vec<Case<&str>> = Vec::new();
    for step in [
        "quiesce",
        "save-terminal",
        "stop-agent",
        "snapshot",
        "verify-snapshot",
        "close-session",
        "free-worktree",
        "thin-worktree",
        "record",
    ] {
        cases.push((step, &[], &["pause", "--remove-worktree"]));
        if long() {
            cases.push((step, &[], &["pause"]));
        }
    }
    for step in [
        "bring-worktree",
        "open-session",
        "start-agent",
        "record",
        "release-snapshot",
    ] {
        cases.push((step, thinned, &["resume"]));
    }
    report(crowd::each(&cases, |(step, prepare, operation)| {
        full_at(step, prepare, operation)
    }));
}

fn report(results: Vec<Result<Vec<String>, String>>) {
    let losses: Vec<String> = results
        .into_iter()
        .flat_map(|result| result.unwrap_or_else(|panic| vec![panic]))
        .collect();
    assert!(losses.is_empty(), "\n{}", losses.join("\n"));
}
