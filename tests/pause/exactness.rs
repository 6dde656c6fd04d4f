//! Every nasty state through the whole program: paused and resumed, parked and thinned.

use crate::crowd;
use crate::ground::{Ground, differing, state, states};
use crate::states::{State, raw_git};

const WAYS: [(&str, &[&str]); 2] = [("parked", &[]), ("thinned", &["--remove-worktree"])];

/// The worst that a user does to a repository between two operations.
fn meanwhile(ground: &Ground) {
    for args in [
        &["worktree", "prune", "--expire=now"][..],
        &["reflog", "expire", "--all"],
        &["gc", "-q", "--prune=now"],
    ] {
        let settings = [
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "gc.worktreePruneExpire=now",
            "-c",
            "gc.reflogExpire=now",
            "-c",
            "gc.reflogExpireUnreachable=now",
        ];
        let output = raw_git(&ground.lab.main, &[&settings[..], args].concat());
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// What did not come back, empty where all did.
fn there_and_back(ground: &Ground, way: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    let around = ground.surroundings();
    let answer = ground.biv(&[&["pause"], way].concat());
    if answer.status != Some(0) {
        wrong.push(format!("pause: {:?} {}", answer.status, answer.said()));
        return wrong;
    }
    let in_place = |lines: Vec<String>, when: &str| -> Vec<String> {
        lines
            .into_iter()
            .map(|line| format!("{when}: {line}"))
            .collect()
    };
    let (state, unrest) = ground.seen_unrest();
    wrong.extend(in_place(unrest, "paused"));
    wrong.extend(in_place(
        differing(&around, &ground.surroundings()),
        "around",
    ));
    if state != "paused" {
        wrong.push("not paused".to_owned());
    }
    if !way.is_empty() {
        meanwhile(ground);
    }
    let answer = ground.biv(&["resume"]);
    if answer.status != Some(0) {
        wrong.push(format!("resume: {:?} {}", answer.status, answer.said()));
        return wrong;
    }
    wrong.extend(in_place(ground.unrest(), "resumed"));
    wrong.extend(ground.differences());
    wrong
}

/// For each way what went wrong.
fn round_trips(state: &State) -> Vec<Vec<String>> {
    let ground = Ground::adopted(state);
    let adopted = ground.differences();
    assert!(adopted.is_empty(), "adopting changed it: {adopted:?}");
    WAYS.iter()
        .map(|(_, way)| there_and_back(&ground, way))
        .collect()
}

#[test]
fn every_state_comes_back_exactly_parked_and_thinned() {
    let states = states();
    let results = crowd::each(&states, round_trips);
    let mut table = String::from("| state | parked | thinned |\n|---|---|---|\n");
    let mut failures = Vec::new();
    let mut exact = [0; WAYS.len()];
    for (state, result) in states.iter().zip(&results) {
        let mut cells = Vec::new();
        for (number, (way, _)) in WAYS.iter().enumerate() {
            let wrong = match result {
                Ok(ways) => ways.get(number).cloned().unwrap_or_default(),
                Err(panic) => vec![panic.clone()],
            };
            if wrong.is_empty() {
                exact[number] += 1;
                cells.push("exact");
            } else {
                failures.push(format!("{} {way}: {}", state.name, wrong.join("\n    ")));
                cells.push("DIFFERS");
            }
        }
        table.push_str(&["| ", state.name, " | ", &cells.join(" | "), " |\n"].concat());
    }
    let count = states.len();
    for ((way, _), exact) in WAYS.iter().zip(exact) {
        println!("{way}: {exact} of {count} states came back exactly");
    }
    if let Some(path) = std::env::var_os("BIV_WRITE_TABLE") {
        std::fs::write(path, &table).unwrap();
    }
    println!("{table}");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert!(std::env::var_os("STATE").is_some() || count >= 60);
}

#[test]
fn looking_never_writes_the_index() {
    let ground = Ground::adopted(&state("touched-only"));
    let index = ground.lab.admin().join("index");
    let before = std::fs::read(&index).unwrap();
    drop(ground.camp.biv(["list"]).run().ok());
    for command in [&["show"][..], &["diff"], &["diff", "--stat"], &["peek"]] {
        drop(ground.biv(command).ok());
    }
    assert!(
        before == std::fs::read(&index).unwrap(),
        "another process wrote the index"
    );
}
