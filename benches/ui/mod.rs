//! The terminal UI: how soon it is there, how soon it answers, and what it costs to leave it open.

mod screen;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::TRACKED;
use crate::support::{Bench, Camp, Row, median_ms};
pub(crate) use screen::Screen;

pub(crate) const IDLE: Duration = Duration::from_secs(20);
const COMMITS: usize = 200;

pub(crate) fn rows(bench: &mut Bench) {
    ten_in_a_large_repository(bench, TRACKED);
    two_hundred(bench);
    coloured_diff(bench);
}

/// A key while a diff of 5,000 coloured lines is open.
fn coloured_diff(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(50);
    populate(&camp, &repository, 1);
    let line = |n: usize| format!("    let value_{n} = call(\"{n}\", {n}); // number {n}\n");
    let text: String = (0..5_000).map(line).collect();
    std::fs::write(camp.worktree("agent 0").join("long.rs"), text).ok();
    let mut screen = Screen::open(&camp, &repository);
    screen.until("agent 0");
    screen.pressed(b"\t");
    screen.until("long.rs");
    screen.settle();
    let mut down = false;
    let key = median_ms(41, || {
        down = !down;
        screen.pressed(if down { b"J" } else { b"K" })
    });
    bench.row(Row::below(
        "ui-key-diff",
        "UI, key to screen, 5,000 coloured lines of diff",
        key,
        16.0,
        "ms",
    ));
}

fn ten_in_a_large_repository(bench: &mut Bench, tracked: usize) {
    let camp = Camp::new();
    let repository = camp.repository(tracked);
    populate(&camp, &repository, 10);
    let first = median_ms(9, || Screen::open(&camp, &repository).until("bivouac"));
    bench.row(Row::below(
        "ui-first",
        "UI, first frame",
        first,
        100.0,
        "ms",
    ));
    let listed = median_ms(9, || Screen::open(&camp, &repository).until("agent 0"));
    bench.row(Row::below(
        "ui-list",
        "UI, 10 instances on the screen",
        listed,
        100.0,
        "ms",
    ));
    idle(
        bench,
        "ui-idle-10",
        &format!("UI open, 10 idle instances, {tracked} files"),
        &camp,
        &repository,
    );
    let failed = disturbed_commits(&camp, &repository);
    bench.row(Row::below(
        "ui-commits",
        "an agent's commits that fail while the UI is open, of 200",
        failed,
        1.0,
        "",
    ));
}

fn two_hundred(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(50);
    populate(&camp, &repository, 200);
    {
        let mut screen = Screen::open(&camp, &repository);
        screen.until("agent 0");
        screen.settle();
        let mut down = true;
        let key = median_ms(41, || {
            down = !down;
            screen.pressed(if down { b"k" } else { b"j" })
        });
        bench.row(Row::below(
            "ui-key",
            "UI, key to screen, 200 instances",
            key,
            16.0,
            "ms",
        ));
    }
    idle(
        bench,
        "ui-idle-200",
        "UI open, 200 idle instances",
        &camp,
        &repository,
    );
}

fn populate(camp: &Camp, repository: &Path, count: usize) {
    for n in 0..count {
        let title = format!("agent {n}");
        camp.biv_in(repository, &["new", &title, "-a", "shell", "--", "cat"]);
    }
}

/// The CPU of the UI, of everything that it starts, and of the tmux server on its behalf.
fn idle(bench: &mut Bench, key: &'static str, what: &str, camp: &Camp, repository: &Path) {
    let mut screen = Screen::open(camp, repository);
    screen.until("agent 0");
    screen.settle();
    let before = screen.cpu() + camp.server_cpu();
    screen.drain_for(IDLE);
    let spent = screen.cpu() + camp.server_cpu() - before;
    let share = spent / (IDLE.as_secs_f64() * 1000.0) * 100.0;
    bench.row(Row::below(key, what, share, 1.0, "% of a core"));
}

/// Commits as an agent makes them, with a UI that looks at every one of them.
fn disturbed_commits(camp: &Camp, repository: &Path) -> f64 {
    let worktree: PathBuf = camp.worktree("agent 0");
    let mut screen = Screen::open(camp, repository);
    screen.until("agent 0");
    screen.pressed(b"\t");
    let id = camp.id("agent 0");
    let mut failed = 0;
    for n in 0..COMMITS {
        std::fs::write(worktree.join("counted.txt"), format!("{n}\n")).ok();
        camp.say(&id, &format!("commit {n}"));
        for args in [vec!["add", "-A"], vec!["commit", "-q", "-m", "counted"]] {
            let status = Command::new("git")
                .current_dir(&worktree)
                .args([
                    "-c",
                    "user.name=Bench",
                    "-c",
                    "user.email=bench@example.org",
                ])
                .args(args)
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .status();
            if !status.is_ok_and(|status| status.success()) {
                failed += 1;
            }
        }
        screen.drain_for(Duration::from_millis(1));
    }
    f64::from(failed)
}
