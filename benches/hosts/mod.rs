//! Moves to a host; and the list over ten hosts, each a home of its own that a command reaches, with 20 instances.

mod moving;

use crate::support::{BIV, Bench, Camp, Row, median_ms, timed};

const HOSTS: usize = 10;
const INSTANCES: &str = "20";

pub(crate) fn rows(bench: &mut Bench) {
    listing(bench);
    moving::rows(bench);
}

fn listing(bench: &mut Bench) {
    let here = Camp::new();
    let repository = here.repository(50);
    let others: Vec<Camp> = (0..HOSTS).map(|_| Camp::new()).collect();
    for (number, other) in others.iter().enumerate() {
        let new = ["new", "agent", "-n", INSTANCES, "-a", "shell", "--repo"];
        let directory = repository.display().to_string();
        let words: Vec<&str> = new
            .into_iter()
            .chain([directory.as_str(), "--", "cat"])
            .collect();
        other.biv(&words);
        let connect = format!("env BIV_HOME={}", other.home().display());
        let name = format!("host-{number}");
        here.biv(&[
            "host",
            "add",
            &name,
            "--connect",
            &connect,
            "--program",
            BIV,
        ]);
    }
    // The first look counts the changes of each; from then on only what changed is counted.
    here.biv(&["list"]);
    let one = median_ms(9, || timed(|| here.biv(&["list", "--host", "host-0"])));
    let all = median_ms(9, || timed(|| here.biv(&["list"])));
    bench.row(Row::below(
        "list-hosts",
        "`biv list` over 10 hosts with 20 instances each, beyond that of one host",
        all - one,
        50.0,
        "ms",
    ));
    let down = here.path("down");
    here.biv(&[
        "host",
        "add",
        "down",
        "--connect",
        &format!("sh {}", down.display()),
    ]);
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
