//! Figures as ratios: to a limit, or to the raw git and tmux work in the same run.
//!
//! Times alone say little on a machine that others use too, so every row is measured beside what it
//! is compared with, a few times in turn, and the medians are divided. `scripts/bench` runs it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::panic,
    reason = "a measurement prints its result, and one that cannot be made ends"
)]

mod autoyes;
mod conversation;
mod hosts;
mod landing;
mod peers;
mod returning;
mod scrollback;
mod support;
mod ui;

use std::path::Path;
use std::process::ExitCode;

use support::{Bench, Camp, Row, files, git, median_ms, timed};

/// The repository of the large rows.
pub(crate) const TRACKED: usize = 20_000;
const CHANGED: usize = 10;
const UNTRACKED: usize = 5_000;
const IGNORED: usize = 30_000;

/// Measures some rows.
type Rows = fn(&mut Bench);

/// All rows, in groups that can be measured alone.
const GROUPS: [(&str, Rows); 13] = [
    ("start", start_up),
    ("list", listing),
    ("hosts", hosts::rows),
    ("small", small_repository),
    ("returning", returning::rows),
    ("large", large_repository),
    ("land", landing::rows),
    ("ui", ui::rows),
    ("daemon", support::watching),
    ("autoyes", autoyes::rows),
    ("conversation", conversation::rows),
    ("scrollback", scrollback::rows),
    ("peers", peers::rows),
];

fn main() -> ExitCode {
    // Cargo adds flags of its own.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let known = |name: &String| GROUPS.iter().any(|(group, _)| group == name);
    if let Some(unknown) = wanted.iter().find(|name| !known(name)) {
        let groups: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
        eprintln!(
            "bench: there is no `{unknown}`; there are {}",
            groups.join(", ")
        );
        return ExitCode::from(2);
    }
    let mut bench = Bench::new();
    for (group, rows) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|name| name == group) {
            rows(&mut bench);
        }
    }
    bench.finish()
}

fn start_up(bench: &mut Bench) {
    let camp = Camp::new();
    let version = median_ms(21, || timed(|| camp.biv(&["--version"])));
    bench.row(Row::below("start", "`biv --version`", version, 5.0, "ms"));
    hook(bench, version);
    let size = std::fs::metadata(support::BIV).map_or(0, |metadata| metadata.len());
    bench.row(Row::below(
        "binary",
        "size of the program",
        size as f64 / 1e6,
        15.0,
        "MB",
    ));
}

/// What an agent waits for at each of its hooks, with a file in it as large as agents write.
fn hook(bench: &mut Bench, version: f64) {
    let camp = Camp::new();
    let repository = camp.repository(5);
    camp.biv_in(&repository, &["new", "one", "-a", "shell", "--", "cat"]);
    let content = "x".repeat(64 * 1024);
    let event = format!(
        r#"{{"session_id":"x","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{{"content":"{content}"}}}}"#
    );
    let id = camp.id("one");
    let told = median_ms(21, || timed(|| camp.hook(&id, "PreToolUse", &event)));
    bench.row(Row::below("hook", "`biv hook`", told, 20.0, "ms"));
    bench.row(Row::ratio_at_most(
        "hook-start",
        "`biv hook` to `biv --version`",
        &[told],
        &[version],
        3.0,
    ));
}

fn listing(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(50);
    for n in 0..10 {
        camp.biv_in(
            &repository,
            &["new", &format!("agent {n}"), "-a", "shell", "--", "cat"],
        );
    }
    // The first look counts the changes of each; from then on only what changed is counted.
    std::thread::sleep(std::time::Duration::from_secs(4));
    camp.biv(&["list"]);
    let ten = median_ms(15, || timed(|| camp.biv(&["list"])));
    bench.row(Row::below(
        "list-10",
        "`biv list`, 10 instances",
        ten,
        10.0,
        "ms",
    ));
    looks(bench);
    camp.multiply_records(990);
    let thousand = median_ms(9, || timed(|| camp.biv(&["list"])));
    bench.row(Row::below(
        "list-1000",
        "`biv list`, 1,000 instances",
        thousand,
        100.0,
        "ms",
    ));
}

/// The commands that only look, with 50 instances, beside the same questions to tmux and git.
fn looks(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(50);
    let all = ["new", "agent", "-n", "50", "-a", "shell", "--", "cat"];
    camp.biv_in(&repository, &all);
    // As above.
    std::thread::sleep(std::time::Duration::from_secs(4));
    camp.biv(&["list"]);
    for (key, against, what, words) in [
        ("list-50", "list-50-raw", "`biv list`, 50", &["list"][..]),
        ("show", "show-raw", "`biv show`", &["show", "agent-7"]),
        ("peek", "peek-raw", "`biv peek`", &["peek", "agent-7"]),
        ("status", "status-raw", "`biv status`, 50", &["status"]),
    ] {
        camp.biv(words);
        let (mut ours, mut raw) = (Vec::new(), Vec::new());
        for _ in 0..15 {
            ours.push(timed(|| camp.biv(words)));
            raw.push(timed(|| camp.raw_looks(&repository)));
        }
        bench.row(Row::below(key, what, support::median(&ours), 10.0, "ms"));
        let what = format!("{what}, to `tmux ls` + `git worktree list`");
        bench.row(Row::ratio_at_most(against, &what, &ours, &raw, 1.5));
    }
}

fn small_repository(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(50);
    camp.biv_in(&repository, &["new", "first", "-a", "shell", "--", "cat"]);
    let mut raw = Vec::new();
    let mut ours = Vec::new();
    for n in 0..9 {
        raw.push(timed(|| camp.raw_new(&repository, n)));
        ours.push(camp.until_agent_runs(&repository, n));
    }
    bench.row(Row::ratio_at_most(
        "new-50",
        "`biv new` to raw, 50 files",
        &ours,
        &raw,
        1.5,
    ));
}

fn large_repository(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(TRACKED);
    let mut rows = Large::default();
    for n in 0..3 {
        let by_hand = camp.raw_new(&repository, n);
        rows.raw_new.push(by_hand.took);
        rows.new.push(camp.until_agent_runs(&repository, n));
        let title = format!("t{n}");
        dirty(&by_hand.worktree, IGNORED);
        dirty(&camp.worktree(&title), IGNORED);
        git(&by_hand.worktree, &["status", "-s"]);
        git(&camp.worktree(&title), &["status", "-s"]);

        support::written_out();
        rows.raw_pause.push(timed(|| {
            git(&by_hand.worktree, &["stash", "push", "-u", "-q"]);
            git(
                &repository,
                &["worktree", "remove", "--force", path(&by_hand.worktree)],
            );
        }));
        camp.settle();
        rows.pause.push(timed(|| camp.biv(&["pause", &title])));
        rows.raw_resume.push(timed(|| {
            git(
                &repository,
                &[
                    "worktree",
                    "add",
                    "-q",
                    path(&by_hand.worktree),
                    &by_hand.branch,
                ],
            );
            git(&by_hand.worktree, &["stash", "pop", "--index", "-q"]);
        }));
        rows.resume.push(camp.resume_git_part(&title));
        camp.settle();
        camp.biv(&["pause", &title, "--remove-worktree"]);
        rows.raw_add.push(timed(|| {
            git(
                &repository,
                &[
                    "worktree",
                    "add",
                    "-q",
                    "-b",
                    &format!("again{n}"),
                    path(&by_hand.again),
                ],
            );
        }));
        rows.resume_thinned.push(camp.resume_git_part(&title));
        camp.biv(&["kill", "-y", &title]);
    }
    rows.report(bench);
    ignored_files_do_not_matter(bench);
}

/// A pause with and without ignored files, side by side.
fn ignored_files_do_not_matter(bench: &mut Bench) {
    let camp = Camp::new();
    let repository = camp.repository(TRACKED);
    let mut with = Vec::new();
    let mut without = Vec::new();
    for n in 0..3 {
        for (title, ignored, times) in [
            (format!("with{n}"), IGNORED, &mut with),
            (format!("without{n}"), 0, &mut without),
        ] {
            camp.biv_in(&repository, &["new", &title, "-a", "shell", "--", "cat"]);
            dirty(&camp.worktree(&title), ignored);
            git(&camp.worktree(&title), &["status", "-s"]);
            camp.settle();
            times.push(timed(|| camp.biv(&["pause", &title])));
            camp.biv(&["kill", "-y", &title]);
        }
    }
    bench.row(Row::ratio_at_most(
        "pause-ignored",
        "`biv pause`, 30,000 ignored files to none",
        &with,
        &without,
        1.25,
    ));
}

#[derive(Default)]
struct Large {
    raw_new: Vec<f64>,
    new: Vec<f64>,
    raw_pause: Vec<f64>,
    pause: Vec<f64>,
    raw_resume: Vec<f64>,
    resume: Vec<f64>,
    raw_add: Vec<f64>,
    resume_thinned: Vec<f64>,
}

impl Large {
    fn report(&self, bench: &mut Bench) {
        bench.row(Row::ratio_at_most(
            "new-20000",
            "`biv new` to raw, 20,000 files",
            &self.new,
            &self.raw_new,
            1.5,
        ));
        bench.row(Row::times_faster(
            "pause",
            "`biv pause` against stash -u + worktree remove",
            &self.pause,
            &self.raw_pause,
            5.0,
        ));
        bench.row(Row::times_faster(
            "resume",
            "`biv resume` (git part) against worktree add + stash pop",
            &self.resume,
            &self.raw_resume,
            20.0,
        ));
        bench.row(Row::ratio_at_most(
            "resume-thinned",
            "`biv resume` from thinned (git part) to worktree add",
            &self.resume_thinned,
            &self.raw_add,
            1.5,
        ));
    }
}

fn dirty(worktree: &Path, ignored: usize) {
    for n in 0..CHANGED {
        std::fs::write(support::file_path(worktree, "src", n), "changed\n").ok();
    }
    files(worktree, "new", UNTRACKED);
    files(&worktree.join("node_modules"), "lib", ignored);
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}
