//! Moves to a host; and the list over ten hosts with 20 instances each.
//!
//! What a host itself needs for its list is measured with the other lists. Here its answer is a recorded one,
//! which comes after the time that a network takes: ten hosts that share the processors of this machine would
//! wait for each other, and not for `biv`. A second figure is that case: ten homes of this machine.

mod moving;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{BIV, Bench, Camp, Row, median_ms, timed};

const HOSTS: usize = 10;
const INSTANCES: &str = "20";
/// How far away they are, in seconds.
const DISTANCE: &str = "0.2";

pub(crate) fn rows(bench: &mut Bench) {
    far_away(bench);
    on_this_machine(bench);
    moving::rows(bench);
}

fn start_instances(camp: &Camp, repository: &Path) {
    let directory = repository.display().to_string();
    let new = ["new", "agent", "-n", INSTANCES, "-a", "shell", "--repo"];
    camp.biv(&[&new[..], &[&directory, "--", "cat"]].concat());
}

fn add(here: &Camp, name: &str, connect: &str) {
    let words = ["host", "add", name, "--connect", connect, "--program", BIV];
    here.biv(&words);
}

/// The list waits for the slowest host, and for little else.
fn far_away(bench: &mut Bench) {
    let (here, other) = (Camp::new(), Camp::new());
    start_instances(&other, &here.repository(50));
    let answer = |stream: &str| here.path("answer").with_extension(stream);
    let (out, err) = (answer("out"), answer("err"));
    let script = here.path("connect");
    let write = |text: String| assert!(std::fs::write(&script, text).is_ok());
    for number in 0..HOSTS {
        let connect = format!("sh {}", script.display());
        add(&here, &format!("host-{number}"), &connect);
    }
    // One real answer, as it came.
    let (out, err) = (out.display(), err.display());
    let home = other.home().display().to_string();
    write(format!(
        "exec env BIV_HOME='{home}' \"$@\" > '{out}' 2> '{err}'\n"
    ));
    // What came is in the files, so that this one is told of no answer.
    here.biv(&["list", "--host", "host-0"]);
    write(format!(
        "sleep {DISTANCE}; cat '{err}' >&2; exec cat '{out}'\n"
    ));
    let listed = here.biv(&["list", "--host", "host-0"]);
    assert!(listed.matches("host-0:agent").count() == 20, "{listed}");
    let alone = || {
        let started: Vec<Child> = (0..HOSTS)
            .filter_map(|_| silent(Command::new("sh").arg(&script)))
            .collect();
        assert_eq!(started.len(), HOSTS);
        for mut child in started {
            assert!(child.wait().is_ok());
        }
    };
    let slowest = median_ms(9, || timed(alone));
    let all = median_ms(9, || timed(|| here.biv(&["list"])));
    bench.row(Row::below(
        "list-hosts",
        "`biv list` over 10 hosts with 20 instances each, beyond the slowest answer",
        all - slowest,
        50.0,
        "ms",
    ));
    let down = here.path("down");
    add(&here, "down", &format!("sh {}", down.display()));
    here.biv(&["list"]);
    let with_down = median_ms(9, || timed(|| here.biv(&["list"])));
    bench.row(Row::ratio_at_most(
        "list-host-down",
        "the same with one more that is down",
        &[with_down],
        &[all],
        1.2,
    ));
}

/// Ten homes here: beside ten `biv list` at once, which is the work of the hosts.
fn on_this_machine(bench: &mut Bench) {
    let here = Camp::new();
    let repository = here.repository(50);
    let others: Vec<Camp> = (0..HOSTS).map(|_| Camp::new()).collect();
    for (number, other) in others.iter().enumerate() {
        start_instances(other, &repository);
        let connect = format!("env BIV_HOME={}", other.home().display());
        add(&here, &format!("host-{number}"), &connect);
    }
    let homes: Vec<PathBuf> = others.iter().map(|other| other.home()).collect();
    let direct = || {
        let list = |home: &PathBuf| {
            let mut command = Command::new(BIV);
            silent(command.args(["list", "--json"]).env("BIV_HOME", home))
        };
        let started: Vec<Child> = homes.iter().filter_map(list).collect();
        assert_eq!(started.len(), HOSTS);
        for mut child in started {
            assert!(child.wait().is_ok());
        }
    };
    // The first look counts the changes of each; from then on only what changed is counted.
    here.biv(&["list"]);
    let (mut all, mut raw) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        raw.push(timed(direct));
        all.push(timed(|| here.biv(&["list"])));
    }
    bench.row(Row::beside(
        "list-hosts-here",
        "10 homes of this machine as hosts, beside 10 times `biv list` at once",
        &all,
        &raw,
        "no limit",
    ));
}

fn silent(command: &mut Command) -> Option<Child> {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    quiet.stderr(Stdio::null()).spawn().ok()
}
