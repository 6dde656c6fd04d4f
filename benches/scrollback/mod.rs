//! A long scrollback: what it costs to save it and to bring it back, and who has to wait meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Bench, Camp, Row, median, median_ms, timed};

const LINES: usize = 50_000;
const TIMES: usize = 5;
/// Rows of a session without a client, by `terminal.rows`.
const SCREEN: usize = 60;

pub(crate) fn rows(bench: &mut Bench) {
    let camp = Camp::new();
    let config = camp.home().join("config");
    std::fs::create_dir_all(&config).ok();
    let settings = format!("[terminal]\nhistory = {}\n", LINES + 1000);
    std::fs::write(config.join("config.toml"), settings).ok();
    let repository = camp.repository(5);
    let script = format!(
        "i=0; [ -e drawn ] || while [ $i -lt {LINES} ]; do i=$((i+1)); \
         printf '\\033[3%dm%d\\033[0m some words as a build prints them\\n' $((i % 8)) $i; done; \
         touch drawn; exec cat"
    );
    let long = ["new", "long", "-a", "shell", "--", "sh", "-c", &script];
    camp.biv_in(&repository, &long);
    camp.biv_in(&repository, &["new", "short", "-a", "shell", "--", "cat"]);
    until_drawn(&camp, &camp.id("long"));

    let id = camp.id("long");
    let mut raw = Vec::new();
    let mut saved = Vec::new();
    let mut raw_waits = Vec::new();
    let mut waits = Vec::new();
    let mut long = Vec::new();
    let mut short = Vec::new();
    for _ in 0..TIMES {
        raw.push(timed(|| capture(&camp, &id)));
        raw_waits.push(longest_wait(&camp, || capture(&camp, &id)));
        let mut steps = None;
        waits.push(longest_wait(&camp, || {
            steps = Some(camp.steps(&["pause", "--now", "long"]));
        }));
        saved.extend(steps.map(|steps| steps.between("save-terminal", "stop-agent")));
        camp.biv(&["pause", "--now", "short"]);
        for (title, times) in [("long", &mut long), ("short", &mut short)] {
            times.push(timed(|| camp.biv(&["resume", "--no-prompt", title])));
        }
    }
    // What a question costs on this machine while nothing is saved.
    let quiet = median_ms(31, || timed(|| ask(&camp)));
    bench.row(Row::below(
        "scrollback-wait",
        "longest that another client waits more while 50,000 lines are saved",
        median(&waits) - quiet,
        100.0,
        "ms",
    ));
    bench.row(Row::ratio_at_most(
        "scrollback-wait-raw",
        "the same to the wait while `tmux capture-pane` prints them",
        &waits,
        &raw_waits,
        1.0,
    ));
    bench.row(Row::ratio_at_most(
        "scrollback-save",
        "`biv pause`, saving 50,000 lines to `tmux capture-pane`",
        &saved,
        &raw,
        2.0,
    ));
    bench.row(Row::ratio_at_most(
        "scrollback-resume",
        "`biv resume`, 50,000 lines to none",
        &long,
        &short,
        2.0,
    ));
}

/// The whole history in one go, by one command.
fn capture(camp: &Camp, id: &str) {
    let target = format!("=biv-{id}:");
    let args = ["capture-pane", "-p", "-e", "-J", "-S", "-", "-t", &target];
    let text = camp.tmux(&args);
    assert!(text.lines().count() >= LINES, "all of it is there");
}

fn until_drawn(camp: &Camp, id: &str) {
    let target = format!("=biv-{id}:");
    let drawn = || camp.tmux(&["display-message", "-p", "-t", &target, "#{history_size}"]);
    let deadline = Instant::now() + Duration::from_secs(120);
    // What is still on the screen is no history yet.
    while drawn().trim().parse().unwrap_or(0) + SCREEN <= LINES {
        assert!(Instant::now() < deadline, "it never was drawn");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn ask(camp: &Camp) {
    camp.tmux(&["display-message", "-p", "here"]);
}

/// The longest that another client waits for the same server while this is done.
fn longest_wait(camp: &Camp, work: impl FnOnce()) -> f64 {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| {
            let mut longest: f64 = 0.0;
            while !done.load(Ordering::Relaxed) {
                longest = longest.max(timed(|| ask(camp)));
            }
            longest
        });
        work();
        done.store(true, Ordering::Relaxed);
        asks.join().unwrap_or(f64::NAN)
    })
}
