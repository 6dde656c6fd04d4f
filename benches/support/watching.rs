//! What it costs to watch: 200 silent agents, ten that never stop talking, and how soon it is heard.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Bench, Camp, Row, median, memory};

const AGENTS: usize = 200;
const BUSY: usize = 10;
/// Long enough for the scans behind the events to be part of it.
const WATCHED: Duration = Duration::from_secs(35);
const TICKS_PER_SECOND: f64 = 100.0;

pub(crate) fn watching(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(50);
    camp.biv(&["daemon", "start"]);
    let start = |title: &str, script: &str| {
        let command = ["new", title, "-a", "shell", "--", "sh", "-c", script];
        camp.biv_in(&repository, &command);
    };
    for n in 0..AGENTS {
        start(&format!("silent {n}"), "exec cat");
    }
    let pid = daemon(&camp);
    until(|| status(&camp)["watching"] == AGENTS);
    std::thread::sleep(Duration::from_secs(3));

    let (idle, children) = usage(pid, WATCHED);
    bench.row(Row::below(
        "daemon-200-cpu",
        "daemon watching 200 idle agents",
        idle,
        0.5,
        "% of a core",
    ));
    bench.row(Row::below(
        "daemon-200-spawned",
        "processes that it started meanwhile, by their CPU",
        children,
        0.01,
        "% of a core",
    ));
    bench.row(Row::below(
        "daemon-200-rss",
        "its memory",
        memory(pid, "VmRSS"),
        40.0,
        "MB",
    ));

    let pipe = camp.worktree("silent 0").join("pipe");
    start(
        "echo",
        &format!("mkfifo {0}; while :; do cat {0}; done", pipe.display()),
    );
    until(|| pipe.exists() && status(&camp)["watching"] == AGENTS + 1);
    let heard: Vec<f64> = (0..30).map(|_| latency(&camp, &pipe)).collect();
    bench.row(Row::below(
        "daemon-latency",
        "output of an agent → a line on the socket",
        median(&heard),
        20.0,
        "ms",
    ));

    let frames =
        "while :; do printf '\\r\\033[36m* working %s\\033[0m' $(date +%N); sleep 0.1; done";
    for n in 0..BUSY {
        start(&format!("busy {n}"), frames);
    }
    until(|| status(&camp)["watching"] == AGENTS + 1 + BUSY);
    std::thread::sleep(Duration::from_secs(3));
    let (busy, _) = usage(pid, Duration::from_secs(15));
    bench.row(Row::below(
        "daemon-10-busy",
        "the same with 10 that draw 10 frames a second",
        busy,
        3.0,
        "% of a core",
    ));
}

fn status(camp: &Camp) -> serde_json::Value {
    serde_json::from_str(&camp.biv(&["daemon", "status", "--json"])).unwrap_or_default()
}

fn daemon(camp: &Camp) -> u32 {
    let pid = status(camp)["pid"].as_u64();
    pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0)
}

/// From a write into a pane to the line that tells of it. A moment before, so that the pane has been
/// silent long enough to be told of again.
fn latency(camp: &Camp, pipe: &Path) -> f64 {
    let Ok(stream) = UnixStream::connect(camp.home().join("run/daemon.sock")) else {
        panic!("the daemon does not answer");
    };
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok();
    reader
        .get_mut()
        .write_all(b"{\"do\":\"subscribe\",\"bells\":true}\n")
        .ok();
    reader.read_line(&mut line).ok();
    std::thread::sleep(Duration::from_millis(300));
    let written = Instant::now();
    std::fs::write(pipe, "news\n").ok();
    loop {
        line.clear();
        let read = reader.read_line(&mut line).unwrap_or(0);
        assert!(read > 0, "nothing was heard");
        if line.contains("\"bell\"") {
            return written.elapsed().as_secs_f64() * 1000.0;
        }
    }
}

/// What a process and those that it has started and waited for use, in percent of a core.
fn usage(pid: u32, during: Duration) -> (f64, f64) {
    let (own, children) = ticks(pid);
    let started = Instant::now();
    std::thread::sleep(during);
    let seconds = started.elapsed().as_secs_f64();
    let (own_then, children_then) = ticks(pid);
    let percent = |ticks: f64| ticks / TICKS_PER_SECOND / seconds * 100.0;
    (percent(own_then - own), percent(children_then - children))
}

fn ticks(pid: u32) -> (f64, f64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<f64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    let field = |n: usize| fields.get(n).copied().unwrap_or(f64::NAN);
    (field(11) + field(12), field(13) + field(14))
}

fn until(holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(120), "it never was");
        std::thread::sleep(Duration::from_millis(100));
    }
}
