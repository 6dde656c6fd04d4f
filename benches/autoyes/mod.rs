//! How soon an agent is answered: by a key on its screen, and by its hook.

use std::time::{Duration, Instant};

use crate::support::{Bench, Camp, Row, median, median_ms, timed};

/// A dialog must have stood for so long before it is answered: the daemon's `DRAWN`.
const SETTLING: f64 = 100.0;
const ASKED: usize = 15;

pub(crate) fn rows(bench: &mut Bench) {
    by_key(bench);
    by_hook(bench);
}

fn by_key(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(5);
    let log = camp.home().join("answers.log");
    let agents = camp.home().join("config/agents");
    std::fs::create_dir_all(&agents).ok();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/autoyes/answers.py");
    let agent = format!(
        "command = [\"python3\", {script:?}, {:?}, \"{ASKED}\"]\nargs = []\n[session]\nfresh = []\n",
        log.display().to_string()
    );
    std::fs::write(agents.join("demo.toml"), agent).ok();
    camp.biv_in(&repository, &["new", "asks", "-a", "demo", "--autoyes"]);
    let deadline = Instant::now() + Duration::from_secs(90);
    let mut answers = Vec::new();
    while answers.len() < ASKED && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(200));
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        answers = text.lines().filter_map(|line| line.parse().ok()).collect();
    }
    camp.biv(&["daemon", "stop"]);
    let whole: f64 = median(&answers);
    bench.row(Row::below(
        "answer",
        "dialog drawn to key read, after settling",
        whole - SETTLING,
        50.0,
        "ms",
    ));
}

fn by_hook(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(5);
    camp.biv_in(
        &repository,
        &["new", "one", "-a", "shell", "--autoyes", "--", "cat"],
    );
    camp.biv(&["daemon", "stop"]);
    let id = camp.id("one");
    let mut number = 0;
    let answered = median_ms(15, || {
        number += 1;
        let event = format!(
            r#"{{"cwd":{:?},"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{{"command":"ls a{number}"}}}}"#,
            camp.worktree("one").display().to_string()
        );
        timed(|| camp.hook(&id, "PermissionRequest", &event))
    });
    bench.row(Row::below(
        "answer-hook",
        "a permission request answered through a hook",
        answered,
        20.0,
        "ms",
    ));
}
