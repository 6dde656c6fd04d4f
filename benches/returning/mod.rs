//! How long the user waits: until the command returns, and the agent can be typed to.

use std::path::Path;

use crate::support::{Bench, Camp, Row, median, timed};

/// An agent that draws its prompt at once, and waits.
const PROMPTER: [&str; 3] = ["sh", "-c", "printf '> '; exec cat"];
const CALLERS: usize = 8;
const MADE_TOGETHER: usize = 48;

pub(crate) fn rows(bench: &mut Bench) {
    creating(bench);
    sealing(bench);
    resuming(bench);
    together(bench);
}

fn creating(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(50);
    new(&camp, &repository, "first");
    let mut raw = Vec::new();
    let mut ours = Vec::new();
    for n in 0..15 {
        raw.push(camp.raw_new(&repository, n).took);
        ours.push(timed(|| new(&camp, &repository, &format!("t{n}"))));
    }
    bench.row(Row::ratio_at_most(
        "new-returns",
        "`biv new` until it returns to raw, 50 files",
        &ours,
        &raw,
        1.5,
    ));
}

/// What a seal adds to the start of an agent.
fn sealing(bench: &mut Bench) {
    let camp = Camp::new();
    if !camp.biv(&["doctor"]).contains("seal: complete") {
        return;
    }
    let repository = camp.repository(50);
    new(&camp, &repository, "first");
    let mut open = Vec::new();
    let mut sealed = Vec::new();
    for n in 0..15 {
        open.push(timed(|| new(&camp, &repository, &format!("open{n}"))));
        let title = format!("sealed{n}");
        let mut words = vec!["new", &title, "--seal", "-a", "shell", "--"];
        words.extend(PROMPTER);
        sealed.push(timed(|| drop(camp.biv_in(&repository, &words))));
    }
    bench.row(Row::below(
        "seal-start",
        "`biv new --seal` until it returns, more than without",
        median(&sealed) - median(&open),
        20.0,
        "ms",
    ));
}

fn resuming(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(50);
    // A server ends with its last session, and starting it anew is not what is measured here.
    new(&camp, &repository, "keeps the server");
    for (key, agent) in [("resume-shell", "shell"), ("resume-demo", "demo")] {
        let title = format!("a {agent}");
        match agent {
            "shell" => new(&camp, &repository, &title),
            _ => drop(camp.biv_in(&repository, &["new", &title, "-a", agent])),
        }
        let mut raw = Vec::new();
        let mut ours = Vec::new();
        for n in 0..7 {
            camp.biv(&["pause", &title]);
            raw.push(camp.raw_session_and_rename(&format!("{agent}{n}")));
            ours.push(timed(|| drop(camp.biv(&["resume", &title]))));
        }
        bench.row(Row::ratio_at_most(
            key,
            &format!("`biv resume` of {agent} until it returns to new-session + rename"),
            &ours,
            &raw,
            3.0,
        ));
    }
}

/// Many callers at once, while the machine has other things to do.
fn together(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(50);
    new(&camp, &repository, "first");
    let over = std::sync::atomic::AtomicBool::new(false);
    let (raw, ours, by_one) = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        // One after another: git's own `worktree add` fails beside itself.
        let raw = timed(|| {
            for n in 0..MADE_TOGETHER {
                camp.raw_new(&repository, 1000 + n);
            }
        });
        let ours = timed(|| {
            std::thread::scope(|scope| {
                for caller in 0..CALLERS {
                    let (camp, repository) = (&camp, &repository);
                    scope.spawn(move || {
                        for n in (caller..MADE_TOGETHER).step_by(CALLERS) {
                            new(camp, repository, &format!("together {n}"));
                        }
                    });
                }
            });
        });
        let count = MADE_TOGETHER.to_string();
        let mut words = vec!["new", "by one", "-n", &count, "-a", "shell", "--"];
        words.extend(PROMPTER);
        let by_one = timed(|| drop(camp.biv_in(&repository, &words)));
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        (raw, ours, by_one)
    });
    bench.row(Row::ratio_at_most(
        "new-together",
        "48 instances by 8 callers on a busy machine to raw",
        &[ours],
        &[raw],
        1.5,
    ));
    bench.row(Row::ratio_at_most(
        "new-count",
        "48 instances by one `biv new -n 48` on a busy machine to raw",
        &[by_one],
        &[raw],
        1.5,
    ));
}

fn new(camp: &Camp, repository: &Path, title: &str) {
    let mut words = vec!["new", title, "-a", "shell", "--"];
    words.extend(PROMPTER);
    camp.biv_in(repository, &words);
}
