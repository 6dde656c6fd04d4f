//! Dozens that are started at once on a busy machine, while those who watch them come and go.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::dice::Dice;
use crate::post::{process_if_any, start};
use crate::support::busy::Busy;
use crate::support::{Camp, until};

const CALLERS: usize = 8;

fn how_many() -> usize {
    if std::env::var_os("BIV_TEST_LONG").is_some() {
        96
    } else {
        24
    }
}

/// Each daemon connects to tmux anew, and is told to go or killed at any moment of that.
#[test]
fn none_fails_while_daemons_come_and_go() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let keeper = camp.start_shell(&repository, "first", "exec cat");
    let server = server_of(&camp);
    let _busy = Busy::cores_times(3);
    let over = AtomicBool::new(false);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let daemons = scope.spawn(|| {
            let mut dice = Dice::new(4711);
            while !over.load(Ordering::Relaxed) {
                drop(camp.biv(["daemon", "start"]).run());
                dice.let_pass(30);
                match process_if_any(&camp) {
                    Some(daemon) if dice.below(2) == 0 => daemon.kill(),
                    _ => drop(camp.biv(["daemon", "stop"]).run()),
                }
            }
        });
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (camp, repository) = (&camp, &repository);
                scope.spawn(move || {
                    let numbers = (caller..how_many()).step_by(CALLERS);
                    let made = numbers.map(|number| {
                        let title = format!("agent {number}");
                        camp.biv(["new", &title, "-a", "shell", "--", "cat"])
                            .within(&repository.path)
                            .run()
                    });
                    made.filter(|answer| answer.status != Some(0))
                        .map(|answer| format!("{:?} {}", answer.status, answer.said()))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let failures = callers
            .into_iter()
            .flat_map(|caller| caller.join().unwrap())
            .collect();
        over.store(true, Ordering::Relaxed);
        daemons.join().unwrap();
        failures
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(server_of(&camp), server, "the tmux server is another one");
    start(&camp);
    until("all are watched", || {
        crate::post::status(&camp)["watching"] == how_many() + 1
    });
    assert_eq!(keeper.processes().len(), 1);
    let all = camp.list();
    assert_eq!(all.len(), how_many() + 1);
    for one in &all {
        assert_eq!(one.processes().len(), 1, "{}", one.title);
    }
    let doctor = camp.biv(["doctor", "--json"]).run();
    assert_eq!(doctor.status, Some(0), "{}", doctor.said());
}

fn server_of(camp: &Camp) -> String {
    let answer = camp.tmux(&["display-message", "-p", "#{pid}"]);
    String::from_utf8_lossy(&answer.stdout).trim().to_owned()
}
