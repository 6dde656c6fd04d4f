//! Several processes that want different things of one instance.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::dice::Dice;
use crate::ground::{Ground, long, state};
use crate::support::until;

const WISHES: [&[&str]; 6] = [
    &["pause"],
    &["pause", "--remove-worktree"],
    &["resume"],
    &["restart", "-y"],
    &["send", "hello"],
    &["kill", "-y"],
];

/// Done, no such instance (it was killed), wrong state, busy: nothing else may be the answer.
const ANSWERS: [i32; 4] = [0, 3, 4, 7];

fn crowd_of(processes: u64, wishes: u64) {
    let ground = Ground::made(&state("mixed"));
    let done = AtomicBool::new(false);
    let strange = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let actors: Vec<_> = (0..processes)
            .map(|number| {
                let (ground, strange) = (&ground, &strange);
                scope.spawn(move || {
                    let mut dice = Dice::new(number * 31 + processes);
                    for _ in 0..wishes {
                        let wish = dice.one_of(&WISHES);
                        let answer = ground.biv(wish);
                        if !answer
                            .status
                            .is_some_and(|status| ANSWERS.contains(&status))
                        {
                            let said = format!("{wish:?}: {:?} {}", answer.status, answer.said());
                            strange.lock().unwrap().push(said);
                        }
                        if wish[0] == "kill" {
                            drop(ground.biv(&["undo-kill"]));
                        }
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let agents = ground.instance.processes();
                if agents.len() > 1 {
                    strange
                        .lock()
                        .unwrap()
                        .push(format!("two agents: {agents:?}"));
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        for actor in actors {
            actor.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let mut wrong = strange.into_inner().unwrap();
    drop(ground.camp.biv(["list"]).run());
    wrong.extend(ground.losses(&["running", "paused", "killed", "failed"]));
    assert!(
        wrong.is_empty(),
        "{processes} processes:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn two_processes_never_start_two_agents() {
    crowd_of(2, if long() { 60 } else { 8 });
}

#[test]
fn eight_processes_never_start_two_agents() {
    crowd_of(8, if long() { 40 } else { 4 });
}

#[test]
fn who_comes_second_waits_a_while_and_is_told_who_holds_it() {
    let camp = crate::ground::camp();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "t", &["-p", "/busy 600"]);
    instance.wait_for(&camp, "activity", "busy");
    let mut pausing = camp
        .biv(["pause", "--wait", "forever", &instance.id])
        .in_background();
    instance.wait_for(&camp, "state", "pausing");
    let begun = Instant::now();
    let answer = camp.biv(["restart", "-y", &instance.id]).run().fails(7);
    let waited = begun.elapsed();
    assert!(
        (Duration::from_secs(4)..Duration::from_secs(8)).contains(&waited),
        "{waited:?}"
    );
    let holder = format!("pause (process {})", pausing.id());
    assert!(answer.said().contains(&holder), "{}", answer.said());
    drop(camp.biv(["pause", "--cancel", &instance.id]).run().ok());
    pausing.wait().unwrap();
    until("it runs on", || camp.show(&instance)["state"] == "running");
}
