//! Harm that comes from outside, at any moment: everything of the program killed, the tmux server
//! killed, the agent killed.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::crowd;
use crate::dice::Dice;
use crate::ground::{Ground, long, state};
use crate::support::{processes_with, until};

const ANY: [&str; 6] = [
    "running",
    "paused",
    "completed",
    "failed",
    "interrupted",
    "killed",
];

/// What is done, from running or (with a pause first) from paused.
const OPERATIONS: [(&[&[&str]], &[&str]); 6] = [
    (&[], &["pause"]),
    (&[], &["pause", "--remove-worktree"]),
    (&[&["pause"]], &["resume"]),
    (&[&["pause", "--remove-worktree"]], &["resume"]),
    (&[], &["restart", "-y"]),
    (&[], &["kill", "-y"]),
];

/// Longer than any of these operations takes when nothing is in its way.
const LONGEST_MS: u64 = 300;

fn rounds() -> u64 {
    if long() { 60 } else { 5 }
}

/// Strikes at random moments of each operation, and looks what is lost.
fn strikes(strike: impl Fn(&Ground, &mut Child) + Sync) {
    let results = crowd::each(&OPERATIONS, |(prepare, operation)| {
        let ground = Ground::made(&state("mixed"));
        let mut dice = Dice::new(operation.len() as u64 + prepare.len() as u64 * 7);
        let mut losses = Vec::new();
        for round in 0..rounds() {
            for command in *prepare {
                drop(ground.biv(command).ok());
            }
            let mut child = ground.call(operation).in_background();
            dice.let_pass(LONGEST_MS);
            strike(&ground, &mut child);
            child.wait().unwrap();
            drop(ground.camp.biv(["list"]).run());
            for loss in ground.losses(&ANY) {
                losses.push(format!("{operation:?}, round {round}: {loss}"));
            }
        }
        losses
    });
    let losses: Vec<String> = results
        .into_iter()
        .flat_map(|result| result.unwrap_or_else(|panic| vec![panic]))
        .collect();
    assert!(losses.is_empty(), "\n{}", losses.join("\n"));
}

pub(crate) fn pid(raw: u32) -> Pid {
    Pid::from_raw(i32::try_from(raw).unwrap()).unwrap()
}

/// SIGKILL for this home's tmux server; none may be running.
pub(crate) fn kill_server(ground: &Ground) {
    let answer = ground.camp.tmux(&["display-message", "-p", "#{pid}"]);
    let text = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    if let Ok(raw) = text.parse::<u32>() {
        kill_process(pid(raw), Signal::KILL).ok();
        until("the server is gone", || {
            !std::path::Path::new(&format!("/proc/{raw}")).exists()
        });
    }
}

#[test]
fn everything_of_the_program_can_be_killed_at_any_moment() {
    strikes(|_, child| {
        // It may be done already.
        kill_process_group(pid(child.id()), Signal::KILL).ok();
    });
}

#[test]
fn the_tmux_server_can_be_killed_at_any_moment() {
    strikes(|ground, _| kill_server(ground));
}

#[test]
fn the_agent_can_die_at_any_moment() {
    strikes(|ground, _| {
        for process in ground.instance.processes() {
            process.kill();
        }
    });
}

/// An agent that outlives its server has no session any more: the next start ends it.
#[test]
fn an_agent_that_outlives_its_server_is_not_joined_by_another() {
    let ground = Ground::made(&state("mixed"));
    let stubborn = "trap '' HUP TERM; while :; do sleep 0.2; done";
    let other = ground
        .camp
        .start_shell(&ground.camp.repository("other"), "stubborn", stubborn);
    kill_server(&ground);
    let marker = format!("BIV_INSTANCE={}", other.id);
    let alive = || {
        processes_with(&marker)
            .into_iter()
            .filter(|process| process.command.contains("trap"))
            .count()
    };
    assert_eq!(alive(), 1, "the agent was to outlive its server");
    assert_eq!(ground.camp.show(&other)["state"], "interrupted");
    drop(ground.camp.biv(["resume", &other.id]).run().ok());
    assert_eq!(alive(), 1, "there must be one agent, the new one");
    assert_eq!(ground.camp.show(&other)["state"], "running");
    ground.camp.kill(&other);
    assert_eq!(alive(), 0);
    assert_eq!(ground.losses(&["interrupted"]), Vec::<String>::new());
}

/// A server does what it was asked also when the asker is dead, and it may do so late: after the
/// operation was taken back.
#[test]
fn a_session_that_comes_too_late_goes_by_itself() {
    let ground = Ground::made(&state("mixed"));
    let other = ground
        .camp
        .start_shell(&ground.camp.repository("other"), "other", "cat");
    drop(ground.biv(&["pause"]).ok());
    let session = format!("biv-{}", ground.instance.id);
    let gate = format!("launch-{}.sock", ground.instance.id);
    let biv = env!("CARGO_BIN_EXE_biv");
    let opened = ground.camp.tmux(&[
        "new-session",
        "-d",
        "-s",
        &session,
        "--",
        biv,
        "__launch",
        &gate,
    ]);
    assert!(opened.status.success(), "{opened:?}");
    until("its launcher has found no caller and is gone", || {
        !ground.camp.sessions().contains(&session)
    });
    assert_eq!(ground.losses(&["paused"]), Vec::<String>::new());
    ground.camp.kill(&other);
}
