//! Another process goes on writing into the worktree while it is paused: a process that is no part of the
//! instance. What it was told is written must be there afterwards.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::crowd;
use crate::dice::Dice;
use crate::ground::{Ground, long, state};

/// Writes files one after another, in the directory that it stands in, and says each that it wrote.
const FROM_WITHIN: &str =
    r#"i=0; while :; do echo "$i" > "late-$i" && echo "$i"; i=$((i+1)); sleep "$PACE"; done"#;
/// The same by the whole path, for as long as that is there.
const BY_PATH: &str = r#"d=$PWD; cd /; i=0; while :; do echo "$i" > "$d/late-$i" && echo "$i" || exit 0; i=$((i+1)); sleep "$PACE"; done"#;
/// Writes one file again and again, each time as a whole, by the whole path.
const ONE_FILE: &str = r#"d=$PWD; cd /; i=0; while :; do echo "$i" > "$d/.tmp$$" && mv "$d/.tmp$$" "$d/counter" && echo "$i" || exit 0; i=$((i+1)); sleep "$PACE"; done"#;

/// Seconds between two writes: a pause is taken back where they never cease, and done where it finds
/// a moment between them.
const PACES: [&str; 4] = ["0.003", "0.05", "0.1", "0.2"];

fn writes_while_pausing(script: &str, way: &[&str], seed: u64) -> Vec<String> {
    let ground = Ground::made(&state("mixed"));
    let worktree = ground.lab.worktree.clone();
    let mut writer = Command::new("sh")
        .args(["-c", script])
        .env("PACE", PACES[seed as usize % PACES.len()])
        .current_dir(&worktree)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    Dice::new(seed).let_pass(150);
    let answer = ground.biv(&[&["pause"], way].concat());
    let paused = answer.status;
    writer.kill().unwrap();
    writer.wait().unwrap();
    let written: Vec<String> = reader.join().unwrap();
    // Taken back, or cut off behind its line: with the writer gone it comes to rest.
    drop(ground.camp.biv(["list"]).run());
    let state = ground.state();
    let mut wrong: Vec<String> = ground.unrest();
    if state == "paused" && script == BY_PATH {
        // Its path is gone: then the snapshot has all of it, too.
        let saved = ground.show()["pause"]["snapshot"]
            .as_str()
            .map(|reference| {
                let tree = format!("{reference}^3");
                let vault = ground.parking().join("vault");
                let list = ["ls-tree", "--name-only", &tree];
                ground.lab.git_in(&vault, &list)
            })
            .unwrap_or_default();
        let saved: Vec<&str> = saved.lines().collect();
        let missing = written
            .iter()
            .filter(|number| !saved.contains(&format!("late-{number}").as_str()))
            .count();
        if missing > 0 {
            wrong.push(format!("the snapshot misses {missing} files"));
        }
    }
    if state == "paused" {
        let answer = ground.biv(&["resume"]);
        if answer.status != Some(0) {
            wrong.push(format!("resume: {}", answer.said()));
        }
    }
    if written.is_empty() {
        wrong.push("the writer wrote nothing".to_owned());
    }
    if script == ONE_FILE {
        let found = std::fs::read_to_string(worktree.join("counter")).unwrap_or_default();
        let last: i64 = written.last().map_or(-1, |line| line.parse().unwrap());
        if found.trim().parse::<i64>().unwrap_or(-1) < last {
            wrong.push(format!("{last} was written, {found:?} is there"));
        }
    } else {
        for number in &written {
            let found = std::fs::read_to_string(worktree.join(format!("late-{number}")));
            if found.ok().as_deref() != Some(&format!("{number}\n")) {
                wrong.push(format!("late-{number} of {} is lost", written.len()));
            }
        }
    }
    let before = (state, paused);
    wrong
        .into_iter()
        .map(|line| format!("{way:?}, seed {seed}, {before:?}: {line}"))
        .collect()
}

#[test]
fn what_is_written_during_a_pause_is_there_afterwards() {
    let seeds = if long() { 40 } else { 4 };
    let mut cases: Vec<(&str, &[&str], u64)> = Vec::new();
    for script in [FROM_WITHIN, BY_PATH, ONE_FILE] {
        for way in [&[][..], &["--remove-worktree"]] {
            cases.extend((0..seeds).map(|seed| (script, way, seed)));
        }
    }
    let results = crowd::each(&cases, |(script, way, seed)| {
        writes_while_pausing(script, way, *seed)
    });
    let losses: Vec<String> = results
        .into_iter()
        .flat_map(|result| result.unwrap_or_else(|panic| vec![panic]))
        .collect();
    assert!(losses.is_empty(), "\n{}", losses.join("\n"));
}
