//! A host that stops in the middle is given up; one that is slow is not.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::pair::{Pair, Words};
use crate::support::Instance;

/// The mark by which a host says that it has begun.
const BEGIN: &str = "printf '\\036biv-host begin 1 0.1.0\\n' >&2";
/// It is there.
const ALIVE: &str = "printf '\\036biv-host alive\\n' >&2";

/// An instance is on the host, and silence of 5 seconds is too long.
fn moved() -> (Pair, Instance) {
    let pair = Pair::new(Words::Exact);
    pair.configure("[hosts]\nsilence = \"5s\"\n");
    let repository = pair.here.repository("app");
    let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
    std::fs::write(one.worktree.join("work.txt"), "work\n").unwrap();
    drop(pair.biv(&["move", "one", "far"]).run().ok());
    (pair, one)
}

/// The second request, which is the one for everything, goes by this script.
fn change_the_fetch(pair: &Pair, script: &str) {
    let counter = pair.here.root().join("requests");
    pair.change_link(&format!(
        "echo >> '{0}'\nif [ $(wc -l < '{0}') = 2 ]; then\n{script}\nfi",
        counter.display()
    ));
}

fn is_back(pair: &Pair, one: &Instance) {
    assert_eq!(pair.here.show(one)["state"], "running");
    let work = std::fs::read_to_string(one.worktree.join("work.txt")).unwrap();
    assert_eq!(work, "work\n");
    assert!(pair.there.list().is_empty());
}

#[test]
fn a_host_that_stops_in_the_middle_is_given_up_and_still_has_it() {
    let (pair, one) = moved();
    for sent in [
        // An older one says nothing by itself; once it sends, it has to go on.
        format!("{BEGIN}; printf 'some bytes'; exec sleep 600"),
        format!("{BEGIN}; {ALIVE}; exec sleep 600"),
        // It does not even begin.
        "exec sleep 600".to_owned(),
    ] {
        drop(std::fs::remove_file(pair.here.root().join("requests")));
        change_the_fetch(&pair, &sent);
        let started = Instant::now();
        let stopped = pair.biv(&["move", "one", "--take-back"]).with_json().run();
        assert!(started.elapsed() < Duration::from_secs(60), "{sent}");
        let error = &stopped.fails(1).json()["error"];
        assert_eq!(error["code"], "host_cut", "{sent}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("for 5 seconds"), "{sent}: {message}");
        assert_eq!(pair.here.show(&one)["state"], "away");
        assert_eq!(
            pair.there.show(&one)["state"],
            "running",
            "it goes on there"
        );
    }
    pair.mend();
    drop(pair.biv(&["move", "one", "--take-back"]).run().ok());
    is_back(&pair, &one);
}

#[test]
fn a_slow_link_is_waited_for() {
    let (pair, one) = moved();
    // It takes longer than the silence that is allowed, and is never silent for as long.
    let pipe = pair.here.root().join("slow");
    let slow =
        "dd bs=500 count=1; sleep 3; dd bs=500 count=1; sleep 3; dd bs=500 count=1; sleep 3; cat";
    let script = format!(
        "mkfifo '{0}'\n{{ {slow}; }} < '{0}' 2> /dev/null &\nexec > '{0}'",
        pipe.display()
    );
    change_the_fetch(&pair, &script);
    let started = Instant::now();
    drop(pair.biv(&["move", "one", "--take-back"]).run().ok());
    assert!(started.elapsed() > Duration::from_secs(8));
    is_back(&pair, &one);
}

#[test]
fn a_host_that_prepares_for_long_is_waited_for() {
    let (pair, one) = moved();
    // The first call of git there takes longer than the silence that is allowed.
    let bin = pair.there.root().join("bin");
    let path = std::env::var("PATH").unwrap();
    let mut git = path.split(':').map(|directory| format!("{directory}/git"));
    let git = git.find(|git| std::path::Path::new(git).exists()).unwrap();
    let once = pair.there.root().join("once");
    let text = format!(
        "#!/bin/sh\nmkdir '{}' 2> /dev/null && sleep 8\nexec '{git}' \"$@\"\n",
        once.display()
    );
    std::fs::write(bin.join("git"), text).unwrap();
    std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let started = Instant::now();
    drop(pair.biv(&["move", "one", "--take-back"]).run().ok());
    assert!(once.exists() && started.elapsed() > Duration::from_secs(8));
    is_back(&pair, &one);
}
